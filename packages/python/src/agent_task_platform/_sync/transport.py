# Made from _async/transport.py by `node scripts/client-types.ts --write`.
"""Sends requests of one client."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Callable, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

import httpx

from .._core import policy
from .._core.changes import envelope
from .._core.log import LOG, set_up_log
from .._core.policy import CallOptions, Outgoing
from ..errors import ApiTimeoutError
from . import backend


class TokenSource(Protocol):
    """Supplies access tokens."""

    def token(self) -> str: ...

    def refresh(self, refused: str) -> str:
        """Another token, after the server has refused this one."""
        ...


class Transport:
    """Raises ApiError and ApiConnectionError from every call."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None = None,
        token: str | TokenSource | None = None,
        timeout: float = 75,
        retries: int | None = 4,
        max_retry_after: float = 60,
        strict: bool = False,
        on_warning: Callable[[list[str], str], None] | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = backend.sleep,
        longest_pause: float = policy.LONGEST_PAUSE,
        calls_max: int | None = None,
    ) -> None:
        """`calls_max` bounds the calls at the same time, except for those that the server holds."""
        set_up_log()
        self.base_url = policy.base_url_of(base_url)
        self.sleep = sleep
        self.http = http_client or httpx.Client()
        self._owns_http = http_client is None
        self._key = os.environ.get("ATP_KEY") if api_key is None else api_key
        self._token = token
        self._timeout = timeout
        self._retries = retries
        self._max_retry_after = max_retry_after
        self._on_warning = on_warning
        self._headers = {"content-type": "application/json", **({"prefer": "handling=strict"} if strict else {}), **(headers or {})}
        self._longest_pause = longest_pause
        self.places: Any = nullcontext() if calls_max is None else backend.Semaphore(calls_max)

    def close(self) -> None:
        if self._owns_http:
            self.http.close()

    def send(self, request: Outgoing, options: CallOptions | None = None) -> dict[str, Any]:
        """The JSON of the answer, which has the form that the schema states."""
        options = options or {}
        headers = {**policy.idempotency_header(request, options), **options.get("headers", {})}
        retries = options.get("retries", self._retries)
        timeout = options.get("timeout", self._timeout)
        places = nullcontext() if policy.is_held(request.body) else self.places
        tried = 0
        while True:
            try:
                with places:
                    return self._once(request, headers, timeout, options.get("on_response"))
            except Exception as error:
                self._pause_before(tried, retries, error, request.operation)
            tried += 1

    def _once(
        self,
        request: Outgoing,
        headers: Mapping[str, str],
        timeout: float,
        on_response: Callable[[httpx.Response], None] | None,
    ) -> dict[str, Any]:
        begun = time.monotonic()
        with self.open(request, headers, timeout) as reply:
            text = self.read(reply, request.operation, timeout)
        id = reply.headers.get("x-request-id", "no request id")
        LOG.debug("%s: HTTP %d in %.0f ms, %s", request.operation, reply.status_code, (time.monotonic() - begun) * 1000, id)
        if not reply.is_success:
            raise policy.refusal_of(reply, text, request.operation)
        body = policy.answer_of(text, request.operation)
        warnings = policy.warnings_in(body)
        if warnings and self._on_warning is not None:
            self._on_warning(warnings, request.operation)
        if on_response is not None:
            on_response(reply)
        return body

    def _pause_before(self, tried: int, retries: int | None, error: Exception, operation: str) -> None:
        """Waits before the next attempt. Raises the error when there is no next one; `retries` None has no end."""
        after = policy.retry_after_of(error)
        is_last = retries is not None and tried >= retries
        if is_last or not policy.is_transient(error) or (after or 0) > self._max_retry_after:
            raise error
        pause = policy.backoff(tried, self._longest_pause) if after is None else after
        LOG.info("%s: repeated in %.1f s, after %s", operation, pause, getattr(error, "code", type(error).__name__))
        self.sleep(pause)

    @contextmanager
    def open(self, request: Outgoing, headers: Mapping[str, str], timeout: float) -> Iterator[httpx.Response]:
        """One attempt, with one refresh of a token that the server refuses. The body of the answer is not read yet."""
        try:
            token = self._token if self._token is None or isinstance(self._token, str) else self._token.token()
            reply = self._post(request, headers, timeout, token)
            if reply.status_code == 401 and self._token is not None and not isinstance(self._token, str):
                reply.close()
                reply = self._post(request, headers, timeout, self._token.refresh(str(token)))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise policy.connection_error(error, request.operation, timeout) from error
        try:
            yield reply
        except httpx.HTTPError as error:
            raise policy.connection_error(error, request.operation, timeout) from error
        finally:
            reply.close()

    def _post(self, request: Outgoing, headers: Mapping[str, str], timeout: float, token: str | None) -> httpx.Response:
        auth = {"x-service-api-key": self._key} if self._key else {}
        if token is not None:
            auth = {"authorization": f"Bearer {token}"}
        content = policy.encoded(request.body)
        form = {"content-type": "application/connect+json"} if request.is_stream else {}
        sent = self.http.build_request(
            "POST",
            f"{self.base_url}{request.path}",
            content=envelope(content) if request.is_stream else content,
            headers={**self._headers, **auth, **headers, **form},
            timeout=timeout,
        )
        return self.http.send(sent, stream=True, follow_redirects=False)

    def read(self, reply: httpx.Response, operation: str, timeout: float) -> bytes:
        """The whole body; httpx itself limits the time between two parts only."""
        until = time.monotonic() + timeout
        parts: list[bytes] = []
        for part in reply.iter_bytes():
            parts.append(part)
            if time.monotonic() > until:
                raise ApiTimeoutError(f"no answer within {timeout:g} s: {operation}")
        return b"".join(parts)
