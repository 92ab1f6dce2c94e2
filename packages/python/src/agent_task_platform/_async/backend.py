"""What differs between the two clients by more than `await`: pauses, locks, reads of files, and a task that is being created."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterable
from typing import IO, Generic, TypeVar

from .._core.files import CHUNK_BYTES, pieces

T = TypeVar("T")

sleep = asyncio.sleep
Lock = asyncio.Lock

AnyBytes = Iterable[bytes] | AsyncIterable[bytes]


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
