// The pages in a headless Chromium. Usage: node browse.mjs SERVICE KEY MAIL PICTURES
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { chromium } from "playwright-core";
import { AxeBuilder } from "@axe-core/playwright";

const [service, key, mail, pictures] = process.argv.slice(2);
const PASSWORD = "a long and private sentence";
mkdirSync(pictures, { recursive: true });

/** Compressed bytes of a cold visit. */
const HEAVIEST = 600 * 1024;
const PAGES = { front: "/", reference: "/docs", errors: "/docs/errors", operation: "/docs/price_european_option", list: "/playground", playground: "/playground/price_european_option", register: "/console/register", console: "/console" };
const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };

let checks = 0;
function check(name, holds, found) {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(found)}`);
  checks += 1;
  console.log(`ok ${name}`);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Opens a page in a fresh browser; `visit.bytes` counts what came over the network. */
async function open(path, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const visit = { page, bytes: 0, foreign: [], errors: [] };
  page.on("request", (request) => { if (!request.url().startsWith(service) && !request.url().startsWith("data:")) visit.foreign.push(request.url()); });
  page.on("pageerror", (error) => visit.errors.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") visit.errors.push(message.text()); });
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  client.on("Network.loadingFinished", ({ encodedDataLength }) => { visit.bytes += encodedDataLength; });
  await page.goto(service + path, { waitUntil: "networkidle" });
  return visit;
}

async function look(name, path, size, colorScheme) {
  const title = `${name} ${size} ${colorScheme}`;
  const visit = await open(path, { viewport: SIZES[size], colorScheme });
  await visit.page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png` });
  const { violations } = await new AxeBuilder({ page: visit.page }).analyze();
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  check(`${title} has no serious fault of accessibility`, grave.length === 0, grave.map(({ id, nodes }) => [id, nodes[0].html]));
  const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(`${title} is no wider than the screen`, overflow <= 0, overflow);
  check(`${title} asks no other host and has no fault`, visit.foreign.length + visit.errors.length === 0, visit);
  check(`${title} weighs ${Math.round(visit.bytes / 1024)} KiB`, visit.bytes <= HEAVIEST, visit.bytes);
  await visit.page.context().close();
}

async function computeInPlayground() {
  const { page } = await open(PAGES.playground, { viewport: SIZES.wide });
  await page.fill("#api-key", key);
  await page.click("#compute");
  await page.waitForSelector("#result table");
  const balance = async () => Number((await page.textContent("#charge")).match(/(\d+) are left/)[1]);
  const first = await balance();
  check("the playground shows a price", (await page.textContent("#result")).includes("4.7594"), await page.textContent("#result"));
  check("an option has a picture of its payoff", (await page.textContent("#picture svg title")) === "Payoff at expiry", await page.textContent("#picture"));
  await page.fill("#field-spot", "50");
  await page.click("#compute");
  await page.waitForFunction((before) => !document.querySelector("#charge").textContent.includes(`${before} are left`), first);
  check("the balance falls by the cost", (await balance()) === first - 5, [first, await balance()]);
  await page.fill("#sweep-points", "5");
  await page.click("#sweep-draw");
  await page.waitForSelector("#sweep-picture svg");
  const points = await page.getAttribute("#sweep-picture polyline", "points");
  check("a picture over an input has every point", points.split(" ").length === 5, points);
  await page.screenshot({ path: `${pictures}/playground-used.png`, fullPage: true });
  await page.fill("#field-volatility", "-1");
  await page.click("#compute");
  await page.waitForSelector("#result .fault");
  check("a refusal names the field", (await page.textContent("#result .fault")).includes("volatility"), await page.textContent("#result"));
  await page.click("[data-copy=python]");
  check("the call is there as text", (await page.textContent("#copied")).includes(key), await page.textContent("#copied"));
  await page.context().close();
}

async function convergeInPlayground() {
  const { page } = await open("/playground/price_barrier_option", { viewport: SIZES.wide });
  await page.fill("#api-key", key);
  await page.selectOption("#sweep-field", "n_steps");
  const cost = await page.textContent("#sweep-cost");
  check("the closed form is a call more", cost.includes("closed form") && cost.includes(": 80 credits"), cost);
  for (const [field, value] of [["from", "50"], ["to", "500"], ["points", "4"]]) await page.fill(`#sweep-${field}`, value);
  await page.click("#sweep-draw");
  await page.waitForSelector("#sweep-picture svg");
  const lines = await page.$$eval("#sweep-picture svg:first-of-type polyline", (all) => all.map((line) => line.getAttribute("points").split(" ")));
  check("the tree and its closed form are drawn", lines.length === 2 && lines[0].length === 4 && lines[1].length === 2, lines);
  const [left, right] = lines[1].map((point) => point.split(",")[1]);
  check("the closed form is level", left === right, lines[1]);
  await page.screenshot({ path: `${pictures}/playground-convergence.png`, fullPage: true });
  await page.context().close();
}

async function callFromFrontPage() {
  const { page } = await open("/", { viewport: SIZES.wide });
  await page.click("#live");
  await page.waitForFunction(() => document.querySelector("#live-answer").textContent.includes('"success": true'));
  check("the front page calls the service", true);
  await page.context().close();
}

/** The code in the newest e-mail. */
async function emailedCode() {
  for (let tries = 0; tries < 100; tries += 1) {
    const emails = readdirSync(mail).sort();
    const code = emails.length && readFileSync(`${mail}/${emails.at(-1)}`, "utf8").match(/\b\d{6}\b/);
    if (code) return code[0];
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("no e-mail has a code");
}

async function graveFaults(page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => [id, nodes[0].html]);
}

/** From no account to its end: registration, a price, the chart of its calls, deletion. */
async function liveInConsole() {
  const { page } = await open("/console/register", { viewport: SIZES.wide });
  const submit = (selector) => Promise.all([page.waitForLoadState("load"), page.click(selector)]);
  await page.fill("#username", "ada");
  await page.fill("#email", "ada@example.com");
  await page.fill("#password", "ada@example.com");
  await submit("main button");
  await page.waitForSelector(".fault");
  check("a refused registration names the field", (await page.textContent(".fault")).includes("password"), await page.textContent(".fault"));
  await page.fill("#password", PASSWORD);
  await submit("main button");
  await page.waitForSelector("#code");
  await page.fill("#code", await emailedCode());
  await submit("form:first-of-type button");
  await page.waitForSelector("#key");
  const own = (await page.textContent("#key")).trim();
  check("the key is shown", own.startsWith("fk_user_"), own);
  await page.goto(`${service}/playground/price_european_option`);
  await page.fill("#api-key", own);
  await page.click("#compute");
  await page.waitForSelector("#result table");
  check("the new account buys a price", (await page.textContent("#charge")).includes("345 are left"), await page.textContent("#charge"));
  await page.goto(`${service}/console`);
  check("the console has the balance", (await page.textContent("#balance")) === "345", await page.textContent("#balance"));
  const chart = await page.getAttribute("main svg", "aria-label");
  check("the chart has the call of today", chart.endsWith(": 1"), chart);
  for (const path of ["", "/activity", "/notifications", "/security"]) {
    await page.goto(`${service}/console${path}`);
    await page.screenshot({ path: `${pictures}/console${path.replace("/", "-")}.png`, fullPage: true });
    const faults = await graveFaults(page);
    check(`/console${path} has no serious fault of accessibility`, faults.length === 0, faults);
  }
  const other = await page.context().newPage();
  await other.goto(`${service}/playground/price_european_option`);
  await other.fill("#api-key", own);
  await page.goto(`${service}/console/activity`);
  await submit("text=Sign out");
  await other.reload();
  check("a sign-out forgets the key in every tab", (await other.inputValue("#api-key")) === "", await other.inputValue("#api-key"));
  await page.goto(`${service}/console/security`);
  await page.fill("#email", "ada@example.com");
  await page.fill("#password", PASSWORD);
  await submit("main form:has(#password) button");
  await page.waitForSelector("#last-password");
  await page.fill("#last-password", "not the password");
  await submit("button.danger");
  await page.waitForSelector(".fault");
  check("a wrong password deletes nothing", (await page.textContent(".fault")).includes("wrong"), await page.textContent(".fault"));
  await page.fill("#last-password", PASSWORD);
  await submit("button.danger");
  await page.waitForSelector("text=The account is deleted");
  const { status } = await fetch(`${service}/auth/validate`, { headers: { "X-API-Key": own } });
  check("the key of a deleted account is refused", status === 401, status);
  await page.context().close();
}

try {
  for (const [name, path] of Object.entries(PAGES)) {
    // The rules of accessibility take long on the reference: both schemes at once use both cores.
    for (const size of Object.keys(SIZES)) await Promise.all(["light", "dark"].map((scheme) => look(name, path, size, scheme)));
  }
  await computeInPlayground();
  await convergeInPlayground();
  await callFromFrontPage();
  await liveInConsole();
  console.log(`${checks} checks`);
} finally {
  await browser.close();
}
