# Made from _async/oauth.py by `node scripts/client-types.ts --write`.
"""OAuth for apps: authorization, refreshes that are safe in races, revocation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import httpx

from .._core import oauth, policy
from .._core.oauth import Begun, Tokens
from ..errors import ApiConnectionError, OAuthError
from . import backend


class TokenStore(Protocol):
    """Keeps the tokens of one user.

    Several processes may share a store: one of them refreshes, and the others read what it has saved. `save` must have stored the
    pair when it returns.
    """

    def load(self) -> Tokens | None: ...

    def save(self, tokens: Tokens | None) -> None: ...


class MemoryStore:
    """A store in the memory of this process."""

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = tokens

    def load(self) -> Tokens | None:
        return self._tokens

    def save(self, tokens: Tokens | None) -> None:
        self._tokens = tokens


class OAuthClient:
    """The authorization code flow with PKCE for one app."""

    def __init__(
        self,
        *,
        issuer: str,
        client_id: str,
        redirect_uri: str,
        client_secret: str | None = None,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = backend.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        """issuer: address of the installation; its metadata has the endpoints.
        client_secret: only on servers: a program on a user's machine has none.
        http_client: replaces the client of httpx. It is not closed.
        sleep, now: for tests; the present time in Unix seconds.
        """
        self._issuer = issuer.rstrip("/")
        self._client_id = client_id
        self._redirect_uri = redirect_uri
        self._secret = client_secret
        self._http = http_client or httpx.Client()
        self._owns_http = http_client is None
        self._sleep = sleep
        self._now = now
        self._known: Mapping[str, Any] | None = None

    def close(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            self._http.close()

    def begin(self) -> Begun:
        """Begins an authorization."""
        metadata = self._metadata()
        return oauth.begun_at(metadata["authorization_endpoint"], self._client_id, self._redirect_uri)

    def finish(self, callback: str, begun: Begun) -> Tokens:
        """Exchanges the code in the address to which the user came back.

        Raises OAuthError when the user refused, or the state differs.
        """
        answer = oauth.answer_in(callback, begun.state)
        code = oauth.code_in(answer, self._issuer, self._metadata())
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": begun.verifier,
        }
        return self._tokens_by(fields, begun.verifier if self._secret else None)

    def source(self, store: TokenStore) -> StoredTokens:
        """Supplies tokens of a store to a client, and refreshes them once however many calls need it."""
        return StoredTokens(self, store)

    def revoke(self, store: TokenStore) -> None:
        """Ends the tokens, and removes them from the store."""
        stored = store.load()
        if stored is None:
            return
        endpoint = (self._metadata())["revocation_endpoint"]
        reply = self._post(endpoint, {"token": stored.refresh_token})
        if not reply.is_success:
            raise OAuthError("server_error", f"HTTP {reply.status_code}: the tokens are not revoked")
        store.save(None)

    def refresh(self, store: TokenStore, used: Tokens) -> Tokens:
        """One refresh. When another process was first, its pair is in the store soon."""
        fields = {"grant_type": "refresh_token", "refresh_token": used.refresh_token}
        if used.verifier:
            fields["code_verifier"] = used.verifier
        try:
            renewed = self._tokens_by(fields, used.verifier)
        except OAuthError as error:
            if error.code != "invalid_grant":
                raise
            for _ in range(oauth.LOOKS):
                stored = store.load()
                if stored and stored.refresh_token != used.refresh_token:
                    return stored
                self._sleep(oauth.LOOK)
            raise
        store.save(renewed)
        return renewed

    def _metadata(self) -> Mapping[str, Any]:
        if self._known is None:
            what = "metadata of the authorization server"
            reply = self._request("GET", f"{self._issuer}/.well-known/oauth-authorization-server", what)
            if not reply.is_success:
                raise ApiConnectionError(f"HTTP {reply.status_code}: {what}")
            found = policy.answer_of(reply.content, what)
            # RFC 8414 3.3: the endpoints, which get the secret, are those of this issuer.
            if found.get("issuer") != self._issuer:
                raise OAuthError("invalid_issuer", f"the metadata are those of {found.get('issuer')}")
            self._known = found
        return self._known

    def _tokens_by(self, fields: Mapping[str, str], verifier: str | None) -> Tokens:
        reply = self._post((self._metadata())["token_endpoint"], fields)
        return oauth.tokens_in(reply.status_code, policy.parsed(reply.content), self._now(), verifier)

    def _post(self, url: str, fields: Mapping[str, str]) -> httpx.Response:
        if self._secret:
            headers = {"authorization": oauth.basic(self._client_id, self._secret)}
            return self._request("POST", url, url, data=dict(fields), headers=headers)
        return self._request("POST", url, url, data={**fields, "client_id": self._client_id})

    def _request(self, method: str, url: str, what: str, **more: Any) -> httpx.Response:
        try:
            return self._http.request(method, url, timeout=30, follow_redirects=False, **more)
        except httpx.HTTPError as error:
            raise policy.connection_error(error, what, 30) from error


class StoredTokens:
    """A source of tokens for `Client`."""

    def __init__(self, client: OAuthClient, store: TokenStore) -> None:
        self._client = client
        self._store = store
        self._lock = backend.Lock()

    def token(self) -> str:
        stored = self._stored()
        if self._client._now() < stored.expires_at - oauth.EARLY:
            return stored.access_token
        return self.refresh(stored.access_token)

    def refresh(self, refused: str) -> str:
        """Renews the pair unless that was done while this call waited."""
        with self._lock:
            stored = self._stored()
            if stored.access_token != refused:
                return stored.access_token
            return (self._client.refresh(self._store, stored)).access_token

    def _stored(self) -> Tokens:
        stored = self._store.load()
        if stored is None:
            raise OAuthError("invalid_grant", "the store has no tokens: authorize first")
        return stored
