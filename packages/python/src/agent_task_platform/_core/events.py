"""Reads server-sent events, and puts the parts of texts together."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeAlias, cast

from ..errors import refusal_in
from ..types.v2 import ListenerDelivery, ListenerLoss, TaskEvent, TextDelta, WebhookListener

# The most characters of one event: more than the largest event of a task, so that a faulty server cannot fill the memory.
_LONGEST = 64 * 1024 * 1024
_BLANK_LINE = re.compile(r"\r?\n\r?\n")


@dataclass(frozen=True)
class ServerSentEvent:
    event: str
    data: str


class EventParser:
    """Takes bytes, and returns the events that are complete. Comments are left out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parts: list[str] = []
        self._size = 0

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        text = self._decoder.decode(data)
        self._size += len(text)
        if self._size > _LONGEST:
            raise ValueError("an event of the stream is too long")
        self._parts.append(text)
        # A blank line can begin in the part before.
        if "\n" not in text:
            return []
        *blocks, rest = _BLANK_LINE.split("".join(self._parts))
        self._parts, self._size = [rest], len(rest)
        return [event for event in map(_parse, blocks) if event is not None]


def _parse(block: str) -> ServerSentEvent | None:
    fields: dict[str, list[str]] = {}
    for line in re.split(r"\r?\n", block):
        name, _, value = line.partition(":")
        if name:
            fields.setdefault(name, []).append(value.removeprefix(" "))
    if "data" not in fields:
        return None
    return ServerSentEvent(fields.get("event", ["message"])[-1], "\n".join(fields["data"]))


class TextDeltaEvent(TypedDict):
    """A part of a message that the agent writes now, with the text so far. The event that follows has the complete text."""

    type: Literal["text_delta"]
    delta: TextDelta
    text: str
    """The text of the message as far as it is written."""


WatchEvent: TypeAlias = TaskEvent | TextDeltaEvent
"""What a watch yields: the events of the task, and with `deltas` the text that the agent writes now. `type` says which."""


def _units(text: str) -> int:
    """Length in UTF-16 units, in which the server counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class LiveText:
    """Puts deltas together. It drops the text as the schema says (`TextDelta`)."""

    def __init__(self) -> None:
        self._delta: TextDelta | None = None
        self._text = ""
        self._length = 0

    def add(self, delta: TextDelta) -> str | None:
        """The text with this part; None when the parts before it are missing."""
        last = self._delta
        if last and delta["attempt"] < last["attempt"]:
            return None
        follows = last is not None and last["message_key"] == delta["message_key"] and last["attempt"] == delta["attempt"]
        before, length = (self._text, self._length) if follows else ("", 0)
        self._delta = delta
        if delta["offset"] not in (0, length):
            self._text, self._length = "", 0
        elif delta["offset"] == length:
            self._text, self._length = before + delta["text"], length + _units(delta["text"])
        else:
            self._text, self._length = delta["text"], _units(delta["text"])
        return self._text or None

    def end(self, event: TaskEvent) -> None:
        """The event has the complete text, or ends the turn."""
        if event["type"] == "status_update" or (self._delta and event["type"] == self._delta["type"]):
            self._text, self._length = "", 0


class WatchReader:
    """Reads the events of one connection after the other. `has_ended` says whether the server has ended the stream."""

    def __init__(self) -> None:
        self.has_ended = False
        self._live = LiveText()
        self._parser = EventParser()

    def begin(self) -> None:
        """Another connection: what was incomplete is sent again."""
        self._parser = EventParser()

    def feed(self, data: bytes) -> Iterator[WatchEvent]:
        """The events in these bytes; a refusal comes after the events before it."""
        for each in self._parser.feed(data):
            event = self._read(each)
            if event is not None:
                yield event

    def _read(self, event: ServerSentEvent) -> WatchEvent | None:
        value: Any = json.loads(event.data)
        if event.event == "end":
            if value.get("ok") is not True:
                raise refusal_in(value, status=0, operation="task.watch")
            self.has_ended = True
            return None
        if event.event == "text_delta":
            text = self._live.add(value)
            return None if text is None else {"type": "text_delta", "delta": value, "text": text}
        self._live.end(value)
        return cast(TaskEvent, value)


class ListenerStarted(WebhookListener):
    """The listener with its secret: the first that a listener yields."""

    type: Literal["listener"]


class ListenerDelivered(ListenerDelivery):
    """One event, as a request to a webhook has it."""

    type: Literal["delivery"]


class ListenerDropped(ListenerLoss):
    """`count` events were dropped since the listener was created, because 100 events waited."""

    type: Literal["dropped"]


ListenEvent: TypeAlias = ListenerStarted | ListenerDelivered | ListenerDropped
"""What a listener yields. `type` says which."""

WebhookEventType: TypeAlias = Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]


class ListenReader:
    """Reads the events of a listener. `has_ended` says whether the server has ended the stream."""

    def __init__(self) -> None:
        self.has_ended = False
        self._parser = EventParser()

    def feed(self, data: bytes) -> Iterator[ListenEvent]:
        """The events in these bytes, without those of types that this release does not know."""
        for event in self._parser.feed(data):
            value: Any = json.loads(event.data)
            if event.event in ("listener", "delivery", "dropped"):
                yield cast(ListenEvent, {"type": event.event, **value})
            elif event.event == "end":
                if value.get("ok") is not True:
                    raise refusal_in(value, status=0, operation="webhook.listen")
                self.has_ended = True
