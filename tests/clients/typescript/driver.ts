// From a registration to a price, a typed 422 and the usage, by the client of hey-api.

import { readdirSync, readFileSync } from "node:fs";
import { env, exit } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

import { client } from "./generated/client.gen.js";
import { getUsage, priceEuropeanOption, registerAccount, verifyRegistration } from "./generated/sdk.gen.js";

function check(holds: boolean, found: unknown): asserts holds {
  if (!holds) {
    console.error("unexpected:", found);
    exit(1);
  }
}

// Waits for the newest e-mail to an address and returns its code of six digits.
async function codeFor(address: string): Promise<string> {
  const folder = env["MAIL"] ?? ".";
  for (let attempt = 0; attempt < 200; attempt += 1) {
    for (const name of readdirSync(folder).sort().reverse()) {
      const text = readFileSync(`${folder}/${name}`, "utf8");
      const code = /^ {4}(\d{6})\s*$/m.exec(text)?.[1];
      if (text.includes(`To: ${address}`) && code !== undefined) return code;
    }
    await sleep(100);
  }
  throw new Error(`no e-mail to ${address} has a code`);
}

const email = "typescript@example.com";
client.setConfig({ baseUrl: env["URL"] ?? "" });
const account = { username: "typescript", email, password: "a long and private sentence" };
const registered = await registerAccount({ body: account });
check(registered.data !== undefined, registered.error);
const signedIn = await verifyRegistration({ body: { email, otp: await codeFor(email) } });
check(signedIn.data !== undefined, signedIn.error);
const key = signedIn.data.data.api_key;
client.setConfig({ auth: key });

const option = { spot: 42, strike: 40, risk_free_rate: 0.1, volatility: 0.2, time_to_maturity: 0.5 };
const headers = { "Idempotency-Key": "first" };
const answer = await priceEuropeanOption({ body: option, headers });
check(answer.data !== undefined, answer.error);
check(Math.abs(answer.data.data.price - 4.76) < 0.005, answer.data);

const refused = await priceEuropeanOption({ body: { ...option, strike: 41 }, headers });
check(refused.error !== undefined && refused.response?.status === 422, refused);
// The 422 has a list of faults, and every other refusal a text.
check(typeof refused.error.detail !== "string", refused.error);
const fault = refused.error.detail[0];
check(fault?.type === "value_error.idempotency_key", fault);
check(fault.loc.join(".") === "header.Idempotency-Key", fault);

client.setConfig({ auth: "fk_user_unknown" });
const unknown = await priceEuropeanOption({ body: option });
check(unknown.error?.detail === "Invalid API key", unknown.error);

client.setConfig({ auth: key });
const usage = await getUsage();
check(usage.data !== undefined, usage.error);
check(usage.data.data.summary.total_credits_used === 5, usage.data);
console.log(`a price of ${answer.data.data.price}, ${usage.data.data.account.credit_balance} credits left`);
