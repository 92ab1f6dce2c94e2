# Made from _async/listen.py by `node scripts/client-types.ts --write`.
"""Receives webhook events over a stream instead of at an address. A lost connection ends the listener."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._core import policy
from .._core.events import ListenEvent, ListenReader, WebhookEventType
from .._core.policy import Outgoing, present
from ..errors import ApiConnectionError
from .transport import Transport

# The server sends a comment after 10 s of silence: after 30 s the connection counts as lost.
_SILENCE = 30.0


def listen(
    http: Transport, *, event_types: Sequence[WebhookEventType] | None = None, project_id: str | None = None
) -> Iterator[ListenEvent]:
    body = present({"event_types": event_types, "project_id": project_id})
    request = Outgoing("webhook.listen", "/v2/webhook.listen", body, False)
    reader = ListenReader()
    with http.open(request, {}, _SILENCE) as reply:
        if not reply.is_success:
            raise policy.refusal_of(reply, http.read(reply, "webhook.listen", _SILENCE), "webhook.listen")
        for part in reply.iter_bytes():
            for event in reader.feed(part):
                yield event
            if reader.has_ended:
                return
    raise ApiConnectionError("the stream was cut: webhook.listen")
