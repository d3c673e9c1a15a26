// The playground of one computation: reads the form, calls the service, shows figures and pictures.
"use strict";

const form = document.querySelector("#inputs");
const facts = JSON.parse(form.dataset.facts);
const byId = (id) => document.getElementById(id);
const fields = [...form.querySelectorAll("[name]")];

/** The body of the call; fields without a value are left out. */
function body(changed = {}) {
  const made = {};
  for (const field of fields) {
    const { name, value, dataset } = field;
    if (dataset.kind === "flag") made[name] = field.checked;
    else if (value.trim() === "") continue;
    else if (dataset.kind === "number") made[name] = Number(value);
    else if (dataset.kind === "json") made[name] = parsed(field);
    else made[name] = value;
  }
  return { ...made, ...changed };
}

function parsed(field) {
  try {
    return JSON.parse(field.value);
  } catch {
    throw new Error(`${field.name} is no JSON`);
  }
}

/** Calls the service; a refusal is an error whose text names the faults. */
async function call(changed) {
  const options = { method: facts.method, headers: { "X-API-Key": currentKey() } };
  if (facts.method !== "GET") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body(changed));
  }
  const answer = await fetch(facts.path, options);
  const content = await answer.json();
  if (!answer.ok) throw new Error(refusal(answer.status, content));
  const [cost, balance] = ["x-credits-cost", "x-credits-balance"].map((name) => answer.headers.get(name));
  return { data: content.data, cost, balance };
}

function refusal(status, content) {
  const detail = content.detail;
  if (Array.isArray(detail)) return detail.map((fault) => `${fault.loc.slice(1).join(".")}: ${fault.msg}`).join("\n");
  if (typeof detail === "string") return detail;
  return (detail && detail.message) || content.message || `The service answered ${status}.`;
}

function cell(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

const shown = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));

/** A table of the fields that are no lists. */
function table(data) {
  const made = document.createElement("table");
  for (const [name, value] of Object.entries(data)) {
    const row = made.insertRow();
    const head = cell("th", name);
    head.scope = "row";
    row.append(head, cell("td", shown(value)), cell("td", facts.units[name] || ""));
  }
  return made;
}

const isNumber = (value) => typeof value === "number";
const isRow = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The pictures that an answer has by itself: its lists of rows or numbers, and its groups of numbers. */
function pictures(data) {
  const made = [];
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value) && value.length > 1 && value.every(isRow)) made.push(ofRows(name, value));
    else if (Array.isArray(value) && value.length > 1 && value.every(isNumber)) made.push(ofNumbers(name, value));
    else if (isRow(value) && Object.values(value).filter(isNumber).length > 1) made.push(ofGroup(name, value));
  }
  return made.filter(Boolean);
}

const X_NAMES = ["volatility", "portfolio_volatility", "tenor", "time", "t", "maturity", "years", "period", "number"];
const Y_NAMES = ["expected_return", "portfolio_return", "zero_rate", "forward_rate", "discount_factor", "amount", "total", "cash_flow", "present_value", "value"];

function ofRows(title, rows) {
  const names = Object.keys(rows[0]).filter((name) => rows.every((row) => isNumber(row[name])));
  const x = X_NAMES.find((name) => names.includes(name));
  const listed = Y_NAMES.filter((name) => names.includes(name));
  const y = (listed.length ? listed : names).filter((name) => name !== x);
  if (!y.length) return null;
  if (x === undefined) {
    const text = Object.keys(rows[0]).find((name) => typeof rows[0][name] === "string");
    const bars = rows.map((row, index) => ({ name: text ? String(row[text]) : String(index + 1), value: row[y[0]] }));
    return Chart.bars({ title, xName: text || "number", yName: y[0], bars });
  }
  const alike = y.filter((name) => /rate|return|yield/.test(name) === /rate|return|yield/.test(y[0])).slice(0, 4);
  const series = alike.map((name) => ({ name, points: rows.map((row) => [row[x], row[name]]) }));
  return Chart.lines({ title, xName: x, yName: alike.join(", "), series });
}

function ofNumbers(title, values) {
  return Chart.bars({ title, xName: "number", yName: title, bars: values.map((value, index) => ({ name: String(index + 1), value })) });
}

function ofGroup(title, group) {
  const bars = Object.entries(group).filter(([, value]) => isNumber(value)).map(([name, value]) => ({ name, value }));
  return Chart.bars({ title, xName: "", yName: title, bars });
}

/** The payoff of an option with one underlying at its expiry, before and after its price; none for other computations. */
function payoff(made, data) {
  const name = ["spot", "forward"].find((candidate) => isNumber(made[candidate]));
  if (!facts.id.startsWith("price_") || name === undefined || !isNumber(made.strike) || !isNumber(data.price)) return [];
  const { strike } = made;
  const sign = made.option_type === "put" || facts.id.endsWith("_put") ? -1 : 1;
  const reach = Math.max(Math.abs(strike), Math.abs(made[name] - strike)) * 0.6 || 1;
  const [least, most] = [strike - reach, strike + reach];
  const isDigital = facts.id.includes("digital");
  // A digital option pays one unit beyond its strike; the line is vertical there.
  const [below, above] = isDigital ? [sign < 0 ? 1 : 0, sign > 0 ? 1 : 0] : [0, 0];
  const ends = isDigital ? [below, above] : [Math.max(-sign * reach, 0), Math.max(sign * reach, 0)];
  const points = [[least, ends[0]], [strike, below], [strike, above], [most, ends[1]]];
  const left = points.map(([x, y]) => [x, y - data.price]);
  const title = "barrier" in made ? "Payoff at expiry, where the option is alive" : "Payoff at expiry";
  return [Chart.lines({
    title, xName: `${name} at expiry`, yName: "currency",
    series: [
      { name: "payoff", points },
      { name: "payoff less price", points: left },
      { name: "price today", points: [[made[name], data.price]], shape: "disc" },
    ],
  })];
}

/** The efficient frontier with its assets, and the line from the riskless rate through the tangency portfolio. */
function frontier(made, { frontier: portfolios, tangency, rf_rate: riskless }) {
  const place = (portfolio) => [portfolio.volatility, portfolio.expected_return];
  const assets = made.expected_returns.map((expected, index) => [Math.sqrt(made.covariance_matrix[index][index]), expected]);
  const series = [
    { name: "efficient frontier", points: portfolios.map(place), shape: portfolios.length > 1 ? undefined : "disc" },
    { name: "single assets", points: assets, shape: "disc", labels: assets.map((_, index) => String(index + 1)) },
  ];
  if (tangency && tangency.volatility > 0) {
    series.push({ name: "tangency portfolio", points: [place(tangency)], shape: "diamond" });
    const slope = (tangency.expected_return - riskless) / tangency.volatility;
    const farthest = Math.max(...series.flatMap(({ points }) => points.map(([x]) => x)));
    series.push({ name: "capital market line", points: [0, farthest].map((x) => [x, riskless + slope * x]) });
  }
  return [Chart.lines({
    title: "Efficient frontier, single assets and tangency portfolio",
    xName: "volatility, an annual decimal", yName: "expected return, an annual decimal", series,
  })];
}

/** The ratios of Basel III with their minimums, as fractions. */
const RATIOS = [
  ["cet1_ratio", "CET1", 0.045],
  ["tier1_ratio", "tier 1", 0.06],
  ["total_capital_ratio", "total", 0.08],
  ["leverage_ratio", "leverage", 0.03],
];

/** Each capital ratio beside its minimum, in percent. */
function capitalRatios(_, data) {
  const percent = (fraction) => Number((100 * fraction).toPrecision(12));
  const present = RATIOS.filter(([field]) => isNumber(data[field]));
  const bars = present.map(([field, name, least]) => ({ name: `${name}\nmin. ${percent(least)}`, value: percent(data[field]), mark: percent(least) }));
  return [Chart.bars({ title: "Capital ratios and their minimums", xName: "", yName: "percent", bars, names: ["ratio", "minimum"] })];
}

/** The outcomes that the pictures of a distribution show. */
const MOST_OUTCOMES = 200;

/** The unit of an entropy by the base of its logarithm. */
const unitOfBase = (base) => (base === 2 ? "bits" : Math.abs(base - Math.E) < 1e-12 ? "nats" : `units of base ${base}`);

/** The probabilities of a distribution, and the part −p·log p of the entropy that each outcome has. */
function entropy({ probabilities }, { shannon_entropy: whole, base }) {
  const shown = probabilities.slice(0, MOST_OUTCOMES);
  const xName = shown.length < probabilities.length ? `outcome, the first ${MOST_OUTCOMES}` : "outcome";
  const bars = (value, mark) => shown.map((probability, index) => ({ name: String(index + 1), value: value(probability), mark }));
  const part = (probability) => (probability > 0 ? (-probability * Math.log(probability)) / Math.log(base) : 0);
  return [
    Chart.bars({
      title: "Probabilities", xName, yName: "probability",
      bars: bars((probability) => probability, 1 / probabilities.length), names: ["probability", "equally likely outcomes"],
    }),
    Chart.bars({
      title: `Contributions to the entropy of ${whole} ${unitOfBase(base)}`, xName,
      yName: `−p·log p in ${unitOfBase(base)}, the sum is ${Number(whole.toPrecision(6))}`, bars: bars(part),
    }),
  ];
}

/** The pictures of computations whose request is drawn beside their answer. */
const OF_REQUEST_AND_ANSWER = {
  trace_efficient_frontier: frontier,
  compute_capital_ratios: capitalRatios,
  measure_shannon_entropy: entropy,
};

/** All pictures of a call. */
function picturesOf(made, data) {
  const own = OF_REQUEST_AND_ANSWER[facts.id];
  return own ? own(made, data) : [...payoff(made, data), ...pictures(data)];
}

function tellCharge({ cost, balance }) {
  byId("charge").textContent = balance === null ? "" : `This call cost ${cost} credits; ${balance} are left.`;
}

function tellFault(place, error) {
  const made = cell("p", error.message);
  made.className = "fault";
  made.setAttribute("role", "alert");
  place.replaceChildren(made);
}

async function compute() {
  try {
    const made = body();
    const answer = await call();
    tellCharge(answer);
    byId("result").replaceChildren(table(answer.data));
    byId("picture").replaceChildren(...picturesOf(made, answer.data));
  } catch (error) {
    byId("picture").replaceChildren();
    tellFault(byId("result"), error);
  }
}

/** The numeric fields of an answer that a picture over an input can show. */
const figures = (data) => Object.entries(data).filter(([, value]) => isNumber(value)).map(([name]) => name);

/** True for the steps of a tree whose limit has a closed form, which one call more computes. */
const hasClosedForm = (name) => /^(n_)?steps$/.test(name) && "barrier_monitoring" in form.elements;

async function sweep() {
  const [name, points] = [byId("sweep-field").value, Number(byId("sweep-points").value)];
  const [from, to] = [Number(byId("sweep-from").value), Number(byId("sweep-to").value)];
  const isWhole = form.elements[name].value.match(/^-?\d+$/) && to - from >= points;
  const rows = [];
  let exact = {};
  try {
    for (let index = 0; index < points; index += 1) {
      const between = from + ((to - from) * index) / (points - 1);
      const x = isWhole ? Math.round(between) : Number(between.toPrecision(12));
      const answer = await call({ [name]: x });
      tellCharge(answer);
      rows.push([x, answer.data]);
    }
    if (hasClosedForm(name)) {
      const answer = await call({ barrier_monitoring: "continuous" });
      tellCharge(answer);
      exact = answer.data;
    }
  } catch (error) {
    tellFault(byId("sweep-picture"), error);
    if (rows.length < 2) return;
  }
  const charts = figures(rows[0][1]).filter((figure) => figure !== name).slice(0, 8);
  const drawn = charts.map((figure) => Chart.lines({
    title: `${figure} over ${name}`, xName: name, yName: facts.units[figure] ? `${figure} (${facts.units[figure]})` : figure,
    series: [{ name: figure, points: rows.map(([x, data]) => [x, data[figure]]) }, ...closedForm(exact[figure], rows)],
  }));
  byId("sweep-picture").replaceChildren(...drawn);
}

/** A level line over all points; none without a closed form. */
function closedForm(value, rows) {
  if (!isNumber(value)) return [];
  return [{ name: "closed form", points: [rows[0][0], rows[rows.length - 1][0]].map((x) => [x, value]) }];
}

function prepareSweep() {
  const numbers = fields.filter((field) => field.dataset.kind === "number");
  if (!numbers.length) return;
  byId("sweep").hidden = false;
  const choose = () => {
    const slider = form.elements[byId("sweep-field").value].parentElement.querySelector(".slider");
    byId("sweep-from").value = slider.min;
    byId("sweep-to").value = slider.max;
  };
  const tell = () => {
    const further = hasClosedForm(byId("sweep-field").value) ? 1 : 0;
    const credits = (Number(byId("sweep-points").value) + further) * facts.credits;
    byId("sweep-cost").textContent = `Each point is a call${further ? ", and so is the closed form" : ""}: ${credits} credits.`;
  };
  byId("sweep-field").append(...numbers.map((field) => new Option(field.name)));
  byId("sweep-field").addEventListener("change", choose);
  byId("sweep-field").addEventListener("change", tell);
  byId("sweep-points").addEventListener("input", tell);
  byId("sweep-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sweep();
  });
  choose();
  tell();
}

const literal = (value) => JSON.stringify(value, null, 2);

/** A JSON value as Python writes it: `True`, `False`, `None`. */
function python(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${python(part)}`).join(", ")}}`;
  return JSON.stringify(value);
}

/** A call as text in one language; `made` is its body, undefined for a call without one. */
const AS_TEXT = {
  curl: (url, key, made) => {
    const data = made && ` -H 'Content-Type: application/json' -d '${JSON.stringify(made).replaceAll("'", "'\\''")}'`;
    return `curl -s ${url} -H 'X-API-Key: ${key}'${data ?? ""}`;
  },
  python: (url, key, made) => {
    const data = made && `, json=${python(made)}`;
    return `import requests\n\nanswer = requests.${facts.method.toLowerCase()}("${url}", headers={"X-API-Key": "${key}"}, timeout=30${data ?? ""})\nprint(answer.json())`;
  },
  rust: (url, key, made) => {
    const data = made && `\n    .json(&serde_json::json!(${literal(made)}))`;
    return `let answer: serde_json::Value = reqwest::blocking::Client::new()\n    .${facts.method.toLowerCase()}("${url}")\n    .header("X-API-Key", "${key}")${data ?? ""}\n    .send()?\n    .json()?;`;
  },
};

async function copy(language) {
  const output = byId("copied");
  output.hidden = false;
  try {
    output.textContent = AS_TEXT[language](location.origin + facts.path, currentKey() || SAMPLE_KEY, facts.method === "GET" ? undefined : body());
    await navigator.clipboard?.writeText(output.textContent);
  } catch (error) {
    output.textContent = error.message;
  }
}

let waiting;
function changed() {
  if (!byId("automatic").checked) return;
  clearTimeout(waiting);
  waiting = setTimeout(compute, 400);
}

for (const slider of form.querySelectorAll(".slider")) {
  const number = slider.previousElementSibling;
  slider.addEventListener("input", () => {
    number.value = slider.value;
    changed();
  });
  number.addEventListener("input", () => {
    slider.value = number.value;
  });
}
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  compute();
});
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));
byId("guest").hidden = facts.credits > 0;
byId("guest").addEventListener("click", () => makeGuestKey().catch((error) => tellFault(byId("result"), error)));
byId("compute").disabled = false;
prepareSweep();
