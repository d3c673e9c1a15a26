// Signs up and in as people do, in a headless browser, against a real provider:
// `node browse.mjs SERVICE PICTURES`, with the provider's port in PROVIDER_PORT.
import { createServer } from "node:http";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
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

async function startProvider() {
  const callback = `${service}/user/auth/idp/callback`;
  const child = spawn(process.execPath, [new URL("provider.mjs", import.meta.url).pathname, port, callback]);
  child.stderr.on("data", () => {});
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`the provider ended with ${code}`)));
  });
  return child;
}

async function stop(child) {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill();
  await gone;
}

async function post(path, body, key) {
  const headers = { "Content-Type": "application/json", ...(key ? { "X-API-Key": key } : {}) };
  const answer = await fetch(service + path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Pictures of what is shown, as wide as a desk and as a phone. */
async function picture(page, name) {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${pictures}/${name}-${width}.png` });
  }
}

/** What the provider's own pages ask: who it is, and whether that may be told. */
async function consent(page, name) {
  await page.waitForURL(`http://127.0.0.1:${port}/**`);
  await page.fill('input[name="login"]', name);
  await page.fill('input[name="password"]', "x");
  await page.click('button[type="submit"]');
  await page.click('button[type="submit"]');
}

async function newBrowser() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  return context.newPage();
}

let provider = await startProvider();
try {
  let page = await newBrowser();
  await page.goto(`${service}/login`);
  await picture(page, "login");
  await page.click("text=Continue to the identity provider");
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

  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  await consent(page, "ada");
  await page.waitForURL(`${service}/login?code=**`);
  await picture(page, "login-code");
  await page.click("text=Continue");
  const again = (await page.textContent(".key")).trim();
  check("the second sign-in shows the same key", again === key, again);

  let heard;
  const waiting = new Promise((resolve) => { heard = resolve; });
  const program = createServer((request, response) => { response.end("done"); heard(request.url); });
  await new Promise((resolve) => program.listen(0, "127.0.0.1", resolve));
  const back = `http://127.0.0.1:${program.address().port}/done?app=1`;
  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start?desktop_cb=${encodeURIComponent(back)}`);
  await consent(page, "ada");
  const url = new URL(await waiting, back);
  check("the program's own query survives", url.searchParams.get("app") === "1", url.href);
  const code = url.searchParams.get("code");
  const redeemed = await post("/user/auth/desktop-handoff/redeem", { token: code });
  check("the desktop program redeems its code", redeemed.data?.api_key === key, redeemed);
  const twice = await post("/user/auth/desktop-handoff/redeem", { token: code });
  check("and no code twice", twice.status === 400, twice);
  program.close();

  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  await stop(provider);
  await page.goto(`${service}/user/auth/idp/callback?code=x&state=${"A".repeat(43)}`);
  check("a foreign state goes to the login page", page.url().startsWith(`${service}/login?error=`), page.url());
  console.log(`   ${await page.textContent(".error")}`);
  await picture(page, "login-error");

  provider = await startProvider();
  await new Promise((resolve) => setTimeout(resolve, 31_000));
  page = await newBrowser();
  await page.goto(`${service}/user/auth/idp/start`);
  await consent(page, "ada");
  await page.waitForURL(`${service}/login?code=**`);
  check("after a new start with another key the sign-in goes on", true);
  console.log(`${checks} checks`);
} finally {
  await stop(provider).catch(() => {});
  await browser.close();
}
