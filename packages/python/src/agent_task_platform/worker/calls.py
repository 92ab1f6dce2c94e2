"""Calls of a worker, each repeated unchanged until it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from .._async.transport import AsyncTransport
from .._core import policy
from .._core.policy import CallOptions, Outgoing
from ..errors import ApiError, PlatformError


class RunLostError(PlatformError):
    """The run is over for this worker: the user stopped it, another worker has it, or a budget is used up."""


class WorkerCalls:
    def __init__(self, http: AsyncTransport) -> None:
        self.http = http

    async def __call__(self, name: str, request: Mapping[str, Any], options: CallOptions | None = None) -> Any:
        # The server applies events and endings once, without an idempotency key.
        outgoing = Outgoing(name, f"/worker.v1.WorkerService/{name}", request, False)
        try:
            return await self.http.send(outgoing, options)
        except ApiError as error:
            if error.code == "failed_precondition" and error.param == "fence":
                raise RunLostError(str(error)) from error
            raise

    async def put(self, answer: Mapping[str, Any], content: bytes, filename: str) -> None:
        """The bytes of a larger upload, at the address in the answer of `Upload`."""
        await self._transfer("PUT", answer["uploadUrl"], f"upload of {filename}", content)

    async def get(self, url: str, filename: str) -> bytes:
        """The bytes of a file of a message."""
        return await self._transfer("GET", url, f"download of {filename}", None)

    async def _transfer(self, method: str, url: str, what: str, content: bytes | None) -> bytes:
        try:
            reply = await self.http.http.request(method, url, content=content, timeout=60)
        except httpx.HTTPError as error:
            raise policy.connection_error(error, what) from error
        if not reply.is_success:
            raise policy.refusal_of(reply, reply.content, what)
        return reply.content
