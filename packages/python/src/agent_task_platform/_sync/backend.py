"""What differs between the two clients by more than `await`: pauses, locks and reads of files."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from typing import IO

from .._core.files import CHUNK_BYTES, pieces

sleep = time.sleep
Lock = threading.Lock

AnyBytes = Iterable[bytes]


def read_chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def chunks_of(source: AnyBytes) -> Iterator[bytes]:
    for chunk in source:
        yield from pieces(chunk)
