"""Receives webhook events over a stream instead of at an address. A lost connection ends the listener."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from .._core import policy
from .._core.events import ListenEvent, ListenReader, WebhookEventType
from .._core.policy import Outgoing, present
from ..errors import ApiConnectionError
from .transport import AsyncTransport

# The server sends a comment after 10 s of silence: after 30 s the connection counts as lost.
_SILENCE = 30.0


async def listen(
    http: AsyncTransport, *, event_types: Sequence[WebhookEventType] | None = None, project_id: str | None = None
) -> AsyncIterator[ListenEvent]:
    body = present({"event_types": event_types, "project_id": project_id})
    request = Outgoing("webhook.listen", "/v2/webhook.listen", body, False)
    reader = ListenReader()
    async with http.open(request, {}, _SILENCE) as reply:
        if not reply.is_success:
            raise policy.refusal_of(reply, await http.read(reply, "webhook.listen", _SILENCE), "webhook.listen")
        async for part in reply.aiter_bytes():
            for event in reader.feed(part):
                yield event
            if reader.has_ended:
                return
    raise ApiConnectionError("the stream was cut: webhook.listen")
