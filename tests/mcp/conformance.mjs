// The official conformance suite, with every server scenario of both protocol generations.
//
//   node conformance.mjs http://127.0.0.1:PORT    the address of ./proxy.mjs, which adds the token
//
// A failing check must be listed below with its reason, and a listed check must fail.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NO_FIXTURE = "calls a tool of the suite's own test server (test_*)";
const NO_PROMPT = "asks for the prompts of the suite's own test server (test_*)";
const NO_STATIC = "reads the resources of the suite's own test server (test://…)";

// Scenario, check (`*`: any), reason.
const EXCEPTIONS = [
  [/^tools-call-/, "*", NO_FIXTURE],
  [/^elicitation-/, "*", NO_FIXTURE],
  [/^input-required-result-/, "*", NO_FIXTURE],
  [/^json-schema-2020-12$/, "*", NO_FIXTURE],
  [/^resources-(read|templates-read)/, "*", NO_STATIC],
  [/^resources-(un)?subscribe$/, "*", "results do not change, so there is nothing to subscribe to"],
  [/^prompts-get/, "*", NO_PROMPT],
  [/^completion-complete$/, "*", NO_PROMPT],
  [/^logging-set-level$/, "*", "a stateless service keeps no log level: −32601"],
  [/^http-custom-header-server-validation$/, "*", "no tool asks for a header of its own (x-mcp-header)"],
  [/^server-stateless$/, "sep-2575-server-rejects-undeclared-capability", NO_FIXTURE],
  [/^server-stateless$/, "sep-2575-missing-capability-http-400", NO_FIXTURE],
  [/^server-stateless$/, "sep-2575-http-server-no-independent-requests-on-stream", NO_FIXTURE],
  [/^server-stateless$/, "sep-2575-server-no-log-without-loglevel", NO_FIXTURE],
];

const [url] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "conformance-"));
const used = new Set();
let unexpected = 0;
for (const version of ["2025-11-25", "2026-07-28"]) {
  const results = join(folder, version);
  const run = spawnSync(
    "conformance",
    ["server", "--url", `${url}/mcp`, "--suite", "all", "--spec-version", version, "-o", results],
    { encoding: "utf8" },
  );
  if (run.error) throw run.error;
  let [passed, excepted, scenarios] = [0, 0, 0];
  for (const name of readdirSync(results)) {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    scenarios += 1;
    for (const check of JSON.parse(readFileSync(join(results, name, "checks.json"), "utf8"))) {
      if (check.status === "SUCCESS") passed += 1;
      if (check.status !== "FAILURE") continue;
      const at = EXCEPTIONS.findIndex(([s, id]) => s.test(scenario) && (id === "*" || id === check.id));
      if (at < 0) {
        unexpected += 1;
        console.error(`${version} ${scenario} ${check.id}: ${check.errorMessage}`);
      } else {
        used.add(at);
        excepted += 1;
      }
    }
  }
  if (scenarios === 0) throw new Error(`no scenario ran:\n${run.stdout}${run.stderr}`);
  console.log(`${version}: ${scenarios} scenarios, ${passed} checks passed, ${excepted} excepted`);
}
rmSync(folder, { recursive: true });
for (const [at, [scenario, id]] of EXCEPTIONS.entries()) {
  if (!used.has(at)) {
    unexpected += 1;
    console.error(`the exception ${scenario} ${id} is no longer needed`);
  }
}
process.exit(unexpected === 0 ? 0 : 1);
