"""Sources of uploads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK_BYTES = 65_536


def pieces(content: bytes) -> Iterator[bytes]:
    for at in range(0, len(content), CHUNK_BYTES):
        yield content[at : at + CHUNK_BYTES]


@dataclass(frozen=True)
class UploadProgress:
    """Progress of an upload, in bytes."""

    sent: int
    total: int | None
    """None for a stream of unknown length."""


def name_of(source: object) -> str | None:
    """The file name of a path, or of a file that was opened by a path."""
    path = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    return os.path.basename(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else None
