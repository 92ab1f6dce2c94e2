"""Runs a worker's agent without a server: for tests of agents."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .turn import Turn, TurnFailure, _ending_of, failure_of

if TYPE_CHECKING:
    from .worker import Agent


@dataclass
class TestedTurn:
    """What an agent did in a turn."""

    __test__ = False

    ending: Mapping[str, Any] = field(default_factory=dict)
    """How it ended: `finish`, or `fail` after a TurnFailure."""
    text: str | None = None
    """The answer; None after a TurnFailure."""
    waits: list[Mapping[str, Any]] = field(default_factory=list)
    """What it waited for, in order: `ask`, `confirm`, `wait`."""
    events: list[Mapping[str, Any]] = field(default_factory=list)
    uploads: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Names and bytes of files by their upload id."""
    subtasks: list[str] = field(default_factory=list)
    """Messages of the subtasks that it has started."""


_ADDRESS = "https://testturn.invalid/"


async def test_turn(
    agent: Agent,
    message: str,
    *,
    answers: Sequence[str | Mapping[str, Any]] = (),
    files: Mapping[str, bytes] | None = None,
    run: Mapping[str, Any] | None = None,
    call_tool: Callable[[str, str, Mapping[str, Any]], Any] | None = None,
) -> TestedTurn:
    """Runs an agent as the platform does: from its beginning after each wait.

    answers: what ends its waits, in order: a text for `ask`, a decision with `accepted` for `confirm`, the end of subtasks for
        `wait_for_subtasks`.
    files: files of the message by their names, which `turn.read` returns.
    run: more of the run, for example `profile`, `history` or `connectors`.
    call_tool: replaces the tools of connectors.

    Raises what the agent raises, except a TurnFailure, and LookupError when it waits and there is no further answer.
    """
    platform = _Platform(files or {}, call_tool)
    left = list(answers)
    present: dict[str, Any] = {"taskId": "test", "fence": 1, "interactive": True, **(run or {})}
    present["messages"] = [{"content": message, "files": platform.files}]
    done = platform.done
    while True:
        ending = await _run_once(agent, present, platform)
        if "finish" in ending or "fail" in ending:
            done.ending, done.text = ending, ending.get("finish", {}).get("content")
            return done
        done.waits.append(ending)
        if not left:
            raise LookupError(f"test_turn: the agent waits, and there is no further answer: {ending}")
        present = _next_run(present, ending, left.pop(0), platform)


# pytest collects functions with this beginning.
test_turn.__test__ = False  # type: ignore[attr-defined]


async def _run_once(agent: Agent, run: Mapping[str, Any], platform: _Platform) -> Mapping[str, Any]:
    turn = Turn(cast(Any, platform), cast(Any, run), lambda _: None)

    async def work() -> Any:
        result = agent(turn)
        return await result if isinstance(result, Awaitable) else result

    # In a task of its own, as in a worker: what ends it for a wait is no Exception.
    working = asyncio.create_task(work())
    await asyncio.wait({working})
    turn._writer.stop()
    error = working.exception()
    if turn._suspended is not None:
        return turn._suspended.ending
    if isinstance(error, TurnFailure):
        return failure_of(error)
    return _ending_of(working.result())


def _next_run(run: dict[str, Any], ending: Mapping[str, Any], answer: Any, platform: _Platform) -> dict[str, Any]:
    """The run that continues after a wait. A question ends the turn, an approval and a wait for subtasks do not."""
    if "ask" in ending:
        if not isinstance(answer, str):
            raise TypeError("test_turn: the agent asks: its answer is a text")
        said = [*run.get("history", []), *({"role": "user", **each} for each in run["messages"])]
        history = [*said, {"role": "assistant", "content": ending["ask"]["content"]}]
        platform.turn_events.clear()
        more = {"messages": [{"content": answer}], "history": history, "events": [], "decisions": [], "waits": []}
        return {**run, **more, "memo": ending["ask"].get("memo")}
    events = [{"event": event} for event in platform.turn_events]
    if "confirm" in ending:
        if isinstance(answer, str) or "accepted" not in answer:
            raise TypeError("test_turn: the agent requests an approval: its answer has `accepted`")
        decisions = [*run.get("decisions", []), {"kind": ending["confirm"]["kind"], **answer}]
        return {**run, "events": events, "decisions": decisions, "memo": ending["confirm"].get("memo")}
    if isinstance(answer, str):
        raise TypeError("test_turn: the agent waits for subtasks: its answer is the end of the wait")
    return {**run, "events": events, "waits": [*run.get("waits", []), answer], "memo": ending["wait"].get("memo")}


class _Platform:
    """Answers the calls of a turn."""

    def __init__(self, files: Mapping[str, bytes], call_tool: Callable[[str, str, Mapping[str, Any]], Any] | None) -> None:
        self.done = TestedTurn()
        self.turn_events: list[Mapping[str, Any]] = []
        self.files = [
            {"filename": name, "bytes": len(content), "url": f"{_ADDRESS}{name}"} for name, content in files.items()
        ]
        self._contents = {f"{_ADDRESS}{name}": content for name, content in files.items()}
        self._call_tool = call_tool
        # The platform starts one for each key.
        self._subtasks: dict[str, str] = {}

    async def __call__(self, method: str, request: Mapping[str, Any], options: object = None) -> Any:
        match method:
            case "Append":
                self.done.events.extend(request["events"])
                self.turn_events.extend(request["events"])
            case "WriteText":
                return {"nextOffset": request["offset"] + len(request["text"].encode("utf-16-le")) // 2}
            case "Upload":
                return {"uploadId": self._keep(request["filename"], base64.b64decode(request.get("content", "")))}
            case "StartSubtask":
                self._subtasks.setdefault(request["key"], request["message"])
                self.done.subtasks = list(self._subtasks.values())
                return {"subtaskId": f"subtask_{request['key']}"}
            case "CallTool":
                if self._call_tool is None:
                    return {"isError": True, "result": "test_turn: give call_tool"}
                return {"result": self._call_tool(request["connectorId"], request["tool"], request["input"])}
        return {}

    def _keep(self, filename: str, content: bytes) -> str:
        upload_id = f"upload_{len(self.done.uploads) + 1}"
        self.done.uploads[upload_id] = (filename, content)
        return upload_id

    async def put(self, answer: Mapping[str, Any], content: bytes, filename: str) -> None:
        """The bytes of a larger upload."""
        self.done.uploads[answer["uploadId"]] = (filename, content)

    async def get(self, url: str, filename: str) -> bytes:
        """The bytes of a file of a message."""
        return self._contents[url]
