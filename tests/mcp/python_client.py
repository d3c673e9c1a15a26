"""The official Python SDK with its OAuth client, in each era: discovery, registration, sign-in and
consent, token, tools, call, result, refresh, reuse, revocation.

    python python_client.py http://127.0.0.1:8080 EMAIL PASSWORD
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp import Client, MCPError
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

BASE, EMAIL, PASSWORD = sys.argv[1:4]
REDIRECT = "http://127.0.0.1:4711/callback"
OPTION = {
    "option_type": "call", "spot": 42, "strike": 40, "time_to_maturity": 0.5,
    "risk_free_rate": 0.1, "volatility": 0.2,
}  # fmt: skip

# The tools that no computation stands behind; the FREE computations are listed beside them.
CORE = {"search_tools", "describe_tool", "call_tool", "call_tools", "read_result"}


class Storage:
    """The state that a host keeps between calls."""

    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def provider(storage):
    url = {}

    async def redirect(address):
        url["address"] = address

    async def callback():
        person = Path(__file__).with_name("authorize.mjs")
        command = ["node", person, url["address"], REDIRECT, EMAIL, PASSWORD]
        back = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        query = {name: values[0] for name, values in parse_qs(urlparse(back).query).items()}
        return AuthorizationCodeResult(code=query["code"], state=query["state"], iss=query["iss"])

    metadata = OAuthClientMetadata(
        client_name="A Python host",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(f"{BASE}/mcp", metadata, storage, redirect, callback)


async def run(mode, version):
    storage = Storage()
    async with create_mcp_http_client(auth=provider(storage)) as http:
        transport = streamable_http_client(f"{BASE}/mcp?toolsets=all", http_client=http)
        async with Client(transport, mode=mode) as client:
            assert client.protocol_version == version, client.protocol_version
            assert client.server_info.name == "svc"
            tools = (await client.list_tools()).tools
            assert len(tools) > 15
            priced = await client.call_tool("price_european_option", OPTION)
            assert abs(priced.structured_content["price"] - 4.76) < 0.005
            for tool in tools:
                for example in tool.input_schema.get("examples", [])[:1]:
                    result = await client.call_tool(tool.name, example)
                    assert not result.is_error, (tool.name, result)
            wrong = await client.call_tool("price_european_option", {"spot": 42})
            assert wrong.is_error and "strike: field required" in wrong.content[0].text
            try:
                await client.call_tool("unheard_of", {})
                raise AssertionError("an unknown tool was called")
            except MCPError as error:
                assert error.code == -32602, error
            read = await client.read_resource(priced.meta["result"])
            assert json.loads(read.contents[0].text)["data"] == priced.structured_content

    # An expired access token, which the provider refreshes, or replaces by a new sign-in.
    before = storage.tokens
    storage.tokens = before.model_copy(update={"access_token": "A" * 43})
    async with create_mcp_http_client(auth=provider(storage)) as http:
        transport = streamable_http_client(f"{BASE}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            core = {tool.name for tool in (await client.list_tools()).tools}
            assert CORE < core < {tool.name for tool in tools}, core
    async with httpx2.AsyncClient() as http:
        client_id = storage.client.client_id

        async def refresh(token):
            form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client_id}
            return await http.post(f"{BASE}/oauth/token", data=form)

        # The second use of a refresh token ends the grant.
        used = storage.tokens.refresh_token
        fresh = await refresh(used)
        assert fresh.status_code == 200, fresh.text
        assert (await refresh(used)).json()["error"] == "invalid_grant"
        assert (await refresh(fresh.json()["refresh_token"])).status_code == 400
        form = {"token": "A" * 43, "client_id": client_id}
        assert (await http.post(f"{BASE}/oauth/revoke", data=form)).status_code == 200
    print(f"{mode}: {len(tools)} tools, every example called, as {version}")


async def main():
    await run("legacy", "2025-11-25")
    await run("auto", "2026-07-28")


asyncio.run(main())
