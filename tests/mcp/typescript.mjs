// The official TypeScript client in each protocol generation: discovery, registration, sign-in and
// consent, token, tools, call, result, refresh, reuse, revocation.
//
//   node typescript.mjs http://127.0.0.1:8080 EMAIL PASSWORD
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { authorize } from "./authorize.mjs";

const [base, email, password] = process.argv.slice(2);
const redirectUri = "http://127.0.0.1:4711/callback";
const option = { option_type: "call", spot: 42, strike: 40, time_to_maturity: 0.5, risk_free_rate: 0.1, volatility: 0.2 };

// The state that a host keeps between calls.
class Keeper {
  get redirectUrl() { return redirectUri; }
  get clientMetadata() {
    return {
      client_name: "A host", redirect_uris: [redirectUri], token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
    };
  }
  state() { return "a state"; }
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  redirectToAuthorization(url) { this.url = url; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovered = state; }
  discoveryState() { return this.discovered; }
}

async function connect(keeper, mode) {
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp?toolsets=all`), { authProvider: keeper });
  const client = new Client({ name: "a-host", version: "1.0.0" }, { versionNegotiation: { mode } });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    return { transport };
  }
  return { client, transport };
}

async function signIn(keeper, mode) {
  const { client, transport } = await connect(keeper, mode);
  assert.equal(client, undefined, "nobody gets in without a token");
  assert.ok(keeper.client.client_id, "the host registered itself");
  const back = await authorize(keeper.url, redirectUri, { email, password });
  assert.equal(back.searchParams.get("state"), "a state");
  assert.equal(back.searchParams.get("iss"), base);
  await transport.finishAuth(back.searchParams);
}

const token = (body) =>
  fetch(`${base}/oauth/token`, { method: "POST", body: new URLSearchParams(body) });

async function run(mode, era) {
  const keeper = new Keeper();
  await signIn(keeper, mode);
  const { client } = await connect(keeper, mode);
  assert.equal(client.getServerVersion().name, "svc");
  assert.equal(client.getNegotiatedProtocolVersion(), era);

  const { tools } = await client.listTools();
  assert.ok(tools.length > 15, `${tools.length} tools`);
    // The client itself validates each result by the tool's output schema.
  const priced = await client.callTool({ name: "price_european_option", arguments: option });
  assert.ok(Math.abs(priced.structuredContent.price - 4.76) < 0.005, JSON.stringify(priced));
  assert.equal(priced._meta.credits.cost, 5);
  for (const tool of tools) {
    const example = tool.inputSchema.examples?.[0];
    if (!example) continue;
    const result = await client.callTool({ name: tool.name, arguments: example });
    assert.ok(!result.isError, `${tool.name}: ${JSON.stringify(result.content)}`);
  }
  for (const name of ["get_balance", "get_usage", "get_profile"]) {
    assert.ok(!(await client.callTool({ name, arguments: {} })).isError, name);
  }
  const wrong = await client.callTool({ name: "price_european_option", arguments: { spot: 42 } });
  assert.ok(wrong.isError && wrong.content[0].text.includes("strike: field required"));
  await assert.rejects(client.callTool({ name: "unheard_of", arguments: {} }));

  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates[0].uriTemplate, "svc://results/{id}");
  const read = await client.readResource({ uri: priced._meta.result });
  const envelope = JSON.parse(read.contents[0].text);
  assert.deepEqual(envelope.data, priced.structuredContent);
  await assert.rejects(client.readResource({ uri: "svc://results/none" }));

    // An expired access token, which the client refreshes.
  const before = keeper.kept;
  keeper.kept = { ...before, access_token: "A".repeat(43) };
  const again = await connect(keeper, mode);
  await again.client.listTools();
  assert.notEqual(keeper.kept.refresh_token, before.refresh_token, "it rotated");

    // The second use of the refresh token, which ends the grant.
  const client_id = keeper.client.client_id;
  const reuse = await token({ grant_type: "refresh_token", refresh_token: before.refresh_token, client_id });
  assert.equal(reuse.status, 400);
  assert.equal((await reuse.json()).error, "invalid_grant");
  const ended = await token({ grant_type: "refresh_token", refresh_token: keeper.kept.refresh_token, client_id });
  assert.equal(ended.status, 400);

    // A new grant, revoked by the client.
  const other = new Keeper();
  await signIn(other, mode);
  const revoked = await fetch(`${base}/oauth/revoke`, {
    method: "POST",
    body: new URLSearchParams({ token: other.kept.refresh_token, client_id: other.client.client_id }),
  });
  assert.equal(revoked.status, 200);
  const after = await token({ grant_type: "refresh_token", refresh_token: other.kept.refresh_token, client_id: other.client.client_id });
  assert.equal(after.status, 400);
  console.log(`${JSON.stringify(mode)}: ${tools.length} tools, every example called, as ${era}`);
}

await run("legacy", "2025-11-25");
await run("auto", "2026-07-28");
await run({ pin: "2026-07-28" }, "2026-07-28");
