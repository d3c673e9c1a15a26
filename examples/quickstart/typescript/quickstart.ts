// A price, the balance and a refusal, by the fetch of Node 22.18 or later.
//
// Usage: QUANT_KEY=fk_user_… node quickstart.ts

const url = process.env["QUANT_URL"] ?? "http://127.0.0.1:8080";
const key = process.env["QUANT_KEY"] ?? "";

interface Fault {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** A refusal: `detail` is a text, or for a 422 the list of all faults. A refusal costs nothing. */
class Refused extends Error {
  readonly status: number;
  readonly detail: string | Fault[];

  constructor(status: number, detail: string | Fault[]) {
    super(`${status}: ${JSON.stringify(detail)}`);
    this.status = status;
    this.detail = detail;
  }
}

/** Calls the service and returns the data of its answer. */
async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url + path, { method, headers, ...content });
  const { data, detail } = (await answer.json()) as { data: T; detail: string | Fault[] };
  if (!answer.ok) throw new Refused(answer.status, detail);
  return data;
}

const option = { spot: 42, strike: 40, risk_free_rate: 0.1, volatility: 0.2, time_to_maturity: 0.5 };
const { price } = await call<{ price: number }>("POST", "/quantlib/pricing/bs/price", option);
console.log("price:", price);
const { credit_balance } = await call<{ credit_balance: number }>("GET", "/user/profile");
console.log("balance:", credit_balance);
try {
  await call("POST", "/quantlib/pricing/bs/price", { ...option, volatility: -0.2 });
} catch (refused) {
  if (!(refused instanceof Refused) || typeof refused.detail === "string") throw refused;
  for (const fault of refused.detail) console.log("refused:", refused.status, fault.type, fault.loc, fault.msg);
}
