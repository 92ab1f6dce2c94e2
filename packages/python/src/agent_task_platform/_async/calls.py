"""Calls of operations by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.policy import CallOptions, Outgoing
from .._core.tables import OPERATIONS, RPCS
from .pages import AsyncPaged
from .transport import AsyncTransport


class AsyncCaller:
    """Sends the calls of `AsyncOperations`."""

    def __init__(self, http: AsyncTransport) -> None:
        self.http = http

    async def _call(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> Any:
        # An unknown name is refused by the server. Its repeats do no harm with a key.
        is_change = OPERATIONS.get(name, True)
        return await self.http.send(Outgoing(name, f"/v2/{name}", request or {}, is_change), options)

    async def _rpc(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> Any:
        is_change = RPCS.get(name, True)
        return await self.http.send(Outgoing(name, f"/{name}", request or {}, is_change), options)

    def _items(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> AsyncPaged[Any, Any]:
        async def read(cursor: str | None) -> Any:
            asked = {**(request or {}), **({} if cursor is None else {"cursor": cursor})}
            return await self._call(name, asked, options)

        return AsyncPaged(read)
