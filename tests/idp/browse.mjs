// Sign-up and sign-in in a headless browser without scripts, against a real provider.
// Usage: node browse.mjs SERVICE PICTURES, with the provider's port in PROVIDER_PORT and the service's
// log in SERVICE_LOG.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { fork } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [service, pictures] = process.argv.slice(2);
const port = process.env.PROVIDER_PORT;
mkdirSync(pictures, { recursive: true });

let checks = 0;
function check(name, holds, found) {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(found)}`);
  checks += 1;
  console.log(`ok ${name}`);
}

const said = (child) => new Promise((resolve, reject) => {
  const ended = (code) => reject(new Error(`the provider ended with ${code}`));
  child.once("exit", ended);
  child.once("message", (message) => { child.off("exit", ended); resolve(message); });
});

async function startProvider() {
  const callback = `${service}/user/auth/idp/callback`;
  const program = new URL("provider.mjs", import.meta.url).pathname;
  const child = fork(program, [port, callback], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  await said(child);
  return child;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await gone;
}

/** Makes the provider spoil its tokens in this way from now on. */
async function spoil(child, how) {
  const heard = said(child);
  child.send(how);
  await heard;
}

async function post(path, body, key) {
  const headers = { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}) };
  const answer = await fetch(service + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const heldBack = [];

async function newBrowser() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  page.on("console", (line) => /Content Security|Refused/.test(line.text()) && heldBack.push(line.text()));
  page.setDefaultTimeout(20_000);
  return page;
}

/** Saves pictures of the page, as wide as a desktop and as a phone. No page may be wider than the screen. */
async function picture(page, name) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${pictures}/${name}-${width}.png`, fullPage: true });
    const wider = await page.locator("body").evaluate((body) => body.scrollWidth - body.clientWidth);
    if (wider > 0) throw new Error(`${name} is ${wider} pixels too wide for ${width}`);
  }
}

/** Fills in the provider's own pages: the name, then the consent. */
async function consent(page, name) {
  await page.waitForURL(`http://127.0.0.1:${port}/**`);
  await page.fill('input[name="login"]', name);
  await page.fill('input[name="password"]', "x");
  await page.click('button[type="submit"]');
  await page.click('button[type="submit"]');
}

/** Checks a failed sign-in: the login page states a reason and a remedy, and the log the details. */
async function isToldAtLogin(page, name, text, logged = "") {
  await page.waitForURL(`${service}/login?error=**`);
  const told = await page.textContent("[role=alert]");
  check(`${name}: ${told}`, told.includes(text), told);
  check("  and the way to the provider is open again", await page.isVisible("a.button"));
  const log = readFileSync(process.env.SERVICE_LOG, "utf8").trimEnd().split("\n");
  check(`  and the log says: ${logged}`, log.at(-1).includes(logged), log.at(-1));
  await picture(page, `login-${name.replaceAll(" ", "-")}`);
}

/** Signs in at the provider with a new browser, and returns to the service. */
async function comesBack(name) {
  const page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  await consent(page, name);
  return page;
}

/** Starts a program that listens on the loopback, and returns the address of its first request. */
async function waitingProgram() {
  let heard;
  const called = new Promise((resolve) => { heard = resolve; });
  const program = createServer((request, response) => {
    response.setHeader("content-type", "text/html").end("<!DOCTYPE html><title>Back</title>Back");
    if (request.url !== "/favicon.ico") heard(request.url);
  });
  await new Promise((resolve) => program.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${program.address().port}`;
  return { address, called: called.then((url) => new URL(url, address)), close: () => program.close() };
}

/** Returns the address at which a new client requests access to an account. */
async function question(redirect) {
  const metadata = { client_name: "A notebook", redirect_uris: [redirect] };
  const { client_id } = await post("/oauth/register", metadata);
  return `${service}/oauth/authorize?${new URLSearchParams({
    response_type: "code", client_id, redirect_uri: redirect, state: "state", scope: "mcp",
    code_challenge: createHash("sha256").update(randomBytes(32)).digest("base64url"),
    code_challenge_method: "S256", resource: `${service}/mcp`,
  })}`;
}

/** Connects a client with a new account: the provider, the profile, then the consent. */
async function connects(name, isNew) {
  const program = await waitingProgram();
  const page = await newBrowser();
  await page.goto(await question(`${program.address}/callback`));
  await picture(page, "connect-sign-in");
  await page.click("text=Continue to the identity provider");
  await consent(page, name);
  if (isNew) {
    await page.waitForURL(`${service}/complete-profile?**`);
    await page.fill("#phone", "+39 06 1234");
    await page.fill("#country", "Italy");
    await page.click("text=Create my account");
  }
  await page.waitForURL(`${service}/oauth/authorize?**`);
  const whose = await page.textContent("dl");
  check(`${name} comes back to the consent page`, whose.includes(`${name}@example.com`), whose);
  if (isNew) await picture(page, "connect-consent");
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  const url = await program.called;
  check("  and the client gets its code", url.searchParams.has("code"), url.href);
  program.close();
}

let provider;
try {
  let page = await newBrowser();
  await page.goto(`${service}/login`);
  await picture(page, "login");
  await page.click("text=Continue to the identity provider");
  await isToldAtLogin(page, "the provider is not there yet", "does not answer");
  const asked = Date.now();
  provider = await startProvider();
    // For five seconds the service sends no request to a provider that did not answer.
  await new Promise((resolve) => setTimeout(resolve, asked + 5_100 - Date.now()));

  await page.click("text=Continue to the identity provider");
  const discovered = Date.now();
  await consent(page, "ada");
  await page.waitForURL(`${service}/complete-profile?**`);
  check("a newcomer comes to the profile", true);
  await picture(page, "complete-profile");
  await page.fill("#phone", "+39 06 1234");
  await page.fill("#country", "Italy");
  await page.fill("#username", "a b");
  await page.click("text=Create my account");
  check("a fault is shown beside its field", await page.isVisible("#username-fault"));
  await picture(page, "complete-profile-fault");
  await page.fill("#username", "ada");
  await page.click("text=Create my account");
  const key = (await page.textContent(".key")).trim();
  check("the account is ready, and its key shown", key.startsWith("fk_user_"), key);
  await picture(page, "signed-in");
  const valid = await fetch(`${service}/auth/validate`, { headers: { "X-API-Key": key } });
  check("the key is good", valid.status === 200, valid.status);

  page = await comesBack("ada");
  await page.waitForURL(`${service}/login?code=**`);
  await picture(page, "login-code");
  const oneStepBefore = page.url();
  await page.click("text=Continue");
  const again = (await page.textContent(".key")).trim();
  check("the second sign-in shows the same key", again === key, again);
  await page.goto(oneStepBefore);
  await page.click("text=Continue");
  check("its code serves once", await page.isVisible("[role=alert]"));

  for (const name of ["ada", "grace"]) {
    const program = await waitingProgram();
    page = await newBrowser();
    const back = encodeURIComponent(`${program.address}/done?app=1`);
    await page.goto(`${service}/user/auth/idp/start?desktop_cb=${back}`);
    await consent(page, name);
    if (name === "grace") {
      await page.waitForURL(`${service}/complete-profile?**`);
      await page.fill("#phone", "+39 06 1234");
      await page.fill("#country", "Italy");
      await page.click("text=Create my account");
      await picture(page, "signed-in-desktop");
      await page.click("text=Return to the program");
    }
    const url = await program.called;
    check("the program's own query survives", url.searchParams.get("app") === "1", url.href);
    const code = url.searchParams.get("code");
    const redeemed = await post("/user/auth/desktop-handoff/redeem", { token: code });
    const profile = await fetch(`${service}/user/profile`, { headers: { "X-API-Key": redeemed.data?.api_key } });
    check(`${name}'s program redeems its code`, (await profile.json()).data?.username === name, redeemed);
    const twice = await post("/user/auth/desktop-handoff/redeem", { token: code });
    check("and no code twice", twice.status === 400, twice);
    program.close();
  }

  await connects("ada", false);
  await connects("emmy", true);

  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  const stranger = await newBrowser();
  await stranger.goto(`${service}/user/auth/idp/start`);
  const foreign = new URL(page.url()).searchParams.get("state") ?? "A".repeat(43);
  await stranger.goto(`${service}/user/auth/idp/callback?code=x&state=${foreign}`);
  await isToldAtLogin(stranger, "a foreign state", "another browser");

  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  await page.click("text=Cancel");
  await isToldAtLogin(page, "a change of mind", "cancelled");
  await page.goto(`${service}/user/auth/idp/start?desktop_cb=https://evil.example/`);
  await isToldAtLogin(page, "an address elsewhere", "not acceptable");

  const now = Math.floor(Date.now() / 1000);
  for (const [name, how, logged] of [
    ["a token for another audience", { claims: { aud: "another-service" } }, "another audience"],
    ["a token for us and others", { claims: { aud: ["quant", "another-service"] } }, "another audience"],
    ["an expired token", { claims: { iat: now - 7200, exp: now - 3600 } }, "expired"],
    ["a foreign nonce", { claims: { nonce: "a nonce of another sign-in" } }, "another nonce"],
    ["another issuer", { claims: { iss: "https://id.example" } }, "another issuer"],
  ]) {
    await spoil(provider, how);
    await isToldAtLogin(await comesBack("ada"), name, "could not be verified", logged);
  }
  await spoil(provider, { claims: { email_verified: false } });
  await isToldAtLogin(await comesBack("joan"), "an unconfirmed address", "has not confirmed");
  await spoil(provider, { status: 503 });
  await isToldAtLogin(await comesBack("ada"), "a provider that fails", "does not answer", "503");
  await spoil(provider, { dies: true });
  await isToldAtLogin(await comesBack("ada"), "a provider that dies", "does not answer", "does not answer");

  await stop(provider);
  provider = await startProvider();
    // The service reads new keys at most every 30 seconds.
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, discovered + 31_000 - Date.now())));
  page = await comesBack("ada");
  await page.waitForURL(`${service}/login?code=**`);
  check("after a new start with another key the sign-in goes on", true);

    // These come last, because the service reads the keys again after each of them.
  for (const [name, how] of [
    ["a strangers key under the same id", { strangersKey: true }],
    ["an algorithm without a key", { header: { alg: "none" } }],
  ]) {
    await spoil(provider, how);
    await isToldAtLogin(await comesBack("ada"), name, "could not be verified", "not the provider's");
  }
  check("the policy held nothing back", heldBack.length === 0, heldBack);
  console.log(`${checks} checks`);
} finally {
  if (provider) await stop(provider);
  await browser.close();
}
