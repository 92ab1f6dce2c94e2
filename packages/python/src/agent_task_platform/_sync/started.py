"""A task that was created."""

from __future__ import annotations

from collections.abc import Callable

from .._core.output import Output
from .task import TaskHandle

StartedTask = TaskHandle


def start(create: Callable[[], TaskHandle[Output]]) -> TaskHandle[Output]:
    return create()
