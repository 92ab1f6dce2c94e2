"""A task that was created."""

from __future__ import annotations

from collections.abc import Callable

from .task import TaskHandle

StartedTask = TaskHandle


def start(create: Callable[[], TaskHandle]) -> TaskHandle:
    return create()
