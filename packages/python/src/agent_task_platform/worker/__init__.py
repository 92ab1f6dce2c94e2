"""The worker: makes a coroutine an agent of the platform."""

from .calls import RunLostError
from .testing import TestedTurn, test_turn
from .turn import Answer, Suspended, Turn, TurnFailure, TurnResult
from .worker import Agent, Worker

__all__ = ["Agent", "Answer", "RunLostError", "Suspended", "TestedTurn", "Turn", "TurnFailure", "TurnResult", "Worker", "test_turn"]
