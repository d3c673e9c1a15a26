// A real OpenID Connect provider on the loopback: `node provider.mjs PORT CALLBACK`.
// Any name signs in, with the confirmed address NAME@example.com. A message of the parent process
// states how to spoil the next ID tokens, which are signed again with the provider's own key.
import { createSign, generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [port, callback] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const newKey = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const [privateKey, strangersKey] = [newKey(), newKey()];
const kid = `key-${Date.now()}`;
const key = { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
const provider = new Provider(issuer, {
  clients: [{
    client_id: "quant",
    client_secret: "a-secret-of-this-trial",
    redirect_uris: [callback],
    token_endpoint_auth_method: "client_secret_basic",
  }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["a key of this trial"] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: id }),
  }),
  jwks: { keys: [key] },
  pkce: { required: () => true },
});

let spoiled = {};
process.on("message", (message) => {
  spoiled = message;
  process.send("ready");
});

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const read = (part) => JSON.parse(Buffer.from(part, "base64url"));

function spoil(token) {
  const [header, claims] = token.split(".").slice(0, 2).map(read);
  const message = `${part({ ...header, ...spoiled.header })}.${part({ ...claims, ...spoiled.claims })}`;
  const signer = createSign("RSA-SHA256").update(message);
  return `${message}.${signer.sign(spoiled.strangersKey ? strangersKey : privateKey, "base64url")}`;
}

provider.use(async (context, next) => {
  if (context.path === "/token" && spoiled.dies) process.exit(0);
  await next();
  if (context.path === "/token" && context.body?.id_token) {
    if (spoiled.status) context.status = spoiled.status;
    context.body = { ...context.body, id_token: spoil(context.body.id_token) };
  }
});
provider.listen(Number(port), "127.0.0.1", () => process.send(`provider ${issuer} ${kid}`));
