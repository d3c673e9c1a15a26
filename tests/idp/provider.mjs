// A real OpenID Connect provider on the loopback: `node provider.mjs PORT CALLBACK`.
// Whoever types a name is that person, with the address NAME@example.com, confirmed.
import { generateKeyPairSync } from "node:crypto";
import Provider from "oidc-provider";

const [port, callback] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
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
provider.listen(Number(port), "127.0.0.1", () => console.log(`provider ${issuer} ${kid}`));
