# Made from _async/calls.py by `node scripts/client-types.ts --write`.
"""Calls of operations by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.policy import CallOptions, Outgoing
from .._core.tables import OPERATIONS, RPCS
from .pages import Paged
from .transport import Transport


class Caller:
    """Sends the calls of `Operations`."""

    def __init__(self, http: Transport) -> None:
        self.http = http

    def _call(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> Any:
        # An unknown name is refused by the server. Its repeats do no harm with a key.
        is_change = OPERATIONS.get(name, True)
        return self.http.send(Outgoing(name, f"/v2/{name}", request or {}, is_change), options)

    def _rpc(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> Any:
        is_change = RPCS.get(name, True)
        return self.http.send(Outgoing(name, f"/{name}", request or {}, is_change), options)

    def _items(self, name: str, request: Mapping[str, Any] | None, options: CallOptions | None) -> Paged[Any, Any]:
        def read(cursor: str | None) -> Any:
            asked = {**(request or {}), **({} if cursor is None else {"cursor": cursor})}
            return self._call(name, asked, options)

        return Paged(read)
