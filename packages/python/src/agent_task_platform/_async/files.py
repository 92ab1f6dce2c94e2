"""Files, with their bytes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, Any, TypeAlias, Union

import httpx

from .._core import policy
from .._core.files import UploadProgress, name_of, pieces
from ..errors import ApiConnectionError, PlatformError
from . import backend
from .resources import AsyncFileResource

if TYPE_CHECKING:
    from ..types import v2

UploadSource: TypeAlias = Union[bytes, bytearray, str, "os.PathLike[str]", IO[bytes], backend.AnyBytes]
"""What can be uploaded: bytes, a path (`str` or `Path`), an open binary file, or an iterable of bytes."""


class AsyncFiles(AsyncFileResource):
    async def upload(
        self,
        source: UploadSource,
        *,
        filename: str | None = None,
        on_progress: Callable[[UploadProgress], None] | None = None,
        timeout: float = 60,
        retries: int = 3,
    ) -> v2.FileDetail:
        """Uploads the bytes and returns the file, which a message can attach by its id.

        source: bytes, a path, an open binary file, or an iterable of bytes. Only a source that can be read again is begun again.
        filename: name with its extension, which decides the media type. Default: the name of the path or open file.
        on_progress: called with the bytes that were sent.
        timeout: seconds without progress after which an attempt fails.
        retries: how often a failed upload is begun again.
        """
        name = filename or name_of(source)
        if name is None:
            raise ValueError("filename: is required for bytes without a name")
        if isinstance(source, (str, os.PathLike)):
            with open(source, "rb") as file:
                return await self._upload(file, name, on_progress, timeout, retries)
        return await self._upload(source, name, on_progress, timeout, retries)

    async def _upload(
        self,
        source: Any,
        name: str,
        on_progress: Callable[[UploadProgress], None] | None,
        timeout: float,
        retries: int,
    ) -> v2.FileDetail:
        begin = source.tell() if _can_seek(source) else None
        repeats = begin is not None or isinstance(source, (bytes, bytearray))
        tried = 0
        while True:
            # An address is good for one upload: each attempt has a new one.
            made = await self._operations.call("file.upload", {"filename": name})
            if begin is not None and tried > 0:
                _seek(source, begin)
            try:
                await self._put(made["upload_url"], source, on_progress, timeout)
                return (await self._operations.call("file.detail", {"file_id": made["file"]["id"]}))["file"]
            except Exception as error:
                if not repeats or tried >= retries or not policy.is_transient(error):
                    raise
            await self._operations.http.sleep(policy.backoff(tried))
            tried += 1

    async def _put(
        self, url: str, source: Any, on_progress: Callable[[UploadProgress], None] | None, timeout: float
    ) -> None:
        """One PUT of all bytes."""
        total = _size_of(source)

        async def body() -> AsyncIterator[bytes]:
            sent = 0
            async for chunk in _chunks(source):
                yield chunk
                sent += len(chunk)
                if on_progress is not None:
                    on_progress(UploadProgress(sent, total))

        headers = {"content-type": "application/octet-stream", **({} if total is None else {"content-length": str(total)})}
        try:
            reply = await self._operations.http.http.put(url, content=body(), headers=headers, timeout=timeout)
        except httpx.HTTPError as error:
            raise policy.connection_error(error, "upload", timeout) from error
        if not reply.is_success:
            raise policy.refusal_of(reply, reply.content, "upload")

    @asynccontextmanager
    async def download(self, file_id: str, options: policy.CallOptions | None = None) -> AsyncIterator[AsyncIterator[bytes]]:
        """Opens the bytes of an uploaded file, as an iterator, for a `with` block."""
        file = (await self._operations.call("file.detail", {"file_id": file_id}, options))["file"]
        if "download_url" not in file:
            raise PlatformError(f"the file has no bytes: its status is {file['status']}")
        try:
            async with self._operations.http.http.stream("GET", file["download_url"]) as reply:
                if not reply.is_success:
                    raise ApiConnectionError(f"HTTP {reply.status_code}: download")
                yield reply.aiter_bytes()
        except httpx.HTTPError as error:
            raise policy.connection_error(error, "download") from error


def _chunks(source: Any) -> AsyncIterator[bytes]:
    if hasattr(source, "read"):
        return backend.read_chunks(source)
    return backend.chunks_of(pieces(bytes(source)) if isinstance(source, (bytes, bytearray)) else source)


def _can_seek(source: Any) -> bool:
    return hasattr(source, "seekable") and bool(source.seekable())


def _seek(source: Any, at: int) -> None:
    source.seek(at)


def _size_of(source: Any) -> int | None:
    """The number of bytes that will be sent, if it is known."""
    if isinstance(source, (bytes, bytearray)):
        return len(source)
    if not _can_seek(source):
        return None
    at: int = source.tell()
    end: int = source.seek(0, os.SEEK_END)
    source.seek(at)
    return end - at
