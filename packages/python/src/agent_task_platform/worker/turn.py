"""The work of one turn."""

from __future__ import annotations

import base64
import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar, Union, overload

from .._core import policy
from .calls import RunLostError, WorkerCalls
from .replay import Past, memo_of, past_after, replay_of, text_of
from .writer import Writer

if TYPE_CHECKING:
    from ..types.actions import ActionKind
    from ..types.worker import (
        CallToolResponse,
        Decision,
        EndedWait,
        EventInput,
        File,
        HistoryEntry,
        Message,
        PlanStepInput,
        Run,
        ToolUsedInput,
    )

Result = TypeVar("Result")
_INLINE_BYTES = 1_048_576


@dataclass(frozen=True)
class Answer:
    """How a turn ends: a text, with files and output."""

    content: str
    upload_ids: Sequence[str] = ()
    output: Any = None
    """The structured output; None without one."""


TurnResult: TypeAlias = Union[str, Answer, Mapping[str, Any]]
"""A text, an answer, or an ending of `worker.v1` exactly as FinishRequest has it, such as `{"ask": {"content": "…"}}`."""


class TurnFailure(Exception):
    """Ends the turn in `error`, with a category and a text for the user. Of any other error users see only a reference to the worker's log."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


class Suspended(BaseException):
    """Ends the run where the agent waits for its user or for subtasks. The function runs again when the wait is over.

    It is no `Exception`, so that `except Exception` of an agent or framework does not catch it.
    """

    def __init__(self, ending: Mapping[str, Any]) -> None:
        super().__init__("the run ends here, and continues when the wait is over")
        self.ending = ending


class Turn:
    """The work of one turn. An agent that runs again for the same turn, after a crash, a question or an approval, gets what was done before."""

    def __init__(self, call: WorkerCalls, run: Run, abort: Callable[[BaseException], None]) -> None:
        self.run = run
        """The run as the platform sent it."""
        self.task_id: str = run.get("taskId", "")
        self._name = {"taskId": self.task_id, "fence": run.get("fence", 0)}
        self._replay = replay_of(run)
        self.messages: Sequence[Message] = self._replay.messages
        """The messages to answer, with their files; after `ask` still those that began the work."""
        self.text = text_of(self.messages)
        """Their texts, joined by line feeds."""
        self.history: Sequence[HistoryEntry] = self._replay.history
        """Earlier turns, oldest first: messages, and uses of tools."""
        self.memo: Any = self._replay.memo
        """What the agent kept with its last question, approval or wait."""
        self.new_messages: list[Message] = []
        """Messages of the user that have arrived since the run began; the next turn answers them."""
        written: list[Any] = [each["event"] for each in run.get("events", []) if "event" in each]
        self._keys = {event["key"] for event in written if event.get("key")}
        # Keys of lost runs and of the turns before a question. A model may write another text the second time: the first one stays.
        self._before = self._keys | set(self._replay.past["keys"])
        self._results = {
            event.get("key", ""): event["toolUsed"]["result"]
            for event in written
            if "result" in event.get("toolUsed", {})
        }
        self._call = call
        self._abort = abort
        self._writer = Writer(call, self._name)
        self._asked = {"questions": 0, "decisions": 0, "waits": 0}
        self._usage: dict[str, int] = {}
        self._over: BaseException | None = None
        self._suspended: Suspended | None = None

    async def append(self, *events: EventInput) -> None:
        """Writes events, each with a `key`. An event whose key the turn has already is not written again."""
        fresh = [event for event in events if event["key"] not in self._before]
        if not fresh:
            return
        answer = await self._own("Append", {**self._name, "events": fresh, **self._take_usage()})
        self._keys.update(event["key"] for event in fresh)
        if answer.get("stop"):
            self._lose(RunLostError(f"the run has ended: {answer['stop']}"))

    async def say(self, key: str, content: str, upload_ids: Sequence[str] = ()) -> None:
        await self.append({"key": key, "assistantMessage": {"content": content, "uploadIds": upload_ids}})

    async def think(self, key: str, content: str) -> None:
        await self.append({"key": key, "explanation": {"content": content}})

    async def plan(self, key: str, steps: Sequence[PlanStepInput]) -> None:
        await self.append({"key": key, "planUpdate": {"steps": steps}})

    async def tool(self, key: str, use: ToolUsedInput) -> None:
        await self.append({"key": key, "toolUsed": use})

    @overload
    async def once(self, key: str, use: ToolUsedInput, step: Callable[[], Awaitable[Result]]) -> Result: ...
    @overload
    async def once(self, key: str, use: ToolUsedInput, step: Callable[[], Result]) -> Result: ...
    async def once(self, key: str, use: ToolUsedInput, step: Callable[[], Any]) -> Any:
        """Runs a step once in the turn: its result is recorded as a use of a tool, and a run that follows returns it.

        The result is JSON, at most 64 KiB.
        """
        past = self._replay.past["results"]
        known = self._results.get(key, past.get(key))
        # A run before this one has written the result of the same step.
        if known is not None or key in self._keys:
            return known
        self._check()
        outcome = step()
        result = await outcome if inspect.isawaitable(outcome) else outcome
        used: Any = {**use, "status": "success", "result": result}
        await self.append({"key": key, "toolUsed": used})
        self._results[key] = result
        return result

    def write(self, piece: str, *, key: str | None = None, explanation: bool = False, begins: bool = False) -> None:
        """Shows a piece of text to watchers while it is written; the answer or event that follows has the whole text.

        key: the key of the event that will have the text; without one it is the text of the answer.
        explanation: the text is that of an `explanation`.
        begins: begins a new text with this piece.
        """
        self._writer.write(piece, key, explanation, begins)

    async def read(self, file: File) -> bytes:
        """The bytes of a file of a message."""
        self._check()
        return await self._call.get(file.get("url", ""), file.get("filename", ""))

    async def upload(self, filename: str, content: bytes | str, content_type: str | None = None) -> str:
        """Uploads a file, and returns its id for `say` and the answer. Larger content than 1 MiB is sent separately."""
        data = content.encode() if isinstance(content, str) else bytes(content)
        request: dict[str, Any] = {**self._name, "filename": filename, **({"contentType": content_type} if content_type else {})}
        if len(data) <= _INLINE_BYTES:
            answer = await self._own("Upload", {**request, "content": base64.b64encode(data).decode()})
            return str(answer.get("uploadId", ""))
        answer = await self._own("Upload", request)
        await self._call.put(answer, data, filename)
        return str(answer.get("uploadId", ""))

    def use(
        self, *, input_tokens: int = 0, output_tokens: int = 0, tool_calls: int = 0, cached_input_tokens: int = 0, cache_write_tokens: int = 0
    ) -> None:
        """Counts resources, which are reported with the next events or the ending. Cached and written tokens are parts of the input."""
        more = {
            "inputTokens": input_tokens,
            "outputTokens": output_tokens,
            "toolCalls": tool_calls,
            "cachedInputTokens": cached_input_tokens,
            "cacheWriteTokens": cache_write_tokens,
        }
        self._usage = {name: self._usage.get(name, 0) + count for name, count in more.items()}

    async def ask(self, content: str, *, options: Sequence[str] = (), memo: Any = None) -> str:
        """Asks the user, and returns the answer. The agent's function runs again from its beginning with the answer."""
        at = self._next("questions")
        if at < len(self._replay.answers):
            return self._replay.answers[at]
        past = past_after(self._replay, self.run, self._keys, self._results)
        self._suspend({"ask": {"content": content, **({"options": options} if options else {}), **self._memo(past, memo)}})

    async def confirm(
        self,
        kind: ActionKind,
        *,
        variant: str | None = None,
        description: str | None = None,
        params: Mapping[str, Any] | None = None,
        memo: Any = None,
    ) -> Decision:
        """Requests an approval, and returns the decision, always with `accepted`. The agent's function runs again from its beginning."""
        decisions = [*self._replay.past["decisions"], *self.run.get("decisions", [])]
        at = self._next("decisions")
        if at < len(decisions):
            decided: Any = {"accepted": False, **decisions[at]}
            answer: Decision = decided
            return answer
        more = policy.present({"kind": kind, "variant": variant, "description": description, "params": params})
        self._suspend({"confirm": {**more, **self._memo(self._replay.past, memo)}})

    async def start_subtask(self, key: str, message: str) -> str:
        """Starts a subtask, once per key, and returns its id."""
        known = self._replay.past["results"].get(key)
        if isinstance(known, str):
            return known
        answer = await self._own("StartSubtask", {**self._name, "key": key, "message": message})
        self._results[key] = str(answer.get("subtaskId", ""))
        return str(self._results[key])

    async def wait_for_subtasks(
        self,
        *,
        task_ids: Sequence[str] | None = None,
        mode: str | None = None,
        timeout_seconds: int | None = None,
        memo: Any = None,
    ) -> EndedWait:
        """Waits for subtasks, all or those of `task_ids`, and returns their results. The agent's function runs again from its beginning."""
        waits = [*self._replay.past["waits"], *self.run.get("waits", [])]
        at = self._next("waits")
        if at < len(waits):
            return waits[at]
        more = policy.present({"taskIds": task_ids, "mode": mode, "timeoutSeconds": timeout_seconds})
        self._suspend({"wait": {**more, **self._memo(self._replay.past, memo)}})

    async def call_tool(self, connector_id: str, tool: str, input: Mapping[str, Any]) -> CallToolResponse:
        """Uses a tool of a connector. It requests the user's approval first where the tool needs one."""
        connectors = [each for each in self.run.get("connectors", []) if each.get("id") == connector_id]
        if any(each.get("name") == tool and each.get("asks") for found in connectors for each in found.get("tools", [])):
            params = {"connector": connector_id, "tool": tool, "input": input}
            if not (await self.confirm("connectorAction", params=params)).get("accepted"):
                return {"isError": True, "result": "the user has refused this use"}
        request: Any = {**self._name, "connectorId": connector_id, "tool": tool, "input": input}
        answer: CallToolResponse = await self._own("CallTool", request)
        return answer

    async def _own(self, method: str, request: Mapping[str, Any]) -> Any:
        """A call of the run. A lost run ends the agent, because frameworks report errors of tools to the model and continue."""
        self._check()
        try:
            return await self._call(method, request)
        except RunLostError as error:
            self._lose(error)

    def _check(self) -> None:
        if self._over is not None:
            raise self._over
        if self._suspended is not None:
            raise self._suspended

    def _lose(self, error: RunLostError) -> NoReturn:
        self._abort(error)
        raise error

    def _suspend(self, ending: Mapping[str, Any]) -> NoReturn:
        self._check()
        self._suspended = Suspended(ending)
        raise self._suspended

    def _next(self, kind: str) -> int:
        self._asked[kind] += 1
        return self._asked[kind] - 1

    def _memo(self, past: Past, memo: Any) -> dict[str, Any]:
        """The memo of a wait: the agent's own, or that of the run."""
        kept = memo_of(past, self._replay.memo if memo is None else memo)
        return {} if kept is None else {"memo": kept}

    def _take_usage(self) -> dict[str, Any]:
        taken, self._usage = self._usage, {}
        return {"usage": taken} if taken else {}

    def _ending(self, result: TurnResult) -> dict[str, Any]:
        """The request that ends the run."""
        return {**self._name, **_ending_of(result), **self._take_usage()}


def _ending_of(result: TurnResult) -> Mapping[str, Any]:
    if isinstance(result, str):
        return {"finish": {"content": result}}
    if not isinstance(result, Answer):
        return result
    files = {"uploadIds": result.upload_ids} if result.upload_ids else {}
    return {"finish": {"content": result.content, **files, **({} if result.output is None else {"output": result.output})}}


def failure_of(error: TurnFailure) -> dict[str, Any]:
    """How the agent ends its turn in `error`."""
    return {"fail": {"errorType": error.error_type, "content": str(error) or error.error_type}}


def hidden_failure(error: BaseException) -> dict[str, Any]:
    """How any other error ends the turn.

    Users see a reference, because the text of an error can have names, paths and secrets. A note of the error has the reference
    too, and so has the log.
    """
    reference = secrets.token_hex(6)
    error.add_note(f"reference {reference}")
    return {"fail": {"errorType": "internal", "content": f"The agent failed (reference {reference})."}}
