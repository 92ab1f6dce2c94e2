"""The events of a task."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from .._core.events import WatchEvent


class AsyncTaskStream:
    """Iterate over the events, once."""

    def __init__(self, events: AsyncGenerator[WatchEvent, None]) -> None:
        self._events = events
        self._text: str | None = None

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self

    async def __anext__(self) -> WatchEvent:
        event = await self._events.__anext__()
        if event["type"] == "assistant_message":
            self._text = event["assistant_message"]["content"]
        return event

    async def final_text(self) -> str | None:
        """The agent's last message of the events in this stream; reads the rest first. None without a message."""
        async for _ in self:
            pass
        return self._text

    async def aclose(self) -> None:
        """Ends the stream before its end."""
        await self._events.aclose()
