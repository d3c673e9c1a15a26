"""The sign-in with Authlib, the OAuth client that Python programs use most: server metadata, registration, code with
PKCE, a tool, refresh, reuse, revocation.

    python authlib_client.py http://127.0.0.1:8080 EMAIL PASSWORD
"""

import os
import subprocess
import sys
from pathlib import Path

import httpx2
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

BASE, EMAIL, PASSWORD = sys.argv[1:4]
REDIRECT = "http://127.0.0.1:4711/callback"
# Authlib asks for https, on the loopback too.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "true"


def discover():
    address = get_well_known_url(BASE, external=True)
    metadata = AuthorizationServerMetadata(httpx2.get(address).raise_for_status().json())
    metadata.validate()
    assert metadata["issuer"] == BASE
    return metadata


def register(metadata):
    wanted = {
        "client_name": "A program in Python", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
    }  # fmt: skip
    answer = httpx2.post(metadata["registration_endpoint"], json=wanted)
    assert answer.status_code == 201, answer.text
    assert "client_secret" not in answer.json()
    return answer.json()["client_id"]


def browse(address):
    """Signs in and consents; returns the address to which the browser is sent back."""
    person = Path(__file__).with_name("authorize.mjs")
    command = ["node", person, address, REDIRECT, EMAIL, PASSWORD]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def sign_in(metadata, client_id):
    client = OAuth2Client(
        client_id, token_endpoint_auth_method="none", revocation_endpoint_auth_method="none",
        scope="mcp", redirect_uri=REDIRECT, code_challenge_method="S256",
    )  # fmt: skip
    verifier = generate_token(48)
    address, state = client.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, resource=f"{BASE}/mcp"
    )
    # Authlib compares the state; the second use of the address is refused by the service.
    exchange = {"authorization_response": browse(address), "code_verifier": verifier, "state": state}
    client.fetch_token(metadata["token_endpoint"], **exchange)
    return client, exchange


def call(client):
    """The answer to a call of a FREE tool, sent by a client that adds its token."""
    params = {"name": "add_tenor_to_date", "arguments": {"start_date": "2024-01-31", "tenor": "1M"}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return client.post(f"{BASE}/mcp", json=message, headers=headers)


def works(client):
    answer = call(client)
    return answer.status_code == 200 and answer.json()["result"]["structuredContent"]["result_date"] == "2024-02-29"


def is_refused(grant):
    try:
        grant()
    except OAuthError as error:
        return error.error == "invalid_grant"
    return False


def main():
    metadata = discover()
    client_id = register(metadata)
    client, exchange = sign_in(metadata, client_id)
    assert works(client)

    token_endpoint, used = metadata["token_endpoint"], client.token["refresh_token"]
    client.refresh_token(token_endpoint, refresh_token=used)
    fresh = client.token["refresh_token"]
    assert fresh != used and works(client)
    assert is_refused(lambda: client.refresh_token(token_endpoint, refresh_token=used))
    assert is_refused(lambda: client.refresh_token(token_endpoint, refresh_token=fresh)), "the reuse ended the grant"
    assert call(client).status_code == 401
    assert is_refused(lambda: client.fetch_token(token_endpoint, **exchange))

    client, _ = sign_in(metadata, client_id)
    refresh_token = client.token["refresh_token"]
    answer = client.revoke_token(metadata["revocation_endpoint"], refresh_token, token_type_hint="refresh_token")
    assert answer.status_code == 200, answer.text
    assert call(client).status_code == 401
    assert is_refused(lambda: client.refresh_token(token_endpoint, refresh_token=refresh_token))
    print("Authlib: discovery, registration, code with PKCE, a tool, refresh, reuse refused, revocation")


main()
