"""Verifies deliveries of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, cast

from .errors import PlatformError


class SignatureError(PlatformError):
    """The delivery does not come from the platform, or is too old. Answer 400."""


class WebhookAttachment(TypedDict):
    """A file in a webhook's body; the link is valid for 7 days."""

    file_name: str
    url: str
    size_bytes: int


class TaskPart(TypedDict):
    task_id: str
    task_title: str
    task_url: str
    metadata: NotRequired[dict[str, str]]
    """Labels of the task; absent without any."""
    task_event_id: str
    """Id of the event in `task.listMessages`."""


class EndedTask(TaskPart):
    message: str


class WebhookOutput(TypedDict):
    success: bool
    value: Any
    error: str | None


class StoppedTask(EndedTask):
    stop_reason: Literal["finish", "ask"]
    attachments: list[WebhookAttachment]
    structured_output: NotRequired[WebhookOutput]


class Progress(TypedDict):
    task_id: str
    progress_type: str
    message: str
    """Title of the step."""
    metadata: NotRequired[dict[str, str]]


class TaskCreated(TypedDict):
    event_id: str
    """The same in every delivery of one event: ignore an id that you have already."""
    event_type: Literal["task_created"]
    task_detail: TaskPart


class TaskProgress(TypedDict):
    event_id: str
    event_type: Literal["task_progress"]
    progress_detail: Progress


class TaskStopped(TypedDict):
    event_id: str
    event_type: Literal["task_stopped"]
    task_detail: StoppedTask


class TaskFailed(TypedDict):
    event_id: str
    event_type: Literal["task_failed"]
    task_detail: EndedTask


class TaskCancelled(TypedDict):
    event_id: str
    event_type: Literal["task_cancelled"]
    task_detail: EndedTask


class WebhookTest(TypedDict):
    event_id: str
    event_type: Literal["webhook_test"]


class HeadersLike(Protocol):
    """Headers of a request: a dictionary, or what a web framework has, such as `email.message.Message`."""

    def items(self) -> Iterable[tuple[str, Any]]: ...


WebhookEvent: TypeAlias = TaskCreated | TaskProgress | TaskStopped | TaskFailed | TaskCancelled | WebhookTest
"""The body of a delivery. `event_type` says which. Later versions of the server may send other types: have an `else`."""


def construct_event(
    body: bytes | str,
    headers: HeadersLike,
    *,
    secret: str | Sequence[str] | None = None,
    ed25519_public_key: str | Sequence[str] | None = None,
    public_key: str | Sequence[str] | None = None,
    url: str | None = None,
    double_hash: bool = False,
    tolerance: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies a delivery by one of the keys, and returns its event. Raises SignatureError.

    body: the bytes as they arrived, before any parsing.
    headers: the headers of the request; names in any case.
    secret: the shared secret (`whsec_…`) of Standard Webhooks; several while it is rotated.
    ed25519_public_key: `ed25519_public_key` of `webhook.publicKey` (`whpk_…`), or those of `keys`. Needs the package `cryptography`.
    public_key: `public_key` of `webhook.publicKey`, or those of `keys`, for the platform's own signature; with `url`, exactly as it
        is registered. Needs the package `cryptography`.
    double_hash: the webhook signs the digest of the content.
    tolerance: largest difference to the present time in seconds.
    now: the present time in Unix seconds; for tests.
    """
    if [secret, ed25519_public_key, public_key].count(None) != 2 or (public_key is None) != (url is None):
        raise ValueError("give one of: secret, ed25519_public_key, or public_key with url")
    content = body.encode() if isinstance(body, str) else bytes(body)
    found = _headers_in(headers)
    timestamp = found.get("webhook-timestamp" if public_key is None else "x-webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{10}", timestamp):
        raise SignatureError("the delivery has no timestamp")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise SignatureError(f"the timestamp differs by more than {tolerance:g} s")
    signed = f"{found.get('webhook-id', '')}.{timestamp}.".encode() + content
    items = found.get("webhook-signature", "").split(" ")
    if secret is not None:
        fits = any([_fits_secret(each, signed, items) for each in _listed(secret)])
    elif ed25519_public_key is not None:
        fits = any([_fits_ed25519(each, signed, items) for each in _listed(ed25519_public_key)])
    else:
        text = f"{timestamp}.{url}.{hashlib.sha256(content).hexdigest()}".encode()
        signature = found.get("x-webhook-signature", "")
        content_signed = hashlib.sha256(text).digest() if double_hash else text
        fits = any([_fits_rsa(each, content_signed, signature) for each in _listed(public_key or [])])
    if not fits:
        raise SignatureError("the signature is not valid for this body and key")
    # The signature proves that the platform wrote the body.
    return cast(WebhookEvent, json.loads(content))


def _listed(keys: str | Sequence[str]) -> Sequence[str]:
    """A list has several keys while one is replaced."""
    return [keys] if isinstance(keys, str) else keys


def _headers_in(headers: HeadersLike) -> dict[str, str]:
    """A header that is repeated verifies nothing."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        found[key] = value if isinstance(value, str) and key not in found else ""
    return found


def _signatures(items: Sequence[str], scheme: str) -> list[bytes]:
    decoded = [_decoded(item.removeprefix(scheme)) for item in items if item.startswith(scheme)]
    return [each for each in decoded if each is not None]


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _fits_secret(secret: str, signed: bytes, items: Sequence[str]) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, signed, hashlib.sha256).digest()
    return any([hmac.compare_digest(mac, signature) for signature in _signatures(items, "v1,")])


def _fits_ed25519(public_key: str, signed: bytes, items: Sequence[str]) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    for signature in _signatures(items, "v1a,"):
        try:
            key.verify(signature, signed)
            return True
        except InvalidSignature:
            continue
    return False


def _fits_rsa(public_key: str, signed: bytes, text: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    signature = _decoded(text)
    key = load_pem_public_key(public_key.encode())
    if signature is None or not isinstance(key, RSAPublicKey):
        return False
    try:
        key.verify(signature, signed, PKCS1v15(), SHA256())
        return True
    except InvalidSignature:
        return False


def sign_test_event(event: WebhookEvent, *, secret: str, now: float | None = None) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of an event as the platform sends it, signed by a shared secret: for tests of a receiver.

    secret: `whsec_…`, any in a test.
    now: time of the delivery in Unix seconds; give `construct_event` the same. Default: now.
    """
    body = json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
    timestamp = str(int(time.time() if now is None else now))
    signed = f"{event['event_id']}.{timestamp}.".encode() + body
    mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return body, {
        "content-type": "application/json",
        "webhook-id": event["event_id"],
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(mac).decode()}",
    }
