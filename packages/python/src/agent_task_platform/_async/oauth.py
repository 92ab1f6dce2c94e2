"""OAuth for apps: authorization, refreshes that are safe in races, revocation."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import httpx

from .._core import oauth, policy
from .._core.oauth import Begun, Tokens
from ..errors import ApiConnectionError, OAuthError
from . import backend


class AsyncTokenStore(Protocol):
    """Keeps the tokens of one user.

    Several processes may share a store: one of them refreshes, and the others read what it has saved. `save` must have stored the
    pair when it returns.
    """

    async def load(self) -> Tokens | None: ...

    async def save(self, tokens: Tokens | None) -> None: ...


class AsyncMemoryStore:
    """A store in the memory of this process."""

    def __init__(self, tokens: Tokens | None = None) -> None:
        self._tokens = tokens

    async def load(self) -> Tokens | None:
        return self._tokens

    async def save(self, tokens: Tokens | None) -> None:
        self._tokens = tokens


class AsyncOAuthClient:
    """The authorization code flow with PKCE for one app."""

    def __init__(
        self,
        *,
        issuer: str,
        client_id: str,
        redirect_uri: str,
        client_secret: str | None = None,
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = backend.sleep,
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
        self._http = http_client or httpx.AsyncClient()
        self._owns_http = http_client is None
        self._sleep = sleep
        self._now = now
        self._known: Mapping[str, Any] | None = None

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._http.aclose()

    async def begin(self) -> Begun:
        """Begins an authorization."""
        metadata = await self._metadata()
        return oauth.begun_at(metadata["authorization_endpoint"], self._client_id, self._redirect_uri)

    async def finish(self, callback: str, begun: Begun) -> Tokens:
        """Exchanges the code in the address to which the user came back.

        Raises OAuthError when the user refused, or the state differs.
        """
        answer = oauth.answer_in(callback, begun.state)
        code = oauth.code_in(answer, self._issuer, await self._metadata())
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": begun.verifier,
        }
        return await self._tokens_by(fields, begun.verifier if self._secret else None)

    def source(self, store: AsyncTokenStore) -> AsyncStoredTokens:
        """Supplies tokens of a store to a client, and refreshes them once however many calls need it."""
        return AsyncStoredTokens(self, store)

    async def revoke(self, store: AsyncTokenStore) -> None:
        """Ends the tokens, and removes them from the store."""
        stored = await store.load()
        if stored is None:
            return
        endpoint = (await self._metadata())["revocation_endpoint"]
        reply = await self._post(endpoint, {"token": stored.refresh_token})
        if not reply.is_success:
            raise OAuthError("server_error", f"HTTP {reply.status_code}: the tokens are not revoked")
        await store.save(None)

    async def refresh(self, store: AsyncTokenStore, used: Tokens) -> Tokens:
        """One refresh. When another process was first, its pair is in the store soon."""
        fields = {"grant_type": "refresh_token", "refresh_token": used.refresh_token}
        if used.verifier:
            fields["code_verifier"] = used.verifier
        try:
            renewed = await self._tokens_by(fields, used.verifier)
        except OAuthError as error:
            if error.code != "invalid_grant":
                raise
            for _ in range(oauth.LOOKS):
                stored = await store.load()
                if stored and stored.refresh_token != used.refresh_token:
                    return stored
                await self._sleep(oauth.LOOK)
            raise
        await store.save(renewed)
        return renewed

    async def _metadata(self) -> Mapping[str, Any]:
        if self._known is None:
            what = "metadata of the authorization server"
            reply = await self._request("GET", f"{self._issuer}/.well-known/oauth-authorization-server", what)
            if not reply.is_success:
                raise ApiConnectionError(f"HTTP {reply.status_code}: {what}")
            found = policy.answer_of(reply.content, what)
            # RFC 8414 3.3: the endpoints, which get the secret, are those of this issuer.
            if found.get("issuer") != self._issuer:
                raise OAuthError("invalid_issuer", f"the metadata are those of {found.get('issuer')}")
            self._known = found
        return self._known

    async def _tokens_by(self, fields: Mapping[str, str], verifier: str | None) -> Tokens:
        reply = await self._post((await self._metadata())["token_endpoint"], fields)
        return oauth.tokens_in(reply.status_code, policy.parsed(reply.content), self._now(), verifier)

    async def _post(self, url: str, fields: Mapping[str, str]) -> httpx.Response:
        if self._secret:
            headers = {"authorization": oauth.basic(self._client_id, self._secret)}
            return await self._request("POST", url, url, data=dict(fields), headers=headers)
        return await self._request("POST", url, url, data={**fields, "client_id": self._client_id})

    async def _request(self, method: str, url: str, what: str, **more: Any) -> httpx.Response:
        try:
            return await self._http.request(method, url, timeout=30, follow_redirects=False, **more)
        except httpx.HTTPError as error:
            raise policy.connection_error(error, what, 30) from error


class AsyncStoredTokens:
    """A source of tokens for `AsyncClient`."""

    def __init__(self, client: AsyncOAuthClient, store: AsyncTokenStore) -> None:
        self._client = client
        self._store = store
        self._lock = backend.Lock()

    async def token(self) -> str:
        stored = await self._stored()
        if self._client._now() < stored.expires_at - oauth.EARLY:
            return stored.access_token
        return await self.refresh(stored.access_token)

    async def refresh(self, refused: str) -> str:
        """Renews the pair unless that was done while this call waited."""
        async with self._lock:
            stored = await self._stored()
            if stored.access_token != refused:
                return stored.access_token
            return (await self._client.refresh(self._store, stored)).access_token

    async def _stored(self) -> Tokens:
        stored = await self._store.load()
        if stored is None:
            raise OAuthError("invalid_grant", "the store has no tokens: authorize first")
        return stored
