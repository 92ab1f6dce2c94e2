"""Calls of a worker, each repeated unchanged until it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._async.transport import AsyncTransport
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
