"""Waits for tasks. Above 20 at once they follow one stream of the changes of all tasks, or poll where it is refused."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from .._core import policy
from .._core.changes import NAME, ChangesReader
from .._core.policy import Outgoing, present
from ..errors import ApiConnectionError, ApiTimeoutError
from . import backend
from .operations import AsyncOperations
from .transport import AsyncTransport

if TYPE_CHECKING:
    from ..types import v2

# The longest time in seconds for which the server holds a call.
_HELD = 50
# This many waits have a call each that the server holds. The server allows 100 of an account (`WATCH_LIMIT`).
_HELD_MAX = 20
# When a task is looked at again: at least once a minute next to a stream, and after 1 to 5 s without one.
_FOLLOWED, _FIRST_POLL, _LAST_POLL = 60.0, 1.0, 5.0
# The server sends a message after 15 s of silence: after 40 s the connection counts as lost.
_SILENCE = 40.0


async def _changes(http: AsyncTransport, cursor: str | None) -> AsyncGenerator[dict[str, Any], None]:
    """Changes of the caller's tasks from now on, or after a cursor; one connection."""
    body = present({"follow": True, "keepAlive": True, "cursor": cursor})
    reader = ChangesReader()
    async with http.open(Outgoing(NAME, f"/{NAME}", body, False, is_stream=True), {}, _SILENCE) as reply:
        if not reply.is_success:
            raise policy.refusal_of(reply, await http.read(reply, NAME, _SILENCE), NAME)
        async for part in reply.aiter_bytes():
            for changes in reader.feed(part):
                yield changes
    raise ApiConnectionError(f"the stream was cut: {NAME}")


class AsyncSettled:
    """The waits of one client."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations
        self._http = operations.http
        self._lock = backend.Lock()
        self._waits: set[object] = set()
        self._wakes: dict[str, set[backend.Wake]] = {}
        self._is_following = False
        self._is_refused = False
        self._is_live = False
        self._ready = backend.Wake()

    async def wait(self, id: str, timeout: float | None) -> v2.Task:
        """Raises ApiTimeoutError after `timeout` seconds."""
        until = math.inf if timeout is None else time.monotonic() + timeout
        own = object()
        self._waits.add(own)
        try:
            task = await self._settled(id, until)
        finally:
            self._waits.discard(own)
            if not self._waits:
                self._is_refused = False
        if task is None:
            raise ApiTimeoutError(f"the task still runs after {timeout:g} s: {id}")
        return task

    async def _settled(self, id: str, until: float) -> v2.Task | None:
        poll = _FIRST_POLL
        while True:
            is_held = len(self._waits) <= _HELD_MAX
            if not is_held:
                await self._begin()
                await self._ready.within(max(0.0, min(_SILENCE, until - time.monotonic())))
            woken = backend.Wake()
            self._wakes.setdefault(id, set()).add(woken)
            try:
                left = until - time.monotonic()
                task = await self._look(id, math.ceil(max(0, min(_HELD, left))) if is_held else 0)
                if task["status"] != "running":
                    return task
                if left <= 0:
                    return None
                if not is_held:
                    await woken.within(max(0.0, min(until - time.monotonic(), _FOLLOWED if self._is_live else poll)))
                    poll = min(poll * 1.5, _LAST_POLL)
            finally:
                self._forget(id, woken)

    async def _look(self, id: str, wait_seconds: int) -> v2.Task:
        if wait_seconds == 0:
            return (await self._operations.call("task.detail", {"task_id": id}))["task"]
        async with self._http.places:
            return (await self._operations.call("task.detail", {"task_id": id, "wait_seconds": wait_seconds}))["task"]

    def _forget(self, id: str, woken: backend.Wake) -> None:
        others = self._wakes.get(id, set())
        others.discard(woken)
        if not others:
            self._wakes.pop(id, None)

    def _wake(self, id: str) -> None:
        for woken in list(self._wakes.get(id, ())):
            woken.set()

    async def _begin(self) -> None:
        async with self._lock:
            if self._is_following or self._is_refused:
                return
            self._is_following = True
            self._ready.clear()
            backend.begin(self._follow)

    async def _follow(self) -> None:
        try:
            await self._follow_all()
        except BaseException:
            self._is_following = False
            self._lose()
            raise

    async def _follow_all(self) -> None:
        cursor: str | None = None
        failures = 0
        while not await self._is_over():
            try:
                async with aclosing(_changes(self._http, cursor)) as stream:
                    async for changes in stream:
                        cursor, failures = changes.get("cursor", cursor), 0
                        self._take(changes)
                        if await self._is_over():
                            return
            except Exception as error:
                if not policy.is_transient(error):
                    # Where the stream is refused, tasks are polled.
                    self._is_refused, self._is_following = True, False
                    return self._lose()
                self._lose()
            await self._http.sleep(policy.backoff(min(failures, 4)))
            failures += 1

    async def _is_over(self) -> bool:
        """The next wait begins another stream."""
        async with self._lock:
            if not self._waits:
                self._is_following = False
            return not self._waits

    def _take(self, changes: dict[str, Any]) -> None:
        self._is_live = True
        self._ready.set()
        if changes.get("resync"):
            self._wake_all()
        for task in changes.get("tasks", ()):
            if task.get("status") != "TASK_STATUS_RUNNING":
                self._wake(task["id"])
        for id in changes.get("removedIds", ()):
            self._wake(id)

    def _lose(self) -> None:
        self._is_live = False
        self._ready.set()
        self._wake_all()

    def _wake_all(self) -> None:
        for id in list(self._wakes):
            self._wake(id)
