// The official conformance suite's scenarios for authorization servers, against a running service.
// The suite prints an address for a browser; ./authorize.mjs does the browser's part.
//
//   node authorization.mjs http://127.0.0.1:8080 EMAIL PASSWORD
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authorize } from "./authorize.mjs";

const [base, email, password] = process.argv.slice(2);

// The suite's port is fixed, so that its redirect URI can be registered in advance.
const free = createServer().listen(0, "127.0.0.1");
await once(free, "listening");
const { port } = free.address();
free.close();
const redirectUri = `http://127.0.0.1:${port}/callback`;

const registered = await fetch(`${base}/oauth/register`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ client_name: "The conformance suite", redirect_uris: [redirectUri] }),
});
const { client_id } = await registered.json();
const results = mkdtempSync(join(tmpdir(), "conformance-"));
const suite = spawn("conformance", [
  "authorization", "--url", base, "--client-id", client_id, "--resource", `${base}/mcp`,
  "--port", String(port), "-o", results,
]);
let said = "";
let isAnswered = false;
suite.stderr.on("data", (text) => { said += text; });
suite.stdout.on("data", async (text) => {
  said += text;
  const question = said.match(/^http\S+\/oauth\/authorize\?\S+$/m)?.[0];
  if (isAnswered || !question || !said.includes("Waiting")) return;
  isAnswered = true;
  await fetch(await authorize(question, redirectUri, { email, password }));
});
const [status] = await once(suite, "close");

const checks = readdirSync(results, { recursive: true })
  .filter((name) => name.endsWith("checks.json"))
  .flatMap((name) => JSON.parse(readFileSync(join(results, name), "utf8")));
rmSync(results, { recursive: true });
const unmet = checks.filter((check) => check.status !== "SUCCESS" && check.status !== "INFO");
for (const check of unmet) console.log(`${check.status} ${check.id}: ${check.errorMessage}`);
assert.deepEqual(unmet.map((check) => check.id), [], said);
assert.ok(status === 0 && isAnswered, said);
console.log(`${checks.length} checks of the authorization server passed`);
