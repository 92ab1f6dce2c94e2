"""A task that is being created."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._core.events import WatchEvent
from .backend import Started
from .task import AsyncTaskHandle

if TYPE_CHECKING:
    from ..types import v2

Output = TypeVar("Output")


class AsyncStartedTask(Started[AsyncTaskHandle]):
    """Await it for the task, or call the methods that need no other: the task is created by the first use."""

    async def stream(self, *, deltas: bool = False, retries: int = 10) -> AsyncIterator[WatchEvent]:
        """As `AsyncTaskHandle.stream`."""
        async for event in (await self).stream(deltas=deltas, retries=retries):
            yield event

    async def wait(self, timeout: float | None = None) -> v2.Task:
        """As `AsyncTaskHandle.wait`."""
        return await (await self).wait(timeout)

    async def text(self, timeout: float | None = None) -> str:
        """As `AsyncTaskHandle.text`."""
        return await (await self).text(timeout)

    @overload
    async def result(self, *, timeout: float | None = None) -> Any: ...
    @overload
    async def result(self, reader: Callable[[Any], Output], *, timeout: float | None = None) -> Output: ...
    async def result(self, reader: Callable[[Any], Any] | None = None, *, timeout: float | None = None) -> Any:
        """As `AsyncTaskHandle.result`."""
        task = await self
        return await (task.result(timeout=timeout) if reader is None else task.result(reader, timeout=timeout))


def start(create: Callable[[], Awaitable[AsyncTaskHandle]]) -> AsyncStartedTask:
    return AsyncStartedTask(create)
