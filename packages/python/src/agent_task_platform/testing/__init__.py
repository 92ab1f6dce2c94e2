"""A server for tests, with a clock, faults and a reset: `start_platform()`. `testing.plugin` has the fixtures of pytest."""

from ._platform import Platform, Space, start_platform
from ._receiver import ReceivedEvent, Receiver

__all__ = ["Platform", "ReceivedEvent", "Receiver", "Space", "start_platform"]
