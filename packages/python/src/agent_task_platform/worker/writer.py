"""Shows texts to watchers while they are written. A text is a hint: nothing waits for it, and a failure ends it quietly."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from ..errors import PlatformError
from .calls import WorkerCalls

# The server takes 20 parts a second, and asks for one a second while no one watches.
_WATCHED, _UNWATCHED = 0.1, 1.0
# The most UTF-16 units of a part: 64 KiB in any language.
_PART = 16_000


class Writer:
    def __init__(self, call: WorkerCalls, run: Mapping[str, Any]) -> None:
        self._call = call
        self._run = run
        self._attempt = 0
        self._offset = 0
        # UTF-16, in whose units the server counts.
        self._text = b""
        self._fields: dict[str, Any] = {}
        self._sending: asyncio.Task[None] | None = None

    def write(self, piece: str, key: str | None, explanation: bool, begins: bool) -> None:
        fields: dict[str, Any] = {**({} if key is None else {"key": key}), **({"explanation": True} if explanation else {})}
        if self._attempt == 0 or begins or fields != self._fields:
            self._attempt, self._offset, self._text, self._fields = self._attempt + 1, 0, b"", fields
        self._text += piece.encode("utf-16-le", "surrogatepass")
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())

    def stop(self) -> None:
        if self._sending is not None:
            self._sending.cancel()

    async def _send(self) -> None:
        """Sends what watchers lack, one part at a time."""
        while self._offset * 2 < len(self._text):
            number = self._attempt
            rest = self._text[self._offset * 2 : (self._offset + _PART) * 2].decode("utf-16-le", "surrogatepass")
            # A part does not end within a character.
            part = re.sub("[\ud800-\udbff]$", "", rest)
            if part == "":
                return
            request = {**self._run, **self._fields, "attempt": number, "offset": self._offset, "text": part}
            try:
                answer = await self._call("WriteText", request, {"retries": 0})
            except PlatformError:
                return
            if number == self._attempt:
                self._offset = answer.get("nextOffset", 0)
            await asyncio.sleep(_WATCHED if answer.get("watched") else _UNWATCHED)
