"""Lists over all their pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar, cast

Item = TypeVar("Item")
Page = TypeVar("Page")


class AsyncPaged(Generic[Item, Page]):
    """A list over all its pages: iterate over the items, or over the pages."""

    def __init__(self, read: Callable[[str | None], Awaitable[Any]]) -> None:
        """`read` returns a page; None means the first one."""
        self._read = read

    async def pages(self) -> AsyncIterator[Page]:
        """The answers of the server, one for each page."""
        cursor: str | None = None
        while True:
            page: Mapping[str, Any] = await self._read(cursor)
            yield cast(Page, page)
            cursor = page.get("next_cursor")
            if not cursor:
                return

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.pages():
            for item in _items_of(cast(Mapping[str, Any], page)):
                yield item

    async def all(self, max: int | None = None) -> list[Item]:
        """The items as a list, at most `max`."""
        found: list[Item] = []
        if max is not None and max <= 0:
            return found
        async for item in self:
            found.append(item)
            if len(found) == max:
                break
        return found


def _items_of(page: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = page.get("messages", page.get("data", []))
    return found
