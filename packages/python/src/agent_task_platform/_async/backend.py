"""What differs between the two clients by more than `await`: pauses, locks, work in the background, reads of files, and a task that is being created."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable
from typing import IO, Any, Generic, TypeVar

from .._core.files import CHUNK_BYTES, pieces

T = TypeVar("T")

sleep = asyncio.sleep
Lock = asyncio.Lock
Semaphore = asyncio.Semaphore

AnyBytes = Iterable[bytes] | AsyncIterable[bytes]


class Wake(asyncio.Event):
    async def within(self, seconds: float) -> None:
        """Ends when it is set, or after this time."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.wait(), min(seconds, 1e6))


_running: set[asyncio.Future[None]] = set()


def begin(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs work in the background."""
    task = asyncio.ensure_future(work())
    _running.add(task)
    task.add_done_callback(_running.discard)


async def read_chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Reads a file in a thread, so that the loop goes on."""
    while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
        yield chunk


async def chunks_of(source: AnyBytes) -> AsyncIterator[bytes]:
    if isinstance(source, AsyncIterable):
        async for chunk in source:
            for piece in pieces(chunk):
                yield piece
    else:
        for chunk in source:
            for piece in pieces(chunk):
                yield piece


class Started(Generic[T]):
    """Work that begins when it is first awaited, and is done once."""

    def __init__(self, work: Callable[[], Awaitable[T]]) -> None:
        self._work = work
        self._running: asyncio.Future[T] | None = None

    def __await__(self) -> Generator[None, None, T]:
        if self._running is None:
            self._running = asyncio.ensure_future(self._work())
        return self._running.__await__()
