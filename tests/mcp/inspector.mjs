// The official Inspector on the command line, with its own OAuth client. The Inspector prints the
// address of the sign-in, a headless browser opens it, and the Inspector's listener gets the code.
//
//   node inspector.mjs http://127.0.0.1:8080 EMAIL PASSWORD
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authorize } from "./authorize.mjs";

const [base, email, password] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "inspector-"));
const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// Runs the Inspector and signs in on request. Returns its output and whether a sign-in was needed.
function inspect(era, ...args) {
  const all = ["--cli", `${base}/mcp?toolsets=all`, "--transport", "http", "--protocol-era", era, "--callback-url", callback, ...args];
  const env = { ...process.env, HOME: home, BROWSER: "true", MCP_AUTO_OPEN_ENABLED: "true", MCP_INSPECTOR_SECRET_STORE: "file" };
  const child = spawn("mcp-inspector", all, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [output, said, asked] = ["", "", false];
  child.stdout.on("data", (data) => (output += data));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill(), 60_000);
    child.stderr.on("data", async (data) => {
      said += data;
      const url = said.match(new RegExp(`${base}/oauth/authorize\\?\\S+`))?.[0];
      if (!url || asked || !said.includes("\n", said.indexOf(url))) return;
      asked = true;
      try {
        await fetch(await authorize(url, callback, { email, password }));
      } catch (error) {
        child.kill();
        reject(error);
      }
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code === 0) resolve({ output, said, asked });
      else reject(new Error(`${args.join(" ")} ended with ${code}:\n${output}\n${said}`));
    });
  });
}

const first = await inspect("legacy", "--relogin", "--method", "tools/list", "--strict", "--format", "json");
assert.ok(first.asked, "it signed in");
for (const era of ["legacy", "auto", "modern"]) {
  const listed = await inspect(era, "--method", "tools/list", "--strict", "--format", "json");
  assert.ok(!listed.asked, "the token is kept");
  assert.ok(listed.output.includes("price_european_option"), listed.output);
  assert.ok(!/^(Warning|Error):? tool/m.test(listed.said), listed.said);
  const option = { option_type: "call", spot: 42, strike: 40, time_to_maturity: 0.5, risk_free_rate: 0.1, volatility: 0.2 };
  const called = await inspect(era, "--method", "tools/call", "--tool-name", "price_european_option",
    "--tool-args-json", JSON.stringify(option), "--format", "json");
  const uri = called.output.match(/svc:\/\/results\/[0-9a-f-]+/)?.[0];
  assert.ok(uri, called.output);
  const read = await inspect(era, "--method", "resources/read", "--uri", uri, "--format", "json");
  assert.ok(read.output.includes("result/v1"), read.output);
  console.log(`${era}: tools/list --strict, tools/call, resources/read`);
}
rmSync(home, { recursive: true });
