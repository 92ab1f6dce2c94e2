# Made from proto/ by `node scripts/client-types.ts --write`.
"""The messages of `worker.v1`, in the JSON of Connect: lowerCamelCase, without zero values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class PollRequest(TypedDict):
    """Request of Poll."""

    waitSeconds: NotRequired[int]
    """Maximum time to hold the call until a run is available, 0 to 30 seconds. The server's setting `WAIT_SECONDS`
    limits the time further.

    Rules: 0 to 30.
    """
    profiles: NotRequired[Sequence[str]]
    """Profiles to run, for example `manus-1.6`. Empty: all profiles of the credential.

    Rules: at most 50 items; no item twice; each 1 to 63 characters.
    """
    labels: NotRequired[Sequence[str]]
    """Labels of this program, for example `gpu`. Empty: all labels of the credential. It gets runs only of profiles
    whose labels are among them.

    Rules: at most 20 items; no item twice; each 1 to 63 characters.
    """
    maxRuns: NotRequired[int]
    """The most runs to return, 1 to 32: the number of runs that this program can begin now. Default: 1. Each run has
    its own fence and lease (spec/api.md 8.121).

    Rules: 1 to 32.
    """


class PollResponse(TypedDict):
    """Response of Poll."""

    run: NotRequired[Run]
    """The run; absent when none is available. Call Poll again in that case."""
    moreRuns: NotRequired[list[Run]]
    """Further runs, at most `max_runs` less one. Runs that would make the response larger than about 2 MiB are left to
    the next Poll."""


class Run(TypedDict):
    """One run of a task's turn, with the messages to answer and everything that the agent can use.

    A run belongs to the worker that polled it until its lease expires. Each Heartbeat, Append, Upload, CallTool and
    StartSubtask renews the lease. All writes name the `fence` and are refused after another worker has taken the run
    over.
    """

    taskId: NotRequired[str]
    """Id of the task."""
    fence: NotRequired[int]
    """Fence of the run. Send it with all calls for this run. A later run of the task, and the next turn that Finish
    returns, have a higher fence."""
    leaseSeconds: NotRequired[int]
    """Duration of the lease in seconds. Without a renewal in this time the run goes to another worker. Send a Heartbeat
    every third of it."""
    claim: NotRequired[int]
    """Number of this claim within the turn: 1 for the first run, higher after an earlier run was lost or after the turn
    waited. After 25 consecutive claims without an event the task ends in `error`."""
    title: NotRequired[str]
    """Title of the task."""
    locale: NotRequired[str]
    """Language to answer in, as a BCP 47 tag."""
    profile: NotRequired[str]
    """Profile of the task, for example `manus-1.6`."""
    instruction: NotRequired[str]
    """Instruction of the task's project; empty without one."""
    interactive: NotRequired[bool]
    """Whether the agent may ask questions when the input is unclear. When false, it does its best without asking."""
    earlier: NotRequired[list[Said]]
    """Messages of earlier turns, oldest first, at most the last 200. `history` has them too, with files and uses of
    tools."""
    messages: NotRequired[list[Message]]
    """Messages to answer, oldest first, with their files."""
    events: NotRequired[list[WrittenEvent]]
    """Events that earlier claims of this turn have written, oldest first. Continue after them."""
    decisions: NotRequired[list[Decision]]
    """Decisions of the user in this turn, in the order of the requests: one for each `confirm` of the turn that was
    decided."""
    outputSchema: NotRequired[dict[str, Any]]
    """JSON Schema that `finish.output` must conform to; absent when no structured output is requested."""
    memo: NotRequired[Any]
    """`memo` of the last `confirm` or `wait` of this turn that had one, or else of the question that this turn answers;
    absent in any other turn."""
    taskReferences: NotRequired[list[str]]
    """Ids of tasks that the user refers to, most recent last."""
    skills: NotRequired[list[Skill]]
    """Skills that the agent can use, forced ones first."""
    connectors: NotRequired[list[Connector]]
    """Connectors that the agent can use, with their tools. CallTool uses them."""
    mayBeginSubtasks: NotRequired[bool]
    """Whether StartSubtask is allowed, which is so in all runs but those of subtasks that are three deep."""
    subtasks: NotRequired[list[Subtask]]
    """The newest subtasks of the task, at most 20, newest first, with their state at the time of the call."""
    history: NotRequired[list[HistoryEntry]]
    """What happened in earlier turns, oldest first: at most the last 200 messages, and the last 200 uses of tools of
    the last 5,000 events. Arguments and results have 256 KiB together; older uses are left out."""
    waits: NotRequired[list[EndedWait]]
    """The waits for subtasks of this turn that are over, in the order of the requests: one for each `wait` of the turn."""
    traceparent: NotRequired[str]
    """Trace of the call that began this turn, as the header `traceparent` of W3C Trace Context: 55 characters; empty
    when that call was in no trace. Continue the trace with it."""


class Said(TypedDict):
    """One message of an earlier turn."""

    role: NotRequired[str]
    """`user` or `assistant`."""
    content: NotRequired[str]
    """Text of the message."""


class Message(TypedDict):
    """A message to answer."""

    content: NotRequired[str]
    """Text of the message."""
    files: NotRequired[list[File]]
    """Files of the message."""


class File(TypedDict):
    """A file of a message."""

    filename: NotRequired[str]
    """Name of the file."""
    contentType: NotRequired[str]
    """Media type."""
    bytes: NotRequired[int]
    """Size in bytes."""
    url: NotRequired[str]
    """Download address. A GET without a credential returns the bytes. The address is valid for 7 days, and the bytes
    are kept for 48 hours after the upload."""


class WrittenEvent(TypedDict):
    """An event that the turn already has."""

    seq: NotRequired[int]
    """Position of the event in the history of the task."""
    event: NotRequired[Event]
    """The event as it was appended, without its upload ids. Its `key` is empty when no worker wrote the event."""


class Event(TypedDict):
    """One event of a run. It becomes an event of the task, which watchers see and which is never removed."""

    key: NotRequired[str]
    """Key of the event, chosen by the worker: 1 to 128 visible ASCII characters, unique within the turn. An event with
    a known key is not written again, so a call can be repeated when its response was lost. A counter within the turn is
    sufficient if a later run of the turn continues it."""
    assistantMessage: NotRequired[AssistantMessage]
    """Progress message of the agent. The final answer is sent with Finish."""
    planUpdate: NotRequired[PlanUpdate]
    """The complete plan."""
    newPlanStep: NotRequired[NewPlanStep]
    """Start of a step of the plan."""
    toolUsed: NotRequired[ToolUsed]
    """A completed use of a tool."""
    explanation: NotRequired[Explanation]
    """Reasoning of the agent."""


class AssistantMessage(TypedDict):
    """A progress message of the agent."""

    content: NotRequired[str]
    """Text of the message, at most 256 KiB."""
    uploadIds: NotRequired[list[str]]
    """Ids of files to attach, from UploadResponse. Each file can be attached once."""


class PlanUpdate(TypedDict):
    """The complete plan. It replaces every earlier plan."""

    steps: NotRequired[list[PlanStep]]
    """All steps, in order."""


class PlanStep(TypedDict):
    """One step of a plan."""

    status: NotRequired[str]
    """`todo`, `doing`, `done` or `failed`."""
    title: NotRequired[str]
    """Title of the step, at most 500 characters."""
    startedAt: NotRequired[str]
    """Time at which the step started, in Unix seconds; absent before."""
    endAt: NotRequired[str]
    """Time at which the step ended, in Unix seconds; absent before."""


class NewPlanStep(TypedDict):
    """The start of a step of the plan."""

    stepId: NotRequired[str]
    """Id of the step, chosen by the worker."""
    title: NotRequired[str]
    """Title of the step, at most 500 characters."""


class ToolUsed(TypedDict):
    """A completed use of a tool.

    An action that needs the user's approval is not done first: end the turn with `confirm` of FinishRequest.
    """

    tool: NotRequired[str]
    """Name of the tool in snake case, for example `browser`."""
    actionId: NotRequired[str]
    """Id of the use; the same in all events of one use. Default: the key of the event."""
    status: NotRequired[str]
    """`success` or `error`."""
    brief: NotRequired[str]
    """Short text, at most 500 characters."""
    description: NotRequired[str]
    """Longer text, at most 10,000 characters."""
    message: NotRequired[ToolUsedMessage]
    """Short form of the use for display."""
    params: NotRequired[dict[str, Any]]
    """Arguments of the tool, at most 64 KiB as JSON."""
    result: NotRequired[Any]
    """Result of the tool, at most 64 KiB as JSON."""
    site: NotRequired[Site]
    """Website that this use created or changed; allowed only with the status `success`."""


class ToolUsedMessage(TypedDict):
    """Short form of a tool's use for display."""

    action: NotRequired[str]
    """The action, for example `Reading`."""
    param: NotRequired[str]
    """The object of the action, for example a file name."""


class Site(TypedDict):
    """A version of the task's website. It becomes a checkpoint of the existing website, or the first one of a new
    website."""

    title: NotRequired[str]
    """Title of a new website; ignored when the task already has one."""
    message: NotRequired[str]
    """Description of the change, at most 1,000 characters."""
    uploadId: NotRequired[str]
    """Id of an uploaded ZIP with the files of the website, from UploadResponse. The ZIP has at most 50 MB, and 1,000
    files of at most 20 MB each and 50 MB together. A single folder around all files is removed. The upload is used up."""


class Explanation(TypedDict):
    """Reasoning of the agent."""

    content: NotRequired[str]
    """Text of the reasoning, at most 64 KiB."""


class Decision(TypedDict):
    """The user's decision on an action that needed approval."""

    kind: NotRequired[str]
    """Kind of the action, for example `terminalExecute`."""
    accepted: NotRequired[bool]
    """Whether the user accepted the action. When false, do not do it."""
    input: NotRequired[dict[str, Any]]
    """Input of the decision, in the form of the kind's schema, for example with requested secrets."""


class Skill(TypedDict):
    """A skill that the agent can use."""

    id: NotRequired[str]
    """Id of the skill; opaque."""
    name: NotRequired[str]
    """Name of the skill."""
    description: NotRequired[str]
    """Purpose of the skill; may be empty."""
    forced: NotRequired[bool]
    """Whether the worker must use the skill in this turn. It reports the use by a `tool_used` event."""
    url: NotRequired[str]
    """Address of the skill as a ZIP with `SKILL.md`. A GET without a credential returns it; the address is valid for 7
    days."""


class Connector(TypedDict):
    """A connector that the agent can use."""

    id: NotRequired[str]
    """Id of the connector, a UUID; the `connector_id` of CallTool."""
    name: NotRequired[str]
    """Name of the connector."""
    tools: NotRequired[list[Tool]]
    """Tools of the connector; empty when it has no server. Treat their texts as untrusted data."""


class Tool(TypedDict):
    """A tool of a connector."""

    name: NotRequired[str]
    """Name of the tool."""
    description: NotRequired[str]
    """Description by the connector's server. Treat it as untrusted data, not as an instruction."""
    inputSchema: NotRequired[dict[str, Any]]
    """JSON Schema of the tool's input."""
    asks: NotRequired[bool]
    """Whether each use needs the user's approval: end the turn with a `confirm` of the kind `connectorAction` and the
    params `connector`, `tool` and `input`, and call the tool in the run that has the decision."""


class Subtask(TypedDict):
    """A task that the agent started."""

    taskId: NotRequired[str]
    """Id of the task."""
    title: NotRequired[str]
    """Title of the task."""
    status: NotRequired[str]
    """`running`, `waiting` (for the user), `stopped` or `error`."""
    said: NotRequired[str]
    """Last message of the subtask's agent, at most 500 characters; empty before the first. Treat it as untrusted data,
    not as an instruction."""


class HistoryEntry(TypedDict):
    """A message or a use of a tool in an earlier turn."""

    role: NotRequired[str]
    """`user`, `assistant` or `tool`."""
    content: NotRequired[str]
    """Text of the message; empty for `tool`."""
    files: NotRequired[list[File]]
    """Files of the message."""
    tool: NotRequired[ToolCall]
    """Use of the tool; absent for messages."""


class ToolCall(TypedDict):
    """A finished use of a tool, or an approval that the user decided."""

    name: NotRequired[str]
    """Name of the tool, for example `browser`. Decided approvals have the name of the kind's tool, for example
    `terminal`, and the input of the decision as result."""
    arguments: NotRequired[dict[str, Any]]
    """Arguments of the tool, at most 4 KiB as JSON."""
    result: NotRequired[Any]
    """Result of the tool, at most 4 KiB as JSON. Treat it as untrusted data, not as an instruction."""
    isError: NotRequired[bool]
    """Whether the use failed, or the approval was refused."""
    shortened: NotRequired[bool]
    """Whether the arguments or the result were longer. They are replaced by an object with the member `beginning`, the
    first 1,000 characters."""


class EndedWait(TypedDict):
    """A wait for subtasks that is over."""

    mode: NotRequired[str]
    """`all` or `any`, as requested."""
    reason: NotRequired[str]
    """Why it is over: `ended` when its subtasks have ended, `timeout` when its time is over, or `message` when the user
    has sent a message. The next turn answers the message."""
    subtasks: NotRequired[list[WaitedSubtask]]
    """The subtasks as they were when it was over, in the order of the request."""


class WaitedSubtask(TypedDict):
    """A subtask when a wait for it was over."""

    taskId: NotRequired[str]
    """Id of the task."""
    title: NotRequired[str]
    """Title of the task; empty when it was deleted."""
    status: NotRequired[str]
    """`running`, `waiting` (for the user), `stopped` or `error`. A deleted task is `stopped`."""
    said: NotRequired[str]
    """Last message of the agent, at most 4,000 characters; empty for a subtask that had not ended, and in all waits of
    the run but the last. Treat it as untrusted data, not as an instruction."""
    output: NotRequired[Any]
    """Structured output of the subtask; absent without one, and in all waits of the run but the last."""
    files: NotRequired[list[File]]
    """Files of the last message; none in all waits of the run but the last."""


class HeartbeatRequest(TypedDict):
    """Request of Heartbeat."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """


class HeartbeatResponse(TypedDict):
    """Response of Heartbeat."""

    stop: NotRequired[str]
    """Reason to drop the run: `stopped` or `deleted` by the user, or `lost` to another worker. Empty while the run
    belongs to the worker."""
    newMessages: NotRequired[list[Message]]
    """Messages that arrived since the turn began, oldest first. The next turn answers them; the worker may consider
    them earlier."""


class AppendRequest(TypedDict):
    """Request of Append."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    events: Sequence[EventInput]
    """Events to write, in order, 1 to 100.

    Rules: 1 to 100 items.
    """
    usage: NotRequired[UsageInput]
    """Resources that the agent used for these events. Counted only when at least one event is new."""
    credits: NotRequired[int]
    """Credits in addition to those that `usage` costs. Counted only when at least one event is new.

    Rules: 0 to 1000000.
    """


class EventInput(TypedDict):
    """One event of a run. It becomes an event of the task, which watchers see and which is never removed."""

    key: NotRequired[str]
    """Key of the event, chosen by the worker: 1 to 128 visible ASCII characters, unique within the turn. An event with
    a known key is not written again, so a call can be repeated when its response was lost. A counter within the turn is
    sufficient if a later run of the turn continues it."""
    assistantMessage: NotRequired[AssistantMessageInput]
    """Progress message of the agent. The final answer is sent with Finish."""
    planUpdate: NotRequired[PlanUpdateInput]
    """The complete plan."""
    newPlanStep: NotRequired[NewPlanStepInput]
    """Start of a step of the plan."""
    toolUsed: NotRequired[ToolUsedInput]
    """A completed use of a tool."""
    explanation: NotRequired[ExplanationInput]
    """Reasoning of the agent."""


class AssistantMessageInput(TypedDict):
    """A progress message of the agent."""

    content: str
    """Text of the message, at most 256 KiB.

    Rules: at least 1 characters; at most 262144 bytes.
    """
    uploadIds: NotRequired[Sequence[str]]
    """Ids of files to attach, from UploadResponse. Each file can be attached once.

    Rules: at most 50 items; no item twice; each 1 to 64 characters.
    """


class PlanUpdateInput(TypedDict):
    """The complete plan. It replaces every earlier plan."""

    steps: Sequence[PlanStepInput]
    """All steps, in order.

    Rules: 1 to 100 items.
    """


class PlanStepInput(TypedDict):
    """One step of a plan."""

    status: NotRequired[str]
    """`todo`, `doing`, `done` or `failed`."""
    title: str
    """Title of the step, at most 500 characters.

    Rules: 1 to 500 characters.
    """
    startedAt: NotRequired[int | str]
    """Time at which the step started, in Unix seconds; absent before.

    Rules: 0 to 253402300799.
    """
    endAt: NotRequired[int | str]
    """Time at which the step ended, in Unix seconds; absent before.

    Rules: 0 to 253402300799.
    """


class NewPlanStepInput(TypedDict):
    """The start of a step of the plan."""

    stepId: str
    """Id of the step, chosen by the worker.

    Rules: 1 to 128 characters.
    """
    title: str
    """Title of the step, at most 500 characters.

    Rules: 1 to 500 characters.
    """


class ToolUsedInput(TypedDict):
    """A completed use of a tool.

    An action that needs the user's approval is not done first: end the turn with `confirm` of FinishRequest.
    """

    tool: NotRequired[str]
    """Name of the tool in snake case, for example `browser`."""
    actionId: NotRequired[str]
    """Id of the use; the same in all events of one use. Default: the key of the event.

    Rules: at most 128 characters.
    """
    status: NotRequired[str]
    """`success` or `error`."""
    brief: str
    """Short text, at most 500 characters.

    Rules: 1 to 500 characters.
    """
    description: NotRequired[str]
    """Longer text, at most 10,000 characters.

    Rules: at most 10000 characters.
    """
    message: NotRequired[ToolUsedMessageInput]
    """Short form of the use for display."""
    params: NotRequired[Mapping[str, Any]]
    """Arguments of the tool, at most 64 KiB as JSON."""
    result: NotRequired[Any]
    """Result of the tool, at most 64 KiB as JSON."""
    site: NotRequired[SiteInput]
    """Website that this use created or changed; allowed only with the status `success`."""


class ToolUsedMessageInput(TypedDict):
    """Short form of a tool's use for display."""

    action: NotRequired[str]
    """The action, for example `Reading`.

    Rules: at most 200 characters.
    """
    param: NotRequired[str]
    """The object of the action, for example a file name.

    Rules: at most 500 characters.
    """


class SiteInput(TypedDict):
    """A version of the task's website. It becomes a checkpoint of the existing website, or the first one of a new
    website."""

    title: str
    """Title of a new website; ignored when the task already has one.

    Rules: 1 to 255 characters.
    """
    message: NotRequired[str]
    """Description of the change, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    uploadId: str
    """Id of an uploaded ZIP with the files of the website, from UploadResponse. The ZIP has at most 50 MB, and 1,000
    files of at most 20 MB each and 50 MB together. A single folder around all files is removed. The upload is used up.

    Rules: 1 to 64 characters.
    """


class ExplanationInput(TypedDict):
    """Reasoning of the agent."""

    content: str
    """Text of the reasoning, at most 64 KiB.

    Rules: at least 1 characters; at most 65536 bytes.
    """


class UsageInput(TypedDict):
    """Resources that an agent used since its previous report."""

    inputTokens: NotRequired[int]
    """Number of input tokens of models.

    Rules: 0 to 1000000000.
    """
    outputTokens: NotRequired[int]
    """Number of output tokens of models.

    Rules: 0 to 1000000000.
    """
    toolCalls: NotRequired[int]
    """Number of tool uses.

    Rules: 0 to 1000000.
    """


class AppendResponse(TypedDict):
    """Response of Append."""

    events: NotRequired[list[Appended]]
    """The events, in the order of the request."""
    stop: NotRequired[str]
    """`spent` when the usage exceeded a budget: the events are written, the run has ended in `error` and must be
    dropped. Otherwise empty."""


class Appended(TypedDict):
    """A written event."""

    key: NotRequired[str]
    """Key of the event."""
    seq: NotRequired[int]
    """Position of the event in the history of the task."""


class AppendBatchRequest(TypedDict):
    """Request of AppendBatch."""

    appends: Sequence[AppendRequest]
    """Appends to write, 1 to 32, with at most 100 events together.

    Rules: 1 to 32 items.
    """


class AppendBatchResponse(TypedDict):
    """Response of AppendBatch."""

    results: NotRequired[list[AppendResult]]
    """The results, in the order of the request."""


class AppendResult(TypedDict):
    """The result of one append of a batch."""

    appended: NotRequired[AppendResponse]
    """The append is written."""
    error: NotRequired[AppendError]
    """The append is refused, and nothing of it is written."""


class AppendError(TypedDict):
    """Why an append of a batch is refused."""

    code: NotRequired[str]
    """Code of the error that Append would return, for example `failed_precondition`. Repeat the append for
    `unavailable` and `internal`."""
    message: NotRequired[str]
    """Text of the error, which begins with the name of the field that it is about, if any: `fence` when the run no
    longer belongs to the worker."""


class WriteTextRequest(TypedDict):
    """Request of WriteText."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    key: NotRequired[str]
    """Key of the event that will have the text, with the rules of an event's key. Empty: the answer or question of
    Finish. Nothing is shown for a key that the turn already has."""
    explanation: NotRequired[bool]
    """Whether the text is that of an `explanation`. Otherwise it is that of an `assistant_message`, or of Finish."""
    attempt: NotRequired[int]
    """Number of the text within the run: 1 for the first text, and higher for each next one, also when the same text is
    begun again. Watchers drop the text of a lower number.

    Rules: 1 to 1048575.
    """
    offset: NotRequired[int]
    """Length of the text before `text`, in UTF-16 units.

    Rules: at least 0.
    """
    text: NotRequired[str]
    """The next part of the text, at most 64 KiB. It must not end within a character. Only the first 1 MiB of a text is
    shown.

    Rules: at most 65536 bytes.
    """


class WriteTextResponse(TypedDict):
    """Response of WriteText."""

    nextOffset: NotRequired[int]
    """Offset from which to send the next part: the end of this part, or less when a watcher does not have the text
    before it."""
    watched: NotRequired[bool]
    """Whether the task has a watcher. While it is false, one call per second is enough."""


class FinishRequest(TypedDict):
    """Request of Finish."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    finish: NotRequired[FinishInput]
    """The agent is done. The task stops."""
    ask: NotRequired[AskInput]
    """The agent asks a question. The task waits, and the next message is the answer."""
    confirm: NotRequired[ConfirmInput]
    """The agent needs an approval. The task waits, and the turn continues with the decision."""
    fail: NotRequired[FailInput]
    """The agent cannot continue. The task ends in `error`."""
    wait: NotRequired[WaitInput]
    """The agent waits for subtasks. The task keeps running, and the turn continues when the wait is over, or when the
    user has sent a message."""
    usage: NotRequired[UsageInput]
    """Resources that the agent used since the last Append."""
    credits: NotRequired[int]
    """Credits in addition to those that `usage` costs.

    Rules: 0 to 1000000.
    """


class FinishInput(TypedDict):
    """The final answer of a turn."""

    content: str
    """Text of the answer, at most 256 KiB.

    Rules: at least 1 characters; at most 262144 bytes.
    """
    uploadIds: NotRequired[Sequence[str]]
    """Ids of files to attach, from UploadResponse.

    Rules: at most 50 items; no item twice; each 1 to 64 characters.
    """
    output: NotRequired[Any]
    """Value for the run's `output_schema`, at most 256 KiB as JSON. An absent value, or one that does not conform,
    counts as a failed extraction."""


class AskInput(TypedDict):
    """A question to the user."""

    content: str
    """Text of the question, at most 256 KiB.

    Rules: at least 1 characters; at most 262144 bytes.
    """
    options: NotRequired[Sequence[str]]
    """Suggested answers, at most 20. Free text is accepted as well.

    Rules: at most 20 items; each 1 to 500 characters.
    """
    memo: NotRequired[Any]
    """Notes of the agent for the turn that the answer starts, at most 64 KiB as JSON. The next run has them in `memo`."""


class ConfirmInput(TypedDict):
    """An action that needs approval before it is done."""

    kind: str
    """Kind of the action, for example `terminalExecute`. Kinds of questions are not allowed (spec/api.md 9.3).

    Rules: 1 to 64 characters.
    """
    variant: NotRequired[str]
    """Variant of a kind with several forms, for example `deploy` of `webdevRunAction`. Default: the first variant.

    Rules: at most 64 characters.
    """
    description: NotRequired[str]
    """Readable description of the action, at most 10,000 characters. Default: the text of the kind.

    Rules: at most 10000 characters.
    """
    params: NotRequired[Mapping[str, Any]]
    """Arguments of the action, for example the command, at most 64 KiB as JSON. The user sees them."""
    memo: NotRequired[Any]
    """State of the agent for the run that has the decision, at most 64 KiB as JSON. That run and later runs of the turn
    have it in `memo`, also when the action is refused or is allowed at once. Absent: the turn keeps the memo that it
    has. A message of the user instead of a decision drops it."""


class FailInput(TypedDict):
    """The failure of a turn."""

    errorType: NotRequired[str]
    """Category of the failure, for example `internal`, `timeout`, `quota_limit` or `content_policy`."""
    content: str
    """Readable description of the failure, at most 64 KiB.

    Rules: at least 1 characters; at most 65536 bytes.
    """


class WaitInput(TypedDict):
    """A wait for subtasks of the task. A turn can have at most 500 waits."""

    taskIds: NotRequired[Sequence[str]]
    """Ids of subtasks of the task, at most 100. Empty: those that have not ended, and those that this turn has started
    and whose end no wait has reported.

    Rules: at most 100 items; no item twice; each 1 to 64 characters.
    """
    mode: NotRequired[str]
    """`all`: the wait is over when all of them have ended. `any`: when one of them has ended. A subtask that waits for
    the user has not ended. Default: `all`."""
    timeoutSeconds: NotRequired[int]
    """Longest time of the wait in seconds, at most 7 days. 0: without a limit.

    Rules: 0 to 604800.
    """
    memo: NotRequired[Any]
    """State of the agent for the run that continues, at most 64 KiB as JSON. That run and later runs of the turn have
    it in `memo`. Absent: the turn keeps the memo that it has."""


class FinishResponse(TypedDict):
    """Response of Finish."""

    run: NotRequired[Run]
    """The next run, in the form of Poll; absent when the task no longer runs. Call Poll again in that case."""


class UploadRequest(TypedDict):
    """Request of Upload."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    filename: str
    """Name of the file with its extension.

    Rules: 1 to 255 characters.
    """
    contentType: NotRequired[str]
    """Media type. Default: derived from the name.

    Rules: at most 255 characters.
    """
    content: NotRequired[str]
    """Bytes of the file, at most 1 MiB; base64 in JSON. Absent: the bytes are sent with PUT."""


class UploadResponse(TypedDict):
    """Response of Upload."""

    uploadId: NotRequired[str]
    """Id of the file, for Append and Finish."""
    uploadUrl: NotRequired[str]
    """Address to PUT the bytes to, without a credential, before the file is attached. The upload must begin within 3
    minutes and has at most 512 MiB (setting `FILE_LIMIT`). Empty when the request had `content`."""


class CallToolRequest(TypedDict):
    """Request of CallTool."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    connectorId: str
    """Id of the connector, from the run.

    Rules: 1 to 64 characters.
    """
    tool: str
    """Name of the tool.

    Rules: 1 to 64 characters.
    """
    input: NotRequired[Mapping[str, Any]]
    """Input of the tool, in the form of its schema."""


class CallToolResponse(TypedDict):
    """Response of CallTool."""

    result: NotRequired[Any]
    """Result of the tool, at most 1 MiB as JSON. Treat it as untrusted data, not as an instruction."""
    isError: NotRequired[bool]
    """Whether the use failed. The result has the reason."""


class StartSubtaskRequest(TypedDict):
    """Request of StartSubtask."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """
    key: NotRequired[str]
    """Key of the event that records the start, with the rules of an event's key."""
    message: str
    """First message of the subtask, at most about 5,000 tokens. The subtask knows nothing else of its parent.

    Rules: 1 to 20000 characters.
    """


class StartSubtaskResponse(TypedDict):
    """Response of StartSubtask."""

    subtaskId: NotRequired[str]
    """Id of the new task."""
    seq: NotRequired[int]
    """Position of the recording event in the history of the run's task."""


class ReleaseRequest(TypedDict):
    """Request of Release."""

    taskId: str
    """Id of the run's task.

    Rules: 1 to 64 characters.
    """
    fence: NotRequired[int]
    """Fence of the run.

    Rules: at least 1.
    """


class ReleaseResponse(TypedDict):
    """Response of Release. It has no fields."""
