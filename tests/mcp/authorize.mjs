// The part of a person with a browser, without scripts: follows redirects, keeps cookies, fills in
// the forms of sign-in and consent, and stops at the redirect to the client.

const attribute = (tag, name) => tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1];
const unescape = (text) =>
  text?.replace(/&#x?([0-9a-f]+);/gi, (all, n) =>
    String.fromCodePoint(parseInt(n, all[2].toLowerCase() === "x" ? 16 : 10)))
    .replace(/&quot;/g, '"').replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

// Returns a page's form as a browser would send it, with `answers` and the button of `label`.
function fill(page, answers, label) {
  const forms = page.match(/<form[\s\S]*?<\/form>/gi) ?? [];
  for (const form of forms) {
    const fields = new URLSearchParams();
    for (const input of form.match(/<input\b[^>]*>/gi) ?? []) {
      const name = attribute(input, "name");
      if (name) fields.set(name, answers[name] ?? unescape(attribute(input, "value")) ?? "");
    }
    const buttons = form.match(/<button[\s\S]*?<\/button>/gi) ?? [];
    const button = buttons.find((button) => label.test(button.replace(/<[^>]*>/g, "")));
    if (!button) continue;
    const name = attribute(button, "name");
    if (name) fields.set(name, unescape(attribute(button, "value")) ?? "");
    const action = unescape(attribute(form.match(/<form[^>]*>/i)[0], "action")) ?? "";
    return { action, fields };
  }
  throw new Error(`no form with a button ${label}:\n${page}`);
}

// Signs in and consents; returns the redirect to the client.
export async function authorize(url, redirectUri, { email, password }) {
  const cookies = new Map();
  const go = async (address, init = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...init.headers, ...(cookie && { cookie }) };
    const answer = await fetch(address, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(";");
      const at = pair.indexOf("=");
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
  let address = new URL(url);
  let answer = await go(address);
  for (let step = 0; step < 10; step += 1) {
    const location = answer.headers.get("location");
    if (location) {
      address = new URL(location, address);
      if (address.href.startsWith(redirectUri)) return address;
      answer = await go(address);
      continue;
    }
    const page = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} at ${address}:\n${page}`);
    const asksPassword = /type="password"/.test(page);
    const { action, fields } = fill(page, { email, password }, asksPassword ? /sign in|log in|continue/i : /allow/i);
    address = new URL(action, address);
    const origin = address.origin;
    const headers = { "content-type": "application/x-www-form-urlencoded", origin };
    answer = await go(address, { method: "POST", body: fields.toString(), headers });
  }
  throw new Error("the browser never came back to the client");
}

// `node authorize.mjs URL REDIRECT_URI EMAIL PASSWORD` prints the address, for other languages.
if (process.argv[1] === import.meta.filename) {
  const [url, redirectUri, email, password] = process.argv.slice(2);
  console.log((await authorize(url, redirectUri, { email, password })).href);
}
