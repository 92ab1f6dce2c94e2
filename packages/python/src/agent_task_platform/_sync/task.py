# Made from _async/task.py by `node scripts/client-types.ts --write`.
"""Tasks: what can be done with one that is known by its id."""

from __future__ import annotations

from collections.abc import Generator, Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._core.events import WatchEvent
from .._core.messages import MessageLike, to_message
from .._core.output import Output, OutputType, reader_of
from .._core.policy import CallOptions, present
from ..errors import TaskStateError
from .decisions import QUESTIONS, Decisions
from .operations import Operations
from .pages import Paged
from .settled import Settled
from .stream import TaskStream
from .watch import watch_task

if TYPE_CHECKING:
    from ..types import v2

Other = TypeVar("Other")


class TaskHandle(Decisions, Generic[Output]):
    """A task. No call is made before one of its methods is called."""

    def __init__(self, operations: Operations, settled: Settled, id: str, output: Any = None) -> None:
        """`output` reads the structured output when `result` has no reader."""
        self.id = id
        self._settled = settled
        self._output = output
        self._operations = operations
        self._seen = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def detail(self, options: CallOptions | None = None) -> v2.Task:
        """The present state."""
        return (self._operations.call("task.detail", {"task_id": self.id}, options))["task"]

    def stream(self, *, after_seq: int | None = None, deltas: bool = False, retries: int = 10) -> TaskStream:
        """Yields the events of the task until it is settled: stopped, failed or waiting for its user.

        It continues after the last event that this object has yielded; `after_seq` begins somewhere else. `deltas` also yields the
        text of messages while the agent writes them. `retries` is how often a connection is opened again without any event in between.
        """
        return TaskStream(self._watched(after_seq, deltas, retries))

    def _watched(self, after_seq: int | None, deltas: bool, retries: int) -> Generator[WatchEvent, None, None]:
        begin = self._seen if after_seq is None else after_seq
        watched = watch_task(
            self._operations.http, self.id, after_seq=begin, until_settled=True, deltas=deltas, retries=retries
        )
        for event in watched:
            if event["type"] != "text_delta":
                self._seen = max(self._seen, event["seq"])
            yield event

    def wait(self, timeout: float | None = None) -> v2.Task:
        """Waits until the task is settled, and returns its state. `status` says whether it stopped, failed or waits for its user.

        Raises ApiTimeoutError after `timeout` seconds; the task continues.
        """
        return self._settled.wait(self.id, timeout)

    def text(self, timeout: float | None = None) -> str:
        """Waits until the turn has finished, and returns the agent's last message.

        Raises TaskStateError when the task fails or waits for its user.
        """
        event = self._last("assistant_message", timeout)
        if event is None:
            raise TaskStateError(self.id, "stopped", "the turn has no message of the agent")
        content: str = event["content"]
        return content

    @overload
    def result(self, *, timeout: float | None = None) -> Output: ...
    @overload
    def result(self, reader: OutputType[Other] | Callable[[Any], Other], *, timeout: float | None = None) -> Other: ...
    def result(self, reader: Any = None, *, timeout: float | None = None) -> Any:
        """Waits until the turn has finished, and returns its structured output. The task needs `output` or a `structured_output_schema`.

        `reader` checks the value and gives it its type: a model of pydantic, a `TypeAdapter`, or a function. Default: the `output`
        of `create`. Raises TaskStateError when the task fails, waits for its user, or has no valid value, and what the reader raises.
        """
        output = self._last("structured_output_result", timeout)
        if output is None:
            raise TaskStateError(
                self.id, "stopped", "the turn has no structured output: create the task with output or structured_output_schema"
            )
        if not output.get("success"):
            reason = output.get("error") or "unknown reason"
            raise TaskStateError(self.id, "stopped", f"the turn has no valid structured output: {reason}")
        read = self._output if reader is None else reader
        return output.get("value") if read is None else reader_of(read)(output.get("value"))

    def events(
        self,
        *,
        order: str = "asc",
        verbose: bool | None = None,
        limit: int | None = None,
        options: CallOptions | None = None,
    ) -> Paged[v2.TaskEvent, Any]:
        """The events of the task, oldest first unless `order` is `desc`."""
        request: Any = present({"task_id": self.id, "order": order, "verbose": verbose, "limit": limit})
        return self._operations.items("task.listMessages", request, options)

    def send(self, message: MessageLike, *, options: CallOptions | None = None, **more: Any) -> None:
        """Sends a message, which starts the next turn. `more` has other members of `task.sendMessage`."""
        request: Any = {**more, "task_id": self.id, "message": to_message(message)}
        self._operations.call("task.sendMessage", request, options)

    def answer(self, answer: str | Sequence[str], options: CallOptions | None = None) -> None:
        """Answers the question that the task waits for, with a text or with several of its options.

        Raises TaskStateError when the task waits for no question.
        """
        self._waiting_for(QUESTIONS, "a question", options)
        self.send(answer if isinstance(answer, str) else "\n".join(answer), options=options)

    def _confirm(self, kind: str, input: Any, options: CallOptions | None) -> None:
        waits = self._waiting_for((kind,), kind, options)
        request: Any = {"task_id": self.id, "event_id": waits["waiting_for_event_id"], "input": dict(input)}
        self._operations.call("task.confirmAction", request, options)

    def pending(self, options: CallOptions | None = None) -> v2.StatusDetail | None:
        """What the task waits for; None while it waits for nothing."""
        return (self.detail(options)).get("status_detail")

    def update(self, *, options: CallOptions | None = None, **changes: Any) -> None:
        """Changes members of `task.update`."""
        request: Any = {**changes, "task_id": self.id}
        self._operations.call("task.update", request, options)

    def stop(self, options: CallOptions | None = None) -> None:
        self._operations.call("task.stop", {"task_id": self.id}, options)

    def delete(self, *, stop: bool = False, options: CallOptions | None = None) -> None:
        """Deletes the task; `stop` ends its run first."""
        request: Any = {"task_id": self.id, **({"stop": True} if stop else {})}
        self._operations.call("task.delete", request, options)

    def watch_url(self, ttl_seconds: int | None = None, options: CallOptions | None = None) -> str:
        """An address at which `EventSource` can watch the task without a credential."""
        request: Any = present({"task_id": self.id, "ttl_seconds": ttl_seconds})
        return (self._operations.call("task.watchUrl", request, options))["url"]

    def _last(self, type: str, timeout: float | None) -> Any:
        """Waits for the end of a turn, and returns the content of its newest event of a type."""
        task = self.wait(timeout)
        if task["status"] == "waiting":
            waits = task.get("status_detail", {}).get("waiting_description") or task.get("brief") or self.id
            raise TaskStateError(self.id, "waiting", f"the task waits for its user: {waits}")
        for event in self._operations.items("task.listMessages", {"task_id": self.id}):
            if event["type"] == "error_message" and task["status"] == "error":
                raise TaskStateError(self.id, "error", f"the task failed: {event['error_message']['content']}")
            if event["type"] == type:
                return event.get(type)
            if event["type"] == "user_message":
                break
        if task["status"] == "error":
            raise TaskStateError(self.id, "error", f"the task failed: {task.get('brief') or self.id}")
        return None

    def _waiting_for(self, kinds: Sequence[str], what: str, options: CallOptions | None) -> v2.StatusDetail:
        """Raises TaskStateError unless the task waits, for this."""
        task = self.detail(options)
        waits = task.get("status_detail")
        if waits and waits["waiting_for_event_type"] in kinds:
            return waits
        present_wait = waits["waiting_for_event_type"] if waits else "nothing"
        raise TaskStateError(self.id, task["status"], f"the task waits for {present_wait}, not for {what}")
