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
/** The pages of an account, for a browser that is signed in. */
const CONSOLE = { overview: "/console", activity: "/console/activity", notifications: "/console/notifications", databases: "/console/databases", security: "/console/security", applications: "/account/applications" };
const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };

let checks = 0;
function check(name, holds, found) {
  if (!holds) throw new Error(`${name}: ${JSON.stringify(found)}`);
  checks += 1;
  console.log(`ok ${name}`);
}

// No name of a host leads anywhere: the pages must do with this service alone.
const args = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });

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

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

async function graveFaults(page) {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => [id, nodes[0].html]);
}

/** Looks at a page; `storageState` is that of a browser that is signed in. */
async function look(name, path, size, colorScheme, storageState) {
  const title = `${name} ${size} ${colorScheme}`;
  const visit = await open(path, { viewport: SIZES[size], colorScheme, storageState });
  await visit.page.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: storageState !== undefined });
  const faults = await graveFaults(visit.page);
  check(`${title} has no serious fault of accessibility`, faults.length === 0, faults);
  check(`${title} is no wider than the screen`, (await overflow(visit.page)) <= 0, await overflow(visit.page));
  check(`${title} asks no other host and has no fault`, visit.foreign.length + visit.errors.length === 0, visit.errors.concat(visit.foreign));
  check(`${title} weighs ${Math.round(visit.bytes / 1024)} KiB`, visit.bytes <= HEAVIEST, visit.bytes);
  await visit.page.context().close();
}

/** Looks at pages at each size in both schemes. */
async function lookAtAll(pages, storageState) {
  for (const [name, path] of Object.entries(pages)) {
    // The rules of accessibility take long on the reference: both schemes at once use both cores.
    for (const size of Object.keys(SIZES)) await Promise.all(["light", "dark"].map((scheme) => look(name, path, size, scheme, storageState)));
  }
}

async function theNetworkIsCut() {
  const page = await browser.newPage();
  const reached = await page.goto("http://example.com/").then(() => "an answer", (error) => error.message);
  check("no name of a host leads anywhere", reached.includes("ERR_NAME_NOT_RESOLVED"), reached);
  await page.close();
}

/** The pictures of a computation at each size in both schemes; `inspect` checks those of each size. */
async function drawn(id, inspect) {
  for (const size of Object.keys(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, errors } = await open(`/playground/${id}`, { viewport: SIZES[size], colorScheme });
      await page.fill("#api-key", key);
      await page.click("#compute");
      await page.waitForSelector("#picture svg");
      await page.locator("#picture").screenshot({ path: `${pictures}/${id}-${size}-${colorScheme}.png` });
      if (colorScheme === "light") await inspect(page, size);
      const wide = await overflow(page);
      check(`the picture of ${id} fits ${size} ${colorScheme}`, wide <= 0 && errors.length === 0, [wide, errors]);
      await page.context().close();
    }
  }
}

const count = (page, selector) => page.locator(`#picture ${selector}`).count();
const legends = (page) => page.$$eval("#picture svg", (all) => all.map((svg) => [...svg.querySelectorAll("text")].map((text) => text.textContent)).flat());

async function drawWhatIsSentBesideTheAnswer() {
  await drawn("trace_efficient_frontier", async (page, size) => {
    const names = await legends(page);
    const all = ["efficient frontier", "single assets", "tangency portfolio", "capital market line"];
    check(`the frontier is drawn with its names, ${size}`, all.every((name) => names.includes(name)), names);
    const marks = [await count(page, "svg"), await count(page, "polyline"), await count(page, "circle"), await count(page, "path")];
    // Three assets and their sample in the legend; the tangency portfolio and its sample.
    check(`the frontier has its assets and its tangency portfolio, ${size}`, marks.join() === "1,2,4,2", marks);
  });
  await drawn("compute_capital_ratios", async (page, size) => {
    const bars = await page.$$eval("#picture rect > title", (all) => all.map((title) => title.textContent));
    check(`each capital ratio is a bar, ${size}`, bars.length === 4 && bars[0].endsWith(": 4.5") && bars[2].endsWith(": 9.5"), bars);
    const marks = await page.$$eval("#picture line.mark-1", (all) => all.slice(0, 4).map((line) => Number(line.getAttribute("y1"))));
    const tops = await page.$$eval("#picture rect:has(title)", (all) => all.map((bar) => Number(bar.getAttribute("y"))));
    check(`a ratio at its minimum reaches the mark, and a higher one passes it, ${size}`, Math.abs(marks[0] - tops[0]) < 0.01 && tops[2] < marks[2] - 5, [marks, tops]);
  });
  await drawn("measure_shannon_entropy", async (page, size) => {
    const bars = await page.$$eval("#picture svg", (all) => all.map((svg) => [...svg.querySelectorAll("rect > title")].map((title) => Number(title.textContent.split(": ")[1]))));
    check(`the probabilities are bars, ${size}`, bars.length === 2 && bars[0].join() === "0.5,0.25,0.25", bars);
    check(`the contributions sum to the entropy, ${size}`, bars[1].reduce((sum, part) => sum + part) === 1.5, bars);
  });
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
  const charts = () => page.$$eval("main svg", (all) => all.map((svg) => svg.getAttribute("aria-label")));
  const figures = (all) => all.map((label) => label.match(/\d+$/)[0]).join();
  const first = await charts();
  check("the charts have the call of today and its endpoint", figures(first) === "1,5,1,5" && first[2].includes("/quantlib/pricing/bs/price"), first);
  await page.goto(`${service}/playground/price_european_option`);
  await page.fill("#api-key", own);
  await page.click("#compute");
  await page.waitForSelector("#result table");
  await page.goto(`${service}/console`);
  check("a second call moves the charts", figures(await charts()) === "2,10,2,10", await charts());
  await page.goto(`${service}/console/databases`);
  await lookAtAll(CONSOLE, await page.context().storageState());
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
  await theNetworkIsCut();
  await lookAtAll(PAGES);
  await computeInPlayground();
  await convergeInPlayground();
  await drawWhatIsSentBesideTheAnswer();
  await callFromFrontPage();
  await liveInConsole();
  console.log(`${checks} checks`);
} finally {
  await browser.close();
}
