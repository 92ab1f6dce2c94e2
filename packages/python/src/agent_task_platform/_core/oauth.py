"""The authorization code flow with PKCE, without input and output (RFC 6749, RFC 7636, RFC 9207)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit, urlunsplit

from ..errors import OAuthError

EARLY = 60.0
"""A token is renewed this many seconds before it expires."""
LOOKS, LOOK = 100, 0.1
"""How often, and after which pause, a process looks for the pair of another one that has refreshed first: for 10 s, in which the
server takes its repeat for a race."""


@dataclass(frozen=True)
class Tokens:
    """A pair of tokens, as a store keeps it. It is secret."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    expires_at: float
    """When the access token expires, in Unix seconds."""
    verifier: str | None = field(default=None, repr=False)
    """The verifier of PKCE, which refreshes of an app with a secret need."""


@dataclass(frozen=True)
class Begun:
    """An authorization that has begun. Keep it, for example in the user's session, until the user comes back."""

    url: str
    """Send the user's browser here."""
    state: str
    verifier: str = field(repr=False)


def begun_at(endpoint: str, client_id: str, redirect_uri: str) -> Begun:
    verifier = secrets.token_urlsafe(32)
    state = secrets.token_hex(16)
    digest = hashlib.sha256(verifier.encode()).digest()
    fields = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    parts = urlsplit(endpoint)
    query = "&".join(filter(None, [parts.query, urlencode(fields)]))
    return Begun(urlunsplit(parts._replace(query=query)), state, verifier)


def answer_in(callback: str, state: str) -> dict[str, str]:
    """The fields of the address to which the user came back."""
    answer = {name: values[0] for name, values in parse_qs(urlsplit(callback).query, keep_blank_values=True).items()}
    if not secrets.compare_digest(answer.get("state", "").encode(), state.encode()):
        raise OAuthError("invalid_state", "the state differs: another authorization was begun")
    return answer


def code_in(answer: Mapping[str, str], issuer: str, metadata: Mapping[str, Any]) -> str:
    # RFC 9207 2.4
    if (metadata.get("authorization_response_iss_parameter_supported") or "iss" in answer) and answer.get("iss") != issuer:
        raise OAuthError("invalid_issuer", "the answer comes from another server")
    if "error" in answer:
        raise OAuthError(answer["error"], answer.get("error_description", answer["error"]))
    return answer.get("code", "")


def basic(client_id: str, client_secret: str) -> str:
    pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def tokens_in(status: int, answer: Any, now: float, verifier: str | None) -> Tokens:
    body = answer if isinstance(answer, dict) else {}
    if status >= 300:
        raise OAuthError(str(body.get("error", "server_error")), str(body.get("error_description", f"HTTP {status}")))
    return Tokens(str(body["access_token"]), str(body["refresh_token"]), now + float(body["expires_in"]), verifier)
