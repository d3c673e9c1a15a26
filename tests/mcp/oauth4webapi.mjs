// The sign-in with oauth4webapi, a client that refuses every answer that a specification does not allow: resource and
// server metadata, registration, code with PKCE, a tool, refresh, reuse, revocation.
//
//   node oauth4webapi.mjs http://127.0.0.1:8080 EMAIL PASSWORD
import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { authorize } from "./authorize.mjs";

const [base, email, password] = process.argv.slice(2);
const redirectUri = "http://127.0.0.1:4711/callback";
const options = { [oauth.allowInsecureRequests]: true };
const resource = new URL(`${base}/mcp`);

async function discover() {
  const described = await oauth.resourceDiscoveryRequest(resource, options);
  const { authorization_servers } = await oauth.processResourceDiscoveryResponse(resource, described);
  const issuer = new URL(authorization_servers[0]);
  const metadata = await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" });
  return oauth.processDiscoveryResponse(issuer, metadata);
}

async function register(server) {
  const metadata = {
    client_name: "A strict client", redirect_uris: [redirectUri], token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
  };
  const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, options);
  return oauth.processDynamicClientRegistrationResponse(answer);
}

/** A sign-in up to the tokens. */
async function signIn(server, client) {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint);
  address.search = new URLSearchParams({
    client_id: client.client_id, redirect_uri: redirectUri, response_type: "code", scope: "mcp", state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256", resource: resource.href,
  });
  const back = await authorize(address, redirectUri, { email, password });
  // Compares the state, and the issuer by RFC 9207.
  const parameters = oauth.validateAuthResponse(server, client, back, state);
  const exchange = () => oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, redirectUri, verifier,
    { ...options, additionalParameters: { resource: resource.href } });
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, await exchange());
  return { tokens, exchange };
}

const refresh = async (server, client, token) =>
  oauth.processRefreshTokenResponse(server, client, await oauth.refreshTokenGrantRequest(server, client, oauth.None(), token, options));
const isInvalidGrant = (error) => error instanceof oauth.ResponseBodyError && error.error === "invalid_grant" && error.status === 400;

/** The answer to a call of a FREE tool. */
async function call(token) {
  const headers = new Headers({
    accept: "application/json, text/event-stream", "content-type": "application/json", "mcp-protocol-version": "2025-11-25",
  });
  const params = { name: "add_tenor_to_date", arguments: { start_date: "2024-01-31", tenor: "1M" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const answer = await oauth.protectedResourceRequest(token, "POST", resource, headers, body, options);
  return (await answer.json()).result.structuredContent.result_date;
}
const isRefused = (error) => error instanceof oauth.WWWAuthenticateChallengeError && error.status === 401;

const server = await discover();
const client = await register(server);
const { tokens, exchange } = await signIn(server, client);
assert.equal(await call(tokens.access_token), "2024-02-29");

const fresh = await refresh(server, client, tokens.refresh_token);
assert.notEqual(fresh.refresh_token, tokens.refresh_token, "it rotated");
assert.equal(await call(fresh.access_token), "2024-02-29");
await assert.rejects(refresh(server, client, tokens.refresh_token), isInvalidGrant);
await assert.rejects(refresh(server, client, fresh.refresh_token), isInvalidGrant, "the reuse ended the grant");
await assert.rejects(call(fresh.access_token), isRefused);
await assert.rejects(exchange().then((answer) => oauth.processAuthorizationCodeResponse(server, client, answer)), isInvalidGrant);

const { tokens: revoked } = await signIn(server, client);
const revocation = await oauth.revocationRequest(server, client, oauth.None(), revoked.refresh_token, options);
await oauth.processRevocationResponse(revocation);
await assert.rejects(call(revoked.access_token), isRefused);
await assert.rejects(refresh(server, client, revoked.refresh_token), isInvalidGrant);
console.log("oauth4webapi: discovery, registration, code with PKCE, a tool, refresh, reuse refused, revocation");
