"""A task that is being created."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._core.events import WatchEvent
from .._core.output import Output, OutputType
from .backend import Started
from .stream import AsyncTaskStream
from .task import AsyncTaskHandle

if TYPE_CHECKING:
    from ..types import v2

Other = TypeVar("Other")


class AsyncStartedTask(Started[AsyncTaskHandle[Output]], Generic[Output]):
    """Await it for the task, or call the methods that need no other: the task is created by the first use."""

    def stream(self, *, deltas: bool = False, retries: int = 10) -> AsyncTaskStream:
        """As `AsyncTaskHandle.stream`."""

        async def events() -> AsyncGenerator[WatchEvent, None]:
            async for event in (await self).stream(deltas=deltas, retries=retries):
                yield event

        return AsyncTaskStream(events())

    async def wait(self, timeout: float | None = None) -> v2.Task:
        """As `AsyncTaskHandle.wait`."""
        return await (await self).wait(timeout)

    async def text(self, timeout: float | None = None) -> str:
        """As `AsyncTaskHandle.text`."""
        return await (await self).text(timeout)

    @overload
    async def result(self, *, timeout: float | None = None) -> Output: ...
    @overload
    async def result(self, reader: OutputType[Other] | Callable[[Any], Other], *, timeout: float | None = None) -> Other: ...
    async def result(self, reader: Any = None, *, timeout: float | None = None) -> Any:
        """As `AsyncTaskHandle.result`."""
        return await (await self).result(reader, timeout=timeout)


def start(create: Callable[[], Awaitable[AsyncTaskHandle[Output]]]) -> AsyncStartedTask[Output]:
    return AsyncStartedTask(create)
