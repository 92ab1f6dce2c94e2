"""Reads the stream of task changes: messages of Connect, each with flags and its length before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..errors import refusal_in

NAME = "task.v2.TaskService/WatchTasks"
# The last message of a stream (https://connectrpc.com/docs/protocol, "Streaming-Response").
_LAST = 2
_HEAD = 5


def envelope(message: bytes) -> bytes:
    return b"\0" + len(message).to_bytes(4, "big") + message


class ChangesReader:
    """Takes bytes, and yields the responses that are complete. Raises ApiError for a refusal."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        self._rest += data
        while len(self._rest) >= _HEAD:
            length = _HEAD + int.from_bytes(self._rest[1:_HEAD], "big")
            if len(self._rest) < length:
                return
            flags, message = self._rest[0], json.loads(self._rest[_HEAD:length])
            self._rest = self._rest[length:]
            if flags != _LAST:
                yield message
            elif "error" in message:
                raise refusal_in(message, status=0, operation=NAME)
