"""Errors of this package. Compare `code` and `status` of an `ApiError`; its message is for people and can change."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """One mistake in a request."""

    message: str
    """The rule, without the path."""
    param: str | None = None
    """Path of the member; None for a rule of the whole request."""


@dataclass(frozen=True)
class Refusal:
    """What a refusal says."""

    status: int
    """HTTP status; 0 for a refusal that ended an open stream."""
    code: str
    message: str
    operation: str
    """The operation that was called, for example `task.create`."""
    request_id: str | None = None
    """Id of the call; the server's log has it too."""
    param: str | None = None
    """Path of the member that breaks a rule, for example `message.content[2].file_url`."""
    warnings: tuple[str, ...] = ()
    """Warnings about members of the request that had no effect."""
    retry_after: float | None = None
    """Seconds after which the call can be repeated."""
    type: str | None = None
    """Name of the failure, finer than `code`, for example `insufficient_scope`. None over Connect."""
    doc_url: str | None = None
    """Address of a page of the server about this failure."""
    details: tuple[Mistake, ...] = field(default=())
    """All mistakes of the request, at most 20."""


class PlatformError(Exception):
    """An error of this package."""


class ApiError(PlatformError):
    """The server refused a call."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.status = refusal.status
        self.code = refusal.code
        self.message = refusal.message
        self.operation = refusal.operation
        self.request_id = refusal.request_id
        self.param = refusal.param
        self.warnings = refusal.warnings
        self.retry_after = refusal.retry_after
        self.type = refusal.type
        self.doc_url = refusal.doc_url
        self.details = refusal.details

    def __reduce__(self) -> tuple[type[ApiError], tuple[Refusal]]:
        return type(self), (self.refusal,)


class InvalidArgumentError(ApiError):
    """A member of the request breaks a rule; `param` names it."""


class AuthenticationError(ApiError):
    """The credential is missing, expired or revoked (401)."""


class PermissionDeniedError(ApiError):
    """The kind, role or scope of the credential does not allow the operation (403)."""


class NotFoundError(ApiError):
    """The object does not exist, or belongs to another account."""


class AlreadyExistsError(ApiError):
    """The name is taken, or the idempotency key was used for another request."""


class FailedPreconditionError(ApiError):
    """The object is in a state that does not allow the operation."""


class RateLimitedError(ApiError):
    """Too many calls in this minute; `retry_after` has the seconds."""


class ResourceExhaustedError(ApiError):
    """A quota, a budget or a maximum number is reached."""


class UnavailableError(ApiError):
    """The server is shutting down, or its database is not reachable."""


class ApiConnectionError(PlatformError):
    """No complete answer arrived."""


class ApiTimeoutError(ApiConnectionError):
    """The call, or a wait, took longer than its time limit."""


class TaskStateError(PlatformError):
    """The task is not in the state that the method needs, for example `result` of a task that waits for its user."""

    def __init__(self, task_id: str, status: str, message: str) -> None:
        super().__init__(message)
        self.task_id = task_id
        self.status = status


class OAuthError(PlatformError):
    """The authorization server refused. With `invalid_grant` the user must authorize again."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


_classes: dict[str, type[ApiError]] = {
    "invalid_argument": InvalidArgumentError,
    "unauthenticated": AuthenticationError,
    "permission_denied": PermissionDeniedError,
    "not_found": NotFoundError,
    "already_exists": AlreadyExistsError,
    "failed_precondition": FailedPreconditionError,
    "rate_limited": RateLimitedError,
    "resource_exhausted": ResourceExhaustedError,
    "unavailable": UnavailableError,
}


def refusal_in(
    body: Any, *, status: int, operation: str, request_id: str | None = None, retry_after: float | None = None
) -> ApiError:
    """Reads a refusal from the envelope of v2 (`error.code`) or the error of Connect (`code`)."""
    envelope: dict[str, Any] = body if isinstance(body, dict) else {}
    inner = envelope.get("error")
    error: dict[str, Any] = inner if isinstance(inner, dict) else envelope
    message = _text(error.get("message")) or f"HTTP {status}"
    named = re.match(r"([A-Za-z_][\w.\[\]]*): ", message)
    warnings = envelope.get("warnings")
    code = _text(error.get("code")) or _code_of(status)
    refusal = Refusal(
        status=status,
        code=code,
        message=message,
        operation=operation,
        request_id=request_id or _text(envelope.get("request_id")),
        param=_text(error.get("param")) or (named[1] if named else None),
        warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        retry_after=retry_after,
        type=_text(error.get("type")),
        doc_url=_text(error.get("doc_url")),
        details=_mistakes_in(error.get("details")),
    )
    # v2 answers 401 with the code `permission_denied`: the status decides.
    return _classes.get("unauthenticated" if status == 401 else code, ApiError)(refusal)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _mistakes_in(details: Any) -> tuple[Mistake, ...]:
    """The mistakes in v2's form; the details of Connect have another one."""
    found = [each for each in details if isinstance(each, dict)] if isinstance(details, list) else []
    return tuple(Mistake(each["message"], _text(each.get("param"))) for each in found if _text(each.get("message")) is not None)


def _code_of(status: int) -> str:
    """The code of an answer that has none: it comes from a proxy."""
    known = {401: "unauthenticated", 403: "permission_denied", 404: "not_found", 429: "rate_limited"}
    if status in (502, 503, 504):
        return "unavailable"
    return known.get(status, "invalid_argument" if status < 500 else "internal")
