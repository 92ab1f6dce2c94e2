"""What every call has, without input and output: settings, repeats, headers and answers."""

from __future__ import annotations

import json
import math
import os
import random
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import httpx

from ..errors import ApiConnectionError, ApiError, ApiTimeoutError, refusal_in


class CallOptions(TypedDict, total=False):
    """Settings of one call."""

    timeout: float
    """Seconds for one attempt."""
    retries: int
    """How often a failed call is repeated."""
    idempotency_key: str
    """Default: a new random key for each call that changes something; its repeats have the same key."""
    headers: Mapping[str, str]
    on_response: Callable[[httpx.Response], None]
    """Called with the answer after it was read: its headers have the request id (`x-request-id`)."""


@dataclass(frozen=True)
class Outgoing:
    """A request as the transport sends it."""

    operation: str
    """Name in errors, for example `task.create`."""
    path: str
    """Path below the base URL, for example `/v2/task.create`."""
    body: Mapping[str, Any]
    is_change: bool
    is_stream: bool = False
    """The body is a message of a stream of Connect."""


# Calls of a client at the same time, held waits among them; others wait. So a thousand waits need fewer than 30 connections.
CALLS_MAX = 28


_FIRST_PAUSE = 0.5
LONGEST_PAUSE = 20.0


def backoff(attempt: int, longest: float = LONGEST_PAUSE) -> float:
    """Seconds before an attempt: doubled each time, and shortened at random so that clients spread."""
    pause: float = min(longest, _FIRST_PAUSE * 2 ** min(attempt, 16))
    return pause * (0.5 + random.random() / 2)


def is_transient(error: BaseException) -> bool:
    """Whether a repeat can succeed. A used up quota stays used up; over Connect it has the code of a rate limit, but no `Retry-After`."""
    if isinstance(error, ApiConnectionError):
        return True
    if not isinstance(error, ApiError):
        return False
    is_limited = error.code == "rate_limited" or (error.status == 429 and error.retry_after is not None)
    return error.status == 408 or is_limited or error.code == "unavailable" or (error.status >= 500 and error.status != 501)


def retry_after_of(error: BaseException) -> float | None:
    return error.retry_after if isinstance(error, ApiError) else None


def base_url_of(url: str | None) -> str:
    """Raises ValueError without an address."""
    found = (url or os.environ.get("ATP_URL") or "").rstrip("/")
    if not found.startswith(("http://", "https://")):
        raise ValueError("base_url: must be an http or https address; or set ATP_URL")
    return found


def idempotency_header(request: Outgoing, options: CallOptions) -> dict[str, str]:
    if not request.is_change:
        return {}
    return {"idempotency-key": options.get("idempotency_key") or secrets.token_hex(16)}


def present(body: Mapping[str, Any]) -> dict[str, Any]:
    """The members that have a value: None means absent."""
    return {name: value for name, value in body.items() if value is not None}


def encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "surrogatepass")


def parsed(text: bytes) -> Any:
    """The JSON of an answer; None when it has none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def is_held(body: Mapping[str, Any]) -> bool:
    """Whether the server holds the call."""
    return bool(body.get("wait_seconds"))


def refusal_of(reply: httpx.Response, text: bytes, operation: str) -> ApiError:
    return refusal_in(
        parsed(text),
        status=reply.status_code,
        operation=operation,
        request_id=reply.headers.get("x-request-id"),
        retry_after=_seconds(reply.headers.get("retry-after")),
    )


def _seconds(text: str | None) -> float | None:
    try:
        after = float(text or "")
    except ValueError:
        return None
    return after if math.isfinite(after) and after >= 0 else None


def answer_of(text: bytes, operation: str) -> dict[str, Any]:
    body = parsed(text)
    if not isinstance(body, dict):
        raise ApiConnectionError(f"the answer is not complete: {operation}")
    return body


def warnings_in(body: Mapping[str, Any]) -> list[str]:
    warnings = body.get("warnings")
    return [str(each) for each in warnings] if isinstance(warnings, list) else []


def connection_error(error: Exception, operation: str, timeout: float | None = None) -> ApiConnectionError:
    """The error of this package for one of httpx."""
    if isinstance(error, httpx.TimeoutException):
        return ApiTimeoutError(f"no answer within {timeout:g} s: {operation}" if timeout else f"no answer in time: {operation}")
    return ApiConnectionError(f"no connection to the server ({error or type(error).__name__}): {operation}")
