# Made from _async/stream.py by `node scripts/client-types.ts --write`.
"""The events of a task."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from .._core.events import WatchEvent


class TaskStream:
    """Iterate over the events, once."""

    def __init__(self, events: Generator[WatchEvent, None, None]) -> None:
        self._events = events
        self._text: str | None = None

    def __iter__(self) -> Iterator[WatchEvent]:
        return self

    def __next__(self) -> WatchEvent:
        event = self._events.__next__()
        if event["type"] == "assistant_message":
            self._text = event["assistant_message"]["content"]
        return event

    def final_text(self) -> str | None:
        """The agent's last message of the events in this stream; reads the rest first. None without a message."""
        for _ in self:
            pass
        return self._text

    def close(self) -> None:
        """Ends the stream before its end."""
        self._events.close()
