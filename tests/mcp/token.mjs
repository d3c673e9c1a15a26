// An access token by registration, sign-in, consent and exchange, for programs without OAuth.
//
//   node token.mjs http://127.0.0.1:8080 EMAIL PASSWORD    prints the token
import { createHash, randomBytes } from "node:crypto";
import { authorize } from "./authorize.mjs";

const [base, email, password] = process.argv.slice(2);
const redirect_uri = "http://127.0.0.1:4711/callback";
const json = async (answer) => {
  if (!answer.ok) throw new Error(`${answer.status} at ${answer.url}: ${await answer.text()}`);
  return answer.json();
};

const { client_id } = await json(await fetch(`${base}/oauth/register`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ client_name: "A token's holder", redirect_uris: [redirect_uri] }),
}));
const code_verifier = randomBytes(32).toString("base64url");
const question = new URLSearchParams({
  response_type: "code", client_id, redirect_uri, scope: "mcp", resource: `${base}/mcp`,
  code_challenge: createHash("sha256").update(code_verifier).digest("base64url"),
  code_challenge_method: "S256",
});
const back = await authorize(`${base}/oauth/authorize?${question}`, redirect_uri, { email, password });
const code = back.searchParams.get("code");
const tokens = await json(await fetch(`${base}/oauth/token`, {
  method: "POST",
  body: new URLSearchParams({ grant_type: "authorization_code", code, client_id, redirect_uri, code_verifier }),
}));
console.log(tokens.access_token);
