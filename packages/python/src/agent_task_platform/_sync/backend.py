"""What differs between the two clients by more than `await`: pauses, locks, work in the background, and reads of files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from .._core.files import CHUNK_BYTES, pieces

sleep = time.sleep
Lock = threading.Lock
Semaphore = threading.Semaphore

AnyBytes = Iterable[bytes]


class Wake(threading.Event):
    def within(self, seconds: float) -> None:
        """Ends when it is set, or after this time."""
        self.wait(min(seconds, 1e6))


def begin(work: Callable[[], None]) -> None:
    """Runs work in the background."""
    threading.Thread(target=work, daemon=True).start()


def read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def chunks_of(source: AnyBytes) -> Iterator[bytes]:
    for chunk in source:
        yield from pieces(chunk)
