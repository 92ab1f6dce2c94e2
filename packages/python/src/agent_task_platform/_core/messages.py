"""Messages to a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    from ..types.v2 import MessageInput

MessageLike: TypeAlias = Union[str, "MessageInput"]
"""A message as text, or as the API takes it."""


def to_message(message: MessageLike) -> Mapping[str, Any]:
    return {"content": message} if isinstance(message, str) else message
