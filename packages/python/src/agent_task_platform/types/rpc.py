# Made from proto/ by `node scripts/client-types.ts --write`.
"""The messages of operations without a name in v2, in the JSON of Connect: lowerCamelCase, without zero values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class GetConversationRequest(TypedDict):
    """Request of GetConversation."""

    taskId: str
    """Id of the task. `agent-default-main_task` is not accepted.

    Rules: 1 to 128 characters.
    """


class GetConversationResponse(TypedDict):
    """Response of GetConversation."""

    conversation: NotRequired[Conversation]
    """The task with its messages."""


class Conversation(TypedDict):
    """A task with the messages of its user and its agent."""

    task: NotRequired[Task]
    """The task."""
    messages: NotRequired[list[TaskEvent]]
    """Events of the types `user_message`, `assistant_message`, `error_message`, `user_stop` and
    `structured_output_result`, oldest first. GetConversation returns the 10,000 newest, ListConversations the 100
    newest of each task."""
    locale: NotRequired[str]
    """Language of the agent's answers as a BCP 47 tag."""
    maxOutputTokens: NotRequired[int]
    """Maximum number of tokens of one answer of the model that the task's profile uses; absent when the profile uses no
    model of the server."""
    usage: NotRequired[TokenUsage]
    """Tokens that the task used. Only in GetConversation; absent before the first use."""


class Task(TypedDict):
    """A task: work that an agent does for an account, with its present state (spec/api.md 7.1).

    ListMessages returns the conversation.

    Of a task of another account, which only a list with the view `team` has, these fields are set and no other: `id`,
    `status`, `created_at`, `updated_at`, `share_visibility`, `title`, `task_url` with the address for sharing, and the
    `account_id` of `created_by` (spec/decisions.md 82).
    """

    id: NotRequired[str]
    """Id of the task: 22 letters and digits; opaque."""
    status: NotRequired[Literal["TASK_STATUS_UNSPECIFIED", "TASK_STATUS_RUNNING", "TASK_STATUS_STOPPED", "TASK_STATUS_WAITING", "TASK_STATUS_ERROR"]]
    """State of the task."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change, in Unix seconds."""
    taskType: NotRequired[Literal["TASK_TYPE_UNSPECIFIED", "TASK_TYPE_STANDARD", "TASK_TYPE_PROJECT", "TASK_TYPE_AGENT_SUBTASK"]]
    """Kind of task; not set for a task of another account."""
    shareVisibility: NotRequired[Literal["SHARE_VISIBILITY_UNSPECIFIED", "SHARE_VISIBILITY_PRIVATE", "SHARE_VISIBILITY_TEAM", "SHARE_VISIBILITY_PUBLIC"]]
    """Audience of the task's web page."""
    title: NotRequired[str]
    """Title. It is made from the first message unless the caller sets one."""
    creditUsage: NotRequired[int]
    """Credits spent on the task, and on its subtasks unless it is a subtask; absent before the first use."""
    taskUrl: NotRequired[str]
    """Address of the task's web page."""
    createdByApiKey: NotRequired[CreatedByApiKey]
    """API key that created the task; absent when no key did."""
    agentProfile: NotRequired[str]
    """Profile of the latest turn: `manus-1.6`, `manus-1.6-lite` or `manus-1.6-max`."""
    hasRunningBackgroundJobs: NotRequired[bool]
    """Whether a subtask at any depth runs, or the task waits for subtasks. A task is over when it is `stopped` and this
    field is false."""
    metadata: NotRequired[dict[str, str]]
    """Labels of the task, as CreateTask and UpdateTask set them; absent when there are none."""
    hideInTaskList: NotRequired[bool]
    """Whether the task is hidden in the task list of the web app."""
    projectId: NotRequired[str]
    """Id of the task's project; absent without one. A token needs `create_project` or `manage_all_tasks` to see it."""
    agentId: NotRequired[str]
    """Id of the agent whose main task this is, or whose main task it is a subtask of; absent for all other tasks."""
    createdBy: NotRequired[TaskCreator]
    """Account of the task. Only for API keys and sessions."""
    createdByApp: NotRequired[CreatedByApp]
    """OAuth app that created the task; absent when no app did. A token sees only its own app here."""
    lastSeq: NotRequired[int]
    """`seq` of the task's latest event; 0 without events."""
    brief: NotRequired[str]
    """Short text of the present state, from the latest StatusUpdate. It is absent for a task whose state last changed
    under a version before 0.2.0, like `status_detail`, `outcome` and `plan_progress`."""
    statusDetail: NotRequired[StatusDetail]
    """What the task waits for; present only while its state is `waiting`."""
    planProgress: NotRequired[PlanProgress]
    """Progress of the latest plan; absent without a plan."""
    outcome: NotRequired[Literal["TASK_OUTCOME_UNSPECIFIED", "TASK_OUTCOME_FINISHED", "TASK_OUTCOME_STOPPED", "TASK_OUTCOME_FAILED"]]
    """How the latest turn ended; absent while the task runs or waits."""
    runState: NotRequired[Literal["RUN_STATE_UNSPECIFIED", "RUN_STATE_QUEUED", "RUN_STATE_RUNNING", "RUN_STATE_WAITING_FOR_WORKER", "RUN_STATE_WAITING_FOR_SUBTASKS"]]
    """Where the turn of a running task is; absent in the other states (spec/api.md 8.74)."""
    queuedAt: NotRequired[str]
    """Since when the task has waited for its agent, in Unix seconds; absent while an agent works on it, and in the
    other states."""
    parentTaskId: NotRequired[str]
    """Id of the task whose agent started this subtask; absent for all other tasks."""
    rootTaskId: NotRequired[str]
    """Id of the first task of the tree, at which limits and budgets count; absent for a task that is not a subtask."""
    subtasks: NotRequired[SubtaskCounts]
    """Numbers of the subtasks that the task itself has started, by state; absent without subtasks."""
    importedFrom: NotRequired[ImportedFrom]
    """Where an imported task comes from; absent for all other tasks (spec/api.md 8.95)."""
    waitingSince: NotRequired[str]
    """Since when the task has waited for its user, in Unix seconds. Only in lists that are ordered by it (`order_by`
    `waiting_since`)."""


class CreatedByApiKey(TypedDict):
    """The API key that created a task."""

    id: NotRequired[str]
    """Id of the key."""
    name: NotRequired[str]
    """Present name of the key."""


class TaskCreator(TypedDict):
    """The account that created a task."""

    accountId: NotRequired[str]
    """Id of the account."""
    name: NotRequired[str]
    """Present name of the person; absent without one."""


class CreatedByApp(TypedDict):
    """The OAuth app that created a task."""

    clientId: NotRequired[str]
    """Client id of the app."""
    name: NotRequired[str]
    """Present name of the app; empty when the app was deleted."""


class StatusDetail(TypedDict):
    """The question or approval that a task waits for (spec/api.md 9.3)."""

    waitingForEventId: NotRequired[str]
    """Id of the waiting event. Send it as `event_id` of ConfirmAction."""
    waitingForEventType: NotRequired[str]
    """Kind of wait, for example `messageAskUser` or `terminalExecute`. New values can appear. SendMessage answers
    questions (`messageAskUser`, `cascadeAskUser`); ConfirmAction decides all other kinds."""
    waitingDescription: NotRequired[str]
    """Readable description of the question or action."""
    confirmInputSchema: NotRequired[dict[str, Any]]
    """JSON Schema of the `input` of ConfirmAction; absent for a question."""
    tool: NotRequired[WaitingTool]
    """What the agent wants to do. Only in the answer of GetTask (`task.detail`); absent for a question."""
    isWhole: NotRequired[bool]
    """Whether `waiting_description` shows the whole action: each value of its params, in at most 300 characters on one
    line, and the decision is `accept` alone, or with the member that only decides later actions. A list may offer the
    decision only then. Absent for a question, and in events."""


class WaitingTool(TypedDict):
    """The use of a tool that waits for the user's approval."""

    name: NotRequired[str]
    """Name of the tool in snake case, for example `terminal`. New values can appear."""
    description: NotRequired[str]
    """Longer text of the agent; absent without one."""
    params: NotRequired[dict[str, Any]]
    """Arguments of the tool; absent without any. Show all of them before you ask for a decision."""


class PlanProgress(TypedDict):
    """How many steps of a plan are done."""

    done: NotRequired[int]
    """Steps in the state `done`."""
    total: NotRequired[int]
    """All steps, including failed ones."""


class SubtaskCounts(TypedDict):
    """Numbers of a task's own subtasks by state (spec/api.md 8.80). Deleted ones are not counted."""

    running: NotRequired[int]
    """Subtasks in the state `running`."""
    waiting: NotRequired[int]
    """Subtasks in the state `waiting`."""
    stopped: NotRequired[int]
    """Subtasks in the state `stopped`."""
    error: NotRequired[int]
    """Subtasks in the state `error`."""


class ImportedFrom(TypedDict):
    """The source of an imported task."""

    origin: NotRequired[str]
    """Origin of the server, for example `https://agents.example.com`."""
    taskId: NotRequired[str]
    """Id of the task there."""
    importedAt: NotRequired[str]
    """Time of the import, in Unix seconds."""


class TaskEvent(TypedDict):
    """One event in the history of a task (spec/api.md 7.5, 9.2).

    The events of a task have one order, by `seq`. A returned event never changes or disappears while its task exists.
    """

    id: NotRequired[str]
    """Id of the event; opaque."""
    type: NotRequired[Literal["TASK_EVENT_TYPE_UNSPECIFIED", "TASK_EVENT_TYPE_USER_MESSAGE", "TASK_EVENT_TYPE_ASSISTANT_MESSAGE", "TASK_EVENT_TYPE_ERROR_MESSAGE", "TASK_EVENT_TYPE_STATUS_UPDATE", "TASK_EVENT_TYPE_USER_STOP", "TASK_EVENT_TYPE_STRUCTURED_OUTPUT_RESULT", "TASK_EVENT_TYPE_TOOL_USED", "TASK_EVENT_TYPE_PLAN_UPDATE", "TASK_EVENT_TYPE_NEW_PLAN_STEP", "TASK_EVENT_TYPE_EXPLANATION"]]
    """Kind of event. It names the payload that is set."""
    timestamp: NotRequired[str]
    """Time of the event, in Unix milliseconds. It increases strictly within a task."""
    seq: NotRequired[int]
    """Position in the history of the task, from 1, without gaps. Use it as `after_seq` (spec/decisions.md 17a)."""
    userMessage: NotRequired[UserMessage]
    """Message from the user."""
    assistantMessage: NotRequired[AssistantMessage]
    """Message from the agent."""
    errorMessage: NotRequired[ErrorMessage]
    """Failure of the turn."""
    statusUpdate: NotRequired[StatusUpdate]
    """Change of the task's state."""
    userStop: NotRequired[UserStop]
    """The user stopped the task."""
    structuredOutputResult: NotRequired[StructuredOutputResult]
    """Result of the structured output."""
    toolUsed: NotRequired[ToolUsed]
    """Use of a tool; in verbose lists only."""
    planUpdate: NotRequired[PlanUpdate]
    """The complete plan; in verbose lists only."""
    newPlanStep: NotRequired[NewPlanStep]
    """Start of a step of the plan; in verbose lists only."""
    explanation: NotRequired[Explanation]
    """Reasoning of the agent; in verbose lists only."""


class UserMessage(TypedDict):
    """A message from the user."""

    content: NotRequired[str]
    """Text of the message: its text parts and the transcripts of its voice parts, in order and joined by line feeds. A
    recording without a transcript adds no text."""
    messageType: NotRequired[Literal["MESSAGE_TYPE_UNSPECIFIED", "MESSAGE_TYPE_TEXT", "MESSAGE_TYPE_VOICE"]]
    """Whether the message contains speech."""
    attachments: NotRequired[list[TaskAttachment]]
    """Files of the message, including recordings of speech."""


class TaskAttachment(TypedDict):
    """A file that is attached to a message of the user or the agent (spec/api.md 7.4)."""

    type: NotRequired[Literal["ATTACHMENT_TYPE_UNSPECIFIED", "ATTACHMENT_TYPE_IMAGE", "ATTACHMENT_TYPE_FILE", "ATTACHMENT_TYPE_VOICE", "ATTACHMENT_TYPE_SLIDES"]]
    """How to display the file."""
    filename: NotRequired[str]
    """Name of the file."""
    url: NotRequired[str]
    """Download address. It needs no credential, is new in each response, and is valid for 7 days or until the file is
    deleted (spec/decisions.md 38)."""
    contentType: NotRequired[str]
    """Media type."""
    path: NotRequired[str]
    """Relative path by which the text of the message links to this file. This server does not send it."""


class AssistantMessage(TypedDict):
    """A message from the agent."""

    content: NotRequired[str]
    """Text of the message."""
    attachments: NotRequired[list[TaskAttachment]]
    """Files that the agent made."""
    deliveryKind: NotRequired[str]
    """`result` for the final answer, `progress`, or `question`. New values can appear."""
    questionExpectation: NotRequired[QuestionExpectation]
    """How to answer; present on questions."""


class QuestionExpectation(TypedDict):
    """How the agent expects its question to be answered (spec/api.md 7.5)."""

    responseMethod: NotRequired[str]
    """`send_message`: answer with SendMessage. New values can appear."""
    options: NotRequired[list[str]]
    """Suggested answers. Free text is accepted as well."""
    selectionMode: NotRequired[str]
    """`multiple` when several options can be chosen; any other value means one."""


class ErrorMessage(TypedDict):
    """A failure that ended the turn."""

    errorType: NotRequired[str]
    """Category of the failure, for example `quota_limit`, `internal`, `timeout`, `content_policy` or
    `invalid_directive`. New values can appear."""
    content: NotRequired[str]
    """Readable description of the failure."""


class StatusUpdate(TypedDict):
    """A change of the task's state."""

    agentStatus: NotRequired[Literal["TASK_STATUS_UNSPECIFIED", "TASK_STATUS_RUNNING", "TASK_STATUS_STOPPED", "TASK_STATUS_WAITING", "TASK_STATUS_ERROR"]]
    """New state of the task."""
    statusDetail: NotRequired[StatusDetail]
    """What the task waits for; present only when the new state is `waiting`."""
    brief: NotRequired[str]
    """Short text."""
    description: NotRequired[str]
    """Longer text."""


class UserStop(TypedDict):
    """A stop by the user. It has no fields."""


class StructuredOutputResult(TypedDict):
    """The value that was extracted when a turn finished while a schema was armed (spec/api.md 9.5)."""

    success: NotRequired[bool]
    """Whether the extraction succeeded."""
    value: NotRequired[dict[str, Any]]
    """The extracted value, or the zero value of the schema on failure. It always conforms to the schema."""
    error: NotRequired[str]
    """Reason of the failure; null on success."""


class ToolUsed(TypedDict):
    """A use of a tool by the agent."""

    tool: NotRequired[str]
    """Name of the tool in snake case, for example `browser`. New values can appear."""
    actionId: NotRequired[str]
    """Id of the use; the same in all events of one use. Opaque."""
    status: NotRequired[Literal["TOOL_USED_STATUS_UNSPECIFIED", "TOOL_USED_STATUS_SUCCESS", "TOOL_USED_STATUS_ERROR", "TOOL_USED_STATUS_ROLLBACK", "TOOL_USED_STATUS_PENDING_CONFIRMATION"]]
    """State of the use."""
    brief: NotRequired[str]
    """Short text."""
    description: NotRequired[str]
    """Longer text."""
    message: NotRequired[ToolUsedMessage]
    """Short form of the use for display."""
    params: NotRequired[dict[str, Any]]
    """Arguments of the tool."""
    result: NotRequired[Any]
    """Result of the tool."""


class ToolUsedMessage(TypedDict):
    """Short form of a tool's use for display."""

    action: NotRequired[str]
    """The action, for example `Reading`."""
    param: NotRequired[str]
    """The object of the action, for example a file name."""


class PlanUpdate(TypedDict):
    """The complete plan. It replaces every earlier plan."""

    steps: NotRequired[list[PlanStep]]
    """All steps, in order."""


class PlanStep(TypedDict):
    """One step of a plan."""

    status: NotRequired[Literal["PLAN_STEP_STATUS_UNSPECIFIED", "PLAN_STEP_STATUS_TODO", "PLAN_STEP_STATUS_DOING", "PLAN_STEP_STATUS_DONE", "PLAN_STEP_STATUS_FAILED"]]
    """State of the step."""
    title: NotRequired[str]
    """Title of the step."""
    startedAt: NotRequired[str]
    """Time at which the step started, in Unix seconds; null before."""
    endAt: NotRequired[str]
    """Time at which the step ended, in Unix seconds; null before."""


class NewPlanStep(TypedDict):
    """The start of a step of the plan."""

    stepId: NotRequired[str]
    """Id of the step; opaque."""
    title: NotRequired[str]
    """Title of the step."""


class Explanation(TypedDict):
    """Reasoning of the agent."""

    content: NotRequired[str]
    """Text of the reasoning."""


class TokenUsage(TypedDict):
    """Tokens that the agent of a task used, over all turns."""

    inputTokens: NotRequired[str]
    """Tokens that were sent to models."""
    outputTokens: NotRequired[str]
    """Tokens that models generated."""


class ListConversationsRequest(TypedDict):
    """Request of ListConversations. All filters apply together."""

    limit: NotRequired[int]
    """Maximum number of tasks on the page, 1 to 1,000. Default 100.

    Rules: 1 to 1000.
    """
    afterTaskId: NotRequired[str]
    """Id of the last task of the previous page. Absent for the first page.

    Rules: at most 128 characters.
    """
    order: NotRequired[Literal["SORT_ORDER_UNSPECIFIED", "SORT_ORDER_ASC", "SORT_ORDER_DESC"]]
    """Order of the tasks. Default: newest first."""
    orderBy: NotRequired[Literal["CONVERSATION_ORDER_UNSPECIFIED", "CONVERSATION_ORDER_CREATED_AT", "CONVERSATION_ORDER_UPDATED_AT"]]
    """Time that the list is ordered by. Default: creation time."""
    query: NotRequired[str]
    """Only tasks with this text in their title or messages, regardless of case.

    Rules: at most 200 characters.
    """
    statuses: NotRequired[Sequence[Literal["TASK_STATUS_UNSPECIFIED", "TASK_STATUS_RUNNING", "TASK_STATUS_STOPPED", "TASK_STATUS_WAITING", "TASK_STATUS_ERROR"]]]
    """Only tasks in one of these states. Default: all states.

    Rules: at most 4 items.
    """
    createdAfter: NotRequired[int | str]
    """Only tasks created after this time, in Unix seconds.

    Rules: at least 0.
    """
    createdBefore: NotRequired[int | str]
    """Only tasks created before this time, in Unix seconds.

    Rules: at least 0.
    """
    projectId: NotRequired[str]
    """Only tasks of this project.

    Rules: at most 128 characters.
    """


class ListConversationsResponse(TypedDict):
    """Response of ListConversations: one page of tasks."""

    data: NotRequired[list[Conversation]]
    """The tasks with their messages."""
    hasMore: NotRequired[bool]
    """Whether another page follows."""


class GetSharedTaskRequest(TypedDict):
    """Request of GetSharedTask."""

    taskId: str
    """Id of the task, from the share link. `agent-default-main_task` is not accepted.

    Rules: 1 to 128 characters.
    """


class GetSharedTaskResponse(TypedDict):
    """Response of GetSharedTask."""

    task: NotRequired[SharedTask]
    """The task."""


class SharedTask(TypedDict):
    """A task as visitors of its share link see it.

    It has separate types, so that a new field of a task or an event is not shown to visitors.
    """

    title: NotRequired[str]
    """Title of the task."""
    status: NotRequired[Literal["TASK_STATUS_UNSPECIFIED", "TASK_STATUS_RUNNING", "TASK_STATUS_STOPPED", "TASK_STATUS_WAITING", "TASK_STATUS_ERROR"]]
    """State of the task."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change, in Unix seconds."""


class ListSharedEventsRequest(TypedDict):
    """Request of ListSharedEvents."""

    taskId: str
    """Id of the task, from the share link. `agent-default-main_task` is not accepted.

    Rules: 1 to 128 characters.
    """
    afterSeq: NotRequired[int]
    """Only events with a greater `seq`. Default 0: from the first event.

    Rules: at least 0.
    """
    limit: NotRequired[int]
    """Maximum number of events on the page, 1 to 200. Default 50.

    Rules: 1 to 200.
    """


class ListSharedEventsResponse(TypedDict):
    """Response of ListSharedEvents: one page of events."""

    data: NotRequired[list[SharedEvent]]
    """The events."""
    hasMore: NotRequired[bool]
    """Whether more of the history follows. It can have only events that are left out."""
    nextAfterSeq: NotRequired[int]
    """`after_seq` of the next page. On the last page it is the `after_seq` with which WatchSharedTask continues."""


class SharedEvent(TypedDict):
    """One event of a shared task: a message, a new state or the plan. All other events are left out."""

    seq: NotRequired[int]
    """Position in the history of the task. Numbers increase; those of events that are left out are missing."""
    timestamp: NotRequired[str]
    """Time of the event, in Unix milliseconds."""
    userMessage: NotRequired[SharedMessage]
    """Message from the user."""
    assistantMessage: NotRequired[SharedMessage]
    """Message from the agent."""
    status: NotRequired[Literal["TASK_STATUS_UNSPECIFIED", "TASK_STATUS_RUNNING", "TASK_STATUS_STOPPED", "TASK_STATUS_WAITING", "TASK_STATUS_ERROR"]]
    """New state of the task."""
    plan: NotRequired[SharedPlan]
    """The complete plan. It replaces every earlier plan."""


class SharedMessage(TypedDict):
    """A message of a shared task."""

    content: NotRequired[str]
    """Text of the message."""
    attachments: NotRequired[list[SharedAttachment]]
    """Files of the message."""


class SharedAttachment(TypedDict):
    """A file of a message of a shared task."""

    type: NotRequired[Literal["ATTACHMENT_TYPE_UNSPECIFIED", "ATTACHMENT_TYPE_IMAGE", "ATTACHMENT_TYPE_FILE", "ATTACHMENT_TYPE_VOICE", "ATTACHMENT_TYPE_SLIDES"]]
    """How to display the file."""
    filename: NotRequired[str]
    """Name of the file."""
    url: NotRequired[str]
    """Download address. It needs no credential, is new in each response, and is valid for 10 minutes or until the file
    is deleted."""
    contentType: NotRequired[str]
    """Media type."""


class SharedPlan(TypedDict):
    """A plan of a shared task."""

    steps: NotRequired[list[SharedPlanStep]]
    """All steps, in order."""


class SharedPlanStep(TypedDict):
    """One step of a plan of a shared task."""

    status: NotRequired[Literal["PLAN_STEP_STATUS_UNSPECIFIED", "PLAN_STEP_STATUS_TODO", "PLAN_STEP_STATUS_DOING", "PLAN_STEP_STATUS_DONE", "PLAN_STEP_STATUS_FAILED"]]
    """State of the step."""
    title: NotRequired[str]
    """Title of the step."""
    startedAt: NotRequired[str]
    """Time at which the step started, in Unix seconds; absent before."""
    endAt: NotRequired[str]
    """Time at which the step ended, in Unix seconds; absent before."""


class ListFilesRequest(TypedDict):
    """Request of ListFiles."""

    limit: NotRequired[int]
    """Maximum number of files on the page, 1 to 100. Default 10.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """
    taskId: NotRequired[str]
    """Lists the files that agents made for this task, instead of uploads.

    Rules: at most 128 characters.
    """
    filenameContains: NotRequired[str]
    """Only files whose name contains this text. ASCII letters match in both cases.

    Rules: at most 255 bytes.
    """
    origin: NotRequired[Literal["FILE_ORIGIN_UNSPECIFIED", "FILE_ORIGIN_UPLOADS", "FILE_ORIGIN_TASKS", "FILE_ORIGIN_ALL"]]
    """Where the files come from. Default `uploads`. With `task_id` it has no effect."""


class ListFilesResponse(TypedDict):
    """Response of ListFiles."""

    data: NotRequired[list[FileDetail]]
    """The files, newest first."""
    hasMore: NotRequired[bool]
    """Whether another page follows."""
    nextCursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class FileDetail(TypedDict):
    """A file with its size, type and expiry (spec/api.md 7.10)."""

    id: NotRequired[str]
    """Id of the file; opaque."""
    filename: NotRequired[str]
    """Name with its extension."""
    status: NotRequired[Literal["FILE_STATUS_UNSPECIFIED", "FILE_STATUS_PENDING", "FILE_STATUS_UPLOADED", "FILE_STATUS_DELETED", "FILE_STATUS_ERROR"]]
    """State of the upload."""
    createdAt: NotRequired[str]
    """Creation time of the record, in Unix seconds."""
    bytes: NotRequired[str]
    """Size in bytes; null until the file is uploaded."""
    contentType: NotRequired[str]
    """Media type. For an upload it is derived from the name."""
    expiresAt: NotRequired[str]
    """Time at which the file is deleted, in Unix seconds: 48 hours after the upload. Absent before the upload."""
    errorMessage: NotRequired[str]
    """Reason of the failure when `status` is `error`; otherwise null."""
    downloadUrl: NotRequired[str]
    """Address to download the bytes from, valid for 10 minutes. It needs no credential. Absent unless `status` is
    `uploaded`."""
    downloadExpiresAt: NotRequired[str]
    """Time until which `download_url` is valid, in Unix seconds; absent without an address."""
    taskId: NotRequired[str]
    """The task whose agent made it. Only in lists with an `origin`; absent for an upload."""


class ListApiKeysRequest(TypedDict):
    """Request of ListApiKeys. It has no fields."""


class ListApiKeysResponse(TypedDict):
    """Response of ListApiKeys."""

    data: NotRequired[list[ApiKey]]
    """The valid keys, newest first."""


class ApiKey(TypedDict):
    """An API key of an account in one space. Only the call that creates it returns its text."""

    id: NotRequired[str]
    """Id of the key; opaque."""
    name: NotRequired[str]
    """Display name of the key."""
    kind: NotRequired[Literal["API_KEY_KIND_UNSPECIFIED", "API_KEY_KIND_GENERAL", "API_KEY_KIND_EDISCOVERY", "API_KEY_KIND_SIEM", "API_KEY_KIND_TEAM_USER_MGMT", "API_KEY_KIND_TEAM_ASSET_AUDIT", "API_KEY_KIND_TEAM_ASSET_MGMT"]]
    """Operations that the key opens."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    lastUsedAt: NotRequired[str]
    """Time of the last use, in Unix seconds, up to a minute late; absent before the first use."""
    expiresAt: NotRequired[str]
    """Time at which the key expires, in Unix seconds; absent for a key that does not expire."""
    lastFour: NotRequired[str]
    """Last four characters of the key's text; absent for a key that was made before they were stored."""
    restrictions: NotRequired[ApiKeyRestrictions]
    """What the key is limited to; absent for a key without restrictions."""


class ApiKeyRestrictions(TypedDict):
    """Limits of an API key (spec/api.md 8.108). An empty list does not limit."""

    scopes: NotRequired[list[str]]
    """Scopes of the key, for example `task:read`: each operation names the one that it needs. Only for general keys."""
    projectIds: NotRequired[list[str]]
    """Ids of the projects whose tasks the key reaches. Only for general keys."""
    addressRanges: NotRequired[list[str]]
    """Addresses from which the key can be used: IPv4 and IPv6 addresses, or ranges like `10.0.0.0/8` and
    `2001:db8::/32`."""


class RevokeApiKeyRequest(TypedDict):
    """Request of RevokeApiKey."""

    id: str
    """Id of the key.

    Rules: 1 to 64 characters.
    """


class RevokeApiKeyResponse(TypedDict):
    """Response of RevokeApiKey. It has no fields."""


class RenameApiKeyRequest(TypedDict):
    """Request of RenameApiKey."""

    id: str
    """Id of the key.

    Rules: 1 to 64 characters.
    """
    name: str
    """New name, 1 to 100 characters, without control characters and without blanks at the ends.

    Rules: 1 to 100 characters.
    """


class RenameApiKeyResponse(TypedDict):
    """Response of RenameApiKey."""

    apiKey: NotRequired[ApiKey]
    """The key after the change."""


class ListSpaceApiKeysRequest(TypedDict):
    """Request of ListSpaceApiKeys."""

    limit: NotRequired[int]
    """Maximum number of keys on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filter. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """
    userId: NotRequired[str]
    """Only keys of this account. A text that is not an account of the space has no keys.

    Rules: at most 128 characters.
    """


class ListSpaceApiKeysResponse(TypedDict):
    """Response of ListSpaceApiKeys: one page of keys."""

    data: NotRequired[list[SpaceApiKey]]
    """The valid keys, newest first."""
    hasMore: NotRequired[bool]
    """Whether another page follows."""
    nextCursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class SpaceApiKey(TypedDict):
    """An API key of a member of the space, as its owner sees it."""

    apiKey: NotRequired[ApiKey]
    """The key."""
    userId: NotRequired[str]
    """Account id of the key's holder, a UUID."""
    email: NotRequired[str]
    """E-mail address of the holder."""


class RevokeSpaceApiKeyRequest(TypedDict):
    """Request of RevokeSpaceApiKey."""

    id: str
    """Id of the key.

    Rules: 1 to 64 characters.
    """


class RevokeSpaceApiKeyResponse(TypedDict):
    """Response of RevokeSpaceApiKey. It has no fields."""


class CreateSkillRequest(TypedDict):
    """Request of CreateSkill. Either `file_id` or `archive` is required."""

    ownerType: NotRequired[Literal["SKILL_OWNER_TYPE_UNSPECIFIED", "SKILL_OWNER_TYPE_PERSONAL", "SKILL_OWNER_TYPE_TEAM", "SKILL_OWNER_TYPE_PROJECT", "SKILL_OWNER_TYPE_OFFICIAL", "SKILL_OWNER_TYPE_APP"]]
    """Kind of owner; not `SKILL_OWNER_TYPE_OFFICIAL`. Default: personal."""
    projectId: NotRequired[str]
    """Id of the owning project, for a project's skill.

    Rules: 1 to 128 characters.
    """
    clientId: NotRequired[str]
    """Client id of the owning app, for an app's skill. The skill's id is added to the app's `skill_ids`.

    Rules: 1 to 200 characters.
    """
    fileId: NotRequired[str]
    """Id of an uploaded file with the ZIP, at most 50 MB.

    Rules: 1 to 128 characters.
    """
    archive: NotRequired[str]
    """The ZIP, at most 8 MB."""


class CreateSkillResponse(TypedDict):
    """Response of CreateSkill."""

    skill: NotRequired[Skill]
    """The new skill."""


class Skill(TypedDict):
    """A skill with the settings of its owner."""

    id: NotRequired[str]
    """Id of the skill, for `enable_skills` and `force_skills` of a message."""
    name: NotRequired[str]
    """Name, from the skill's `SKILL.md`."""
    description: NotRequired[str]
    """Purpose, from the skill's `SKILL.md`; may be empty."""
    ownerType: NotRequired[Literal["SKILL_OWNER_TYPE_UNSPECIFIED", "SKILL_OWNER_TYPE_PERSONAL", "SKILL_OWNER_TYPE_TEAM", "SKILL_OWNER_TYPE_PROJECT", "SKILL_OWNER_TYPE_OFFICIAL", "SKILL_OWNER_TYPE_APP"]]
    """Kind of owner."""
    projectId: NotRequired[str]
    """Id of the owning project; empty for other owners."""
    clientId: NotRequired[str]
    """Client id of the owning app; empty for other owners."""
    enabled: NotRequired[bool]
    """Whether the caller's tasks can use the skill without naming it; for a skill of an app, whether the app's tasks
    can."""
    bytes: NotRequired[str]
    """Size of the skill's ZIP in bytes."""
    sha256: NotRequired[str]
    """SHA-256 of the skill's ZIP, in hexadecimal digits."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change, in Unix seconds."""


class ListSkillsRequest(TypedDict):
    """Request of ListSkills."""

    projectId: NotRequired[str]
    """Id of a project whose skills are added to the list.

    Rules: at most 128 characters.
    """
    clientId: NotRequired[str]
    """Client id of an app whose private skills are added to the list, including those that its `skill_ids` do not name.

    Rules: at most 200 characters.
    """


class ListSkillsResponse(TypedDict):
    """Response of ListSkills."""

    data: NotRequired[list[Skill]]
    """The skills. The list has no pages."""


class UpdateSkillRequest(TypedDict):
    """Request of UpdateSkill."""

    id: str
    """Id of the skill.

    Rules: 1 to 128 characters.
    """
    enabled: NotRequired[bool]
    """Whether tasks can use the skill without naming it; for a skill of an app, whether the app's tasks can."""
    forEveryone: NotRequired[bool]
    """Switches a team's skill for all members who have not switched it themselves."""


class UpdateSkillResponse(TypedDict):
    """Response of UpdateSkill."""

    skill: NotRequired[Skill]
    """The skill after the change."""


class GetSkillContentRequest(TypedDict):
    """Request of GetSkillContent."""

    id: str
    """Id of the skill.

    Rules: 1 to 128 characters.
    """
    path: NotRequired[str]
    """Path of the file whose text is returned, at most 512 characters. Default: `SKILL.md`.

    Rules: at most 512 characters.
    """


class GetSkillContentResponse(TypedDict):
    """Response of GetSkillContent."""

    skill: NotRequired[Skill]
    """The skill."""
    files: NotRequired[list[SkillFile]]
    """The files, by path; at most 1,000. The list has no pages."""
    path: NotRequired[str]
    """Path of the file that `text` is from."""
    text: NotRequired[str]
    """Text of the file, at most its first 262,144 bytes."""
    truncated: NotRequired[bool]
    """Whether the file has more than `text`."""


class SkillFile(TypedDict):
    """A file of a skill."""

    path: NotRequired[str]
    """Path within the skill's folder, with slashes; `SKILL.md` for its instructions."""
    bytes: NotRequired[str]
    """Size in bytes, at most 20 MB."""


class ReplaceSkillContentRequest(TypedDict):
    """Request of ReplaceSkillContent. Either `file_id` or `archive` is required."""

    id: str
    """Id of the skill.

    Rules: 1 to 128 characters.
    """
    fileId: NotRequired[str]
    """Id of an uploaded file with the ZIP, at most 50 MB.

    Rules: 1 to 128 characters.
    """
    archive: NotRequired[str]
    """The ZIP, at most 8 MB."""


class ReplaceSkillContentResponse(TypedDict):
    """Response of ReplaceSkillContent."""

    skill: NotRequired[Skill]
    """The skill after the change."""


class DeleteSkillRequest(TypedDict):
    """Request of DeleteSkill."""

    id: str
    """Id of the skill.

    Rules: 1 to 128 characters.
    """


class DeleteSkillResponse(TypedDict):
    """Response of DeleteSkill. It has no fields."""


class SetBudgetRequest(TypedDict):
    """Request of SetBudget."""

    kind: NotRequired[Literal["BUDGET_KIND_UNSPECIFIED", "BUDGET_KIND_TASK", "BUDGET_KIND_PROJECT", "BUDGET_KIND_APP", "BUDGET_KIND_ACCOUNT", "BUDGET_KIND_TEAM"]]
    """Kind of object that the budget limits."""
    subject: NotRequired[str]
    """Id of that object; ignored for a team.

    Rules: at most 64 characters.
    """
    period: NotRequired[Literal["BUDGET_PERIOD_UNSPECIFIED", "BUDGET_PERIOD_TOTAL", "BUDGET_PERIOD_DAY", "BUDGET_PERIOD_MONTH"]]
    """Period after which `spent` restarts at 0. Default: none."""
    credits: NotRequired[int | str]
    """Credits that can be spent in a period, 0 to 1,000,000,000,000.

    Rules: 0 to 1000000000000.
    """


class SetBudgetResponse(TypedDict):
    """Response of SetBudget."""

    budget: NotRequired[Budget]
    """The budget after the change."""


class Budget(TypedDict):
    """A limit on the credits that can be spent on a task, a project, an app, an account or a team."""

    id: NotRequired[str]
    """Id of the budget."""
    kind: NotRequired[Literal["BUDGET_KIND_UNSPECIFIED", "BUDGET_KIND_TASK", "BUDGET_KIND_PROJECT", "BUDGET_KIND_APP", "BUDGET_KIND_ACCOUNT", "BUDGET_KIND_TEAM"]]
    """Kind of object that the budget limits."""
    subject: NotRequired[str]
    """Id of that object: a task, a project, an app's `client_id` or an account; for a team the id of its space."""
    period: NotRequired[Literal["BUDGET_PERIOD_UNSPECIFIED", "BUDGET_PERIOD_TOTAL", "BUDGET_PERIOD_DAY", "BUDGET_PERIOD_MONTH"]]
    """Period after which `spent` restarts at 0."""
    credits: NotRequired[str]
    """Credits that can be spent in a period."""
    spent: NotRequired[str]
    """Credits spent in this period, less refunds and grants; may be negative."""
    held: NotRequired[str]
    """Credits that are reserved for calls of models and tools that are in progress."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change of `credits`, in Unix seconds."""


class ListBudgetsRequest(TypedDict):
    """Request of ListBudgets. It has no fields."""


class ListBudgetsResponse(TypedDict):
    """Response of ListBudgets."""

    data: NotRequired[list[Budget]]
    """All budgets of the space. The list has no pages."""


class ListOwnBudgetsRequest(TypedDict):
    """Request of ListOwnBudgets. It has no fields."""


class ListOwnBudgetsResponse(TypedDict):
    """Response of ListOwnBudgets."""

    data: NotRequired[list[Budget]]
    """The budgets of the caller's account in this space, at most one for each period."""


class RemoveBudgetRequest(TypedDict):
    """Request of RemoveBudget."""

    id: str
    """Id of the budget.

    Rules: 1 to 64 characters.
    """


class RemoveBudgetResponse(TypedDict):
    """Response of RemoveBudget. It has no fields."""


class ListWorkersRequest(TypedDict):
    """Request of ListWorkers. It has no fields."""


class ListWorkersResponse(TypedDict):
    """Response of ListWorkers."""

    data: NotRequired[list[Worker]]
    """The valid credentials, newest first."""
    queue: NotRequired[list[WorkerQueue]]
    """The waiting tasks, by profile."""


class Worker(TypedDict):
    """A credential of remote workers in one space. Only the call that creates it returns its text."""

    id: NotRequired[str]
    """Id of the credential; opaque."""
    name: NotRequired[str]
    """Display name of the credential."""
    profiles: NotRequired[list[str]]
    """Profiles whose tasks the credential can run; empty for all profiles that remote workers run."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    lastSeenAt: NotRequired[str]
    """Time of the last use, in Unix seconds, up to 20 seconds late; absent before the first use."""
    runs: NotRequired[int]
    """Number of runs that workers with this credential hold now."""
    labels: NotRequired[list[str]]
    """Labels of the workers, sorted. The credential can run tasks only of profiles whose labels it has."""


class WorkerQueue(TypedDict):
    """The tasks of one profile in a space that wait for a remote worker."""

    profile: NotRequired[str]
    """Name of the profile."""
    waiting: NotRequired[int]
    """Number of waiting tasks."""
    oldestAt: NotRequired[str]
    """Time since which the oldest of them waits, in Unix seconds; absent when no task waits."""


class UpdateWorkerRequest(TypedDict):
    """Request of UpdateWorker. Absent fields stay unchanged; at least one is required."""

    id: str
    """Id of the credential.

    Rules: 1 to 64 characters.
    """
    name: NotRequired[str]
    """New name, 1 to 100 characters, without control characters and without blanks at the ends.

    Rules: 1 to 100 characters.
    """
    profiles: NotRequired[WorkerProfilesInput]
    """New profiles, which replace the present ones."""
    labels: NotRequired[WorkerLabelsInput]
    """New labels, which replace the present ones."""


class WorkerProfilesInput(TypedDict):
    """Profiles of a worker."""

    names: NotRequired[Sequence[str]]
    """Names of profiles; empty for all profiles that remote workers run.

    Rules: at most 50 items; no item twice.
    """


class WorkerLabelsInput(TypedDict):
    """Labels of a worker."""

    names: NotRequired[Sequence[str]]
    """Names of labels; may be empty.

    Rules: at most 20 items; no item twice.
    """


class UpdateWorkerResponse(TypedDict):
    """Response of UpdateWorker."""

    worker: NotRequired[Worker]
    """The credential after the change."""


class ListWorkerFailuresRequest(TypedDict):
    """Request of ListWorkerFailures."""

    id: str
    """Id of the credential.

    Rules: 1 to 64 characters.
    """


class ListWorkerFailuresResponse(TypedDict):
    """Response of ListWorkerFailures."""

    data: NotRequired[list[WorkerFailure]]
    """The failed runs, newest first. The list has no pages."""


class WorkerFailure(TypedDict):
    """A run of a worker that failed."""

    taskId: NotRequired[str]
    """Id of the task."""
    kind: NotRequired[str]
    """`error`: the worker ended the run with an error. `lease`: the worker did not call for 15 seconds, and the run
    went to another worker. New values can appear."""
    at: NotRequired[str]
    """Time of the failure, in Unix seconds."""


class RevokeWorkerRequest(TypedDict):
    """Request of RevokeWorker."""

    id: str
    """Id of the credential.

    Rules: 1 to 64 characters.
    """


class RevokeWorkerResponse(TypedDict):
    """Response of RevokeWorker. It has no fields."""


class InstallConnectorRequest(TypedDict):
    """Request of InstallConnector."""

    uid: NotRequired[str]
    """Id of a connector of the catalogue, a UUID; empty for another server.

    Rules: at most 36 characters.
    """
    name: NotRequired[str]
    """Display name, at most 100 characters, without control characters. Default: the name in the catalogue. Required
    for another server.

    Rules: at most 100 characters.
    """
    description: NotRequired[str]
    """Purpose of the connector, at most 1,000 characters, without control characters.

    Rules: at most 1000 characters.
    """
    category: NotRequired[str]
    """Free grouping, at most 100 characters.

    Rules: at most 100 characters.
    """
    forSpace: NotRequired[bool]
    """Installs the connector for all members of the space. Requires a session."""
    isDefault: NotRequired[bool]
    """Whether tasks use the connector when they name no connectors and have no project. Requires a session."""
    http: NotRequired[HttpServerInput]
    """A server over streamable HTTP."""
    command: NotRequired[str]
    """Name of a command of the setting `CONNECTOR_COMMANDS`."""


class HttpServerInput(TypedDict):
    """A server of the Model Context Protocol over streamable HTTP."""

    url: str
    """Address of the server: https, without user information.

    Rules: 1 to 2048 characters.
    """
    header: NotRequired[HeaderCredentialInput]
    """A credential that is sent as a header of every request."""
    oauth: NotRequired[OAuthClientInput]
    """OAuth. After the installation a user signs in with BeginAuthorization."""


class HeaderCredentialInput(TypedDict):
    """A credential in a request header."""

    name: NotRequired[str]
    """Name of the header. Default `Authorization`."""
    value: str
    """Value of the header, for example `Bearer <token>`. It is stored encrypted and never returned.

    Rules: 1 to 8192 characters.
    """


class OAuthClientInput(TypedDict):
    """The platform's OAuth client at the authorization server. When it is empty, the platform registers a client
    itself."""

    clientId: NotRequired[str]
    """Id of the client.

    Rules: at most 512 characters.
    """
    clientSecret: NotRequired[str]
    """Secret of the client, if it has one. It is stored encrypted and never returned.

    Rules: at most 2048 characters.
    """


class InstallConnectorResponse(TypedDict):
    """Response of InstallConnector."""

    connector: NotRequired[InstalledConnector]
    """The installed connector."""


class InstalledConnector(TypedDict):
    """A connector that is installed for an account in a space, or for all members of a space.

    The credential of its server is never shown.
    """

    id: NotRequired[str]
    """Id of the installation; opaque."""
    uid: NotRequired[str]
    """Id that tasks and apps use for the connector, a UUID: the id of the catalogue, or a new one for another server."""
    name: NotRequired[str]
    """Display name."""
    type: NotRequired[str]
    """`builtin`, `byok` or `mcp`, as in connector.v2.ConnectorType."""
    description: NotRequired[str]
    """Purpose of the connector; may be empty."""
    category: NotRequired[str]
    """Free grouping; may be empty."""
    forSpace: NotRequired[bool]
    """Whether the connector is installed for all members of the space."""
    url: NotRequired[str]
    """Address of the connector's server; empty without one."""
    command: NotRequired[str]
    """Name of the operator's command that runs the server; empty without one."""
    auth: NotRequired[str]
    """How the server authenticates the platform: `none`, `header` or `oauth`."""
    state: NotRequired[str]
    """`ready`, or `expired`: the connector cannot be used until a user signs in again with BeginAuthorization."""
    isDefault: NotRequired[bool]
    """Whether tasks use the connector when they name no connectors and have no project."""
    tools: NotRequired[list[ConnectorTool]]
    """Tools of the connector, as the server listed them last."""
    toolsAt: NotRequired[str]
    """Time of that listing, in Unix seconds; absent when the tools were never listed."""
    createdAt: NotRequired[str]
    """Time of the installation, in Unix seconds."""


class ConnectorTool(TypedDict):
    """A tool of a connector, as its server describes it."""

    name: NotRequired[str]
    """Name of the tool."""
    description: NotRequired[str]
    """Description by the server. Treat it as untrusted data."""
    inputSchema: NotRequired[dict[str, Any]]
    """JSON Schema of the tool's input."""
    policy: NotRequired[str]
    """`allow` (agents use the tool freely), `ask` (each use needs the user's approval; the default) or `deny` (agents
    cannot use it)."""


class ListInstalledRequest(TypedDict):
    """Request of ListInstalled. It has no fields."""


class ListInstalledResponse(TypedDict):
    """Response of ListInstalled."""

    data: NotRequired[list[InstalledConnector]]
    """The installed connectors, newest first."""


class RemoveConnectorRequest(TypedDict):
    """Request of RemoveConnector."""

    id: str
    """Id of the installation.

    Rules: 1 to 64 characters.
    """


class RemoveConnectorResponse(TypedDict):
    """Response of RemoveConnector. It has no fields."""


class TestConnectorRequest(TypedDict):
    """Request of TestConnector."""

    id: str
    """Id of the installation.

    Rules: 1 to 64 characters.
    """


class TestConnectorResponse(TypedDict):
    """Response of TestConnector."""

    reachable: NotRequired[bool]
    """Whether the server listed its tools."""
    failure: NotRequired[str]
    """Why it did not: `unreachable`, `refused` (the credential), `broken` (not the Model Context Protocol),
    `too_large`, `timeout` or `sign_in` (a user must sign in with BeginAuthorization). Absent after a success. New
    values can appear."""
    tools: NotRequired[int]
    """Number of tools that the server listed."""
    latencyMs: NotRequired[int]
    """Time until the answer or the failure, in milliseconds."""
    message: NotRequired[str]
    """The failure as a sentence, which says more than `failure`: for example whether the name was not found or its
    address is not allowed. Absent after a success."""


class GetProjectConnectorsRequest(TypedDict):
    """Request of GetProjectConnectors."""

    projectId: str
    """Id of the project.

    Rules: 1 to 64 characters.
    """


class GetProjectConnectorsResponse(TypedDict):
    """Response of GetProjectConnectors."""

    uids: NotRequired[list[str]]
    """Ids of the default connectors, UUIDs."""


class CreateOAuth2AppRequest(TypedDict):
    """Request of CreateOAuth2App."""

    name: str
    """Name, 1 to 100 characters, without control or bidirectional characters.

    Rules: 1 to 100 characters.
    """
    description: NotRequired[str]
    """Description, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    redirectUris: Sequence[str]
    """Redirect URIs that codes can be sent to: 1 to 20 absolute URIs (spec/oauth.md 1.5).

    Rules: 1 to 20 items; each 1 to 2048 characters.
    """
    homepageUrl: NotRequired[str]
    """Home page of the app: an https address, or http on loopback. Optional.

    Rules: at most 2048 characters.
    """
    scopeConfig: NotRequired[ScopeConfigInput]
    """Scopes and connectors that the app can request. They can be set later."""
    webhookUrl: NotRequired[str]
    """https address that receives the events of the app's tasks. Optional.

    Rules: at most 2048 characters.
    """
    skillIds: NotRequired[Sequence[str]]
    """Ids of private skills, at most 50.

    Rules: at most 50 items; each 1 to 64 characters.
    """
    confidentialOnly: NotRequired[bool]
    """Whether each code exchange and refresh needs a client secret. Default false."""
    loopbackAnyPort: NotRequired[bool]
    """Whether a redirect to the loopback address can use any port. Default false."""
    allowedOrigins: NotRequired[Sequence[str]]
    """Origins whose pages can call the API with access tokens of the app: at most 10, `https://` and a host, with the
    port if it is not 443. They do not follow from the redirect URIs.

    Rules: at most 10 items; each 1 to 255 characters.
    """
    deviceAuthorization: NotRequired[bool]
    """Whether users can sign in on another device, with a short code (RFC 8628). Default false."""
    clientCredentials: NotRequired[bool]
    """Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4). Its tasks belong to the
    caller. Default false."""


class ScopeConfigInput(TypedDict):
    """Scopes and connectors that an app can request from its users (spec/oauth.md 2)."""

    scopes: NotRequired[Sequence[str]]
    """Names of scopes: `create_task`, `manage_all_tasks`, `create_project`, `use_connectors`, `use_my_browsers`,
    `profile`, `email`, `approve:task`."""
    connectorUids: NotRequired[Sequence[str]]
    """Ids of connectors of the catalogue, UUIDs. Required with the scope `use_connectors`, and not allowed without it."""


class CreateOAuth2AppResponse(TypedDict):
    """Response of CreateOAuth2App."""

    app: NotRequired[OAuth2App]
    """The new app."""
    clientSecret: NotRequired[str]
    """Text of the first client secret: `secret_` and 43 characters. It is not shown again."""


class OAuth2App(TypedDict):
    """An OAuth app of a third party (spec/oauth.md 1.3).

    An app belongs to one team. Only active members of that team can authorize it.
    """

    clientId: NotRequired[str]
    """Client id of the app: `client_` and 22 characters. Issued at creation and permanent."""
    appType: NotRequired[str]
    """Kind of app; always `team` (spec/decisions.md 25)."""
    name: NotRequired[str]
    """Name of the app, shown on the consent page."""
    description: NotRequired[str]
    """Description of the app; may be empty."""
    redirectUris: NotRequired[list[str]]
    """Redirect URIs that authorization codes can be sent to. A request must match one of them exactly."""
    homepageUrl: NotRequired[str]
    """Home page of the app; may be empty."""
    scopeConfig: NotRequired[ScopeConfig]
    """Scopes and connectors that the app can request."""
    webhookUrl: NotRequired[str]
    """Address that receives the events of the app's tasks; empty for none."""
    skillIds: NotRequired[list[str]]
    """Ids of the private skills that the app's tasks can use, at most 50."""
    confidentialOnly: NotRequired[bool]
    """Whether each code exchange and refresh needs a client secret, so that PKCE alone is not enough (spec/decisions.md
    25)."""
    loopbackAnyPort: NotRequired[bool]
    """Whether a redirect to `http` on 127.0.0.1 or [::1] can use any port (RFC 8252 7.3)."""
    creatorId: NotRequired[str]
    """Account id of the member who created the app."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change, in Unix seconds."""
    webhookId: NotRequired[str]
    """Id of the webhook behind `webhook_url`, for the methods of WebhookService; empty without a webhook."""
    allowedOrigins: NotRequired[list[str]]
    """Origins whose pages can call the API with access tokens of the app (spec/api.md 8.91)."""
    deviceAuthorization: NotRequired[bool]
    """Whether users can sign in to the app on another device, with a short code (RFC 8628, spec/api.md 8.113)."""
    clientCredentials: NotRequired[bool]
    """Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4, spec/api.md 8.114)."""
    clientCredentialsUserId: NotRequired[str]
    """Account id of the member who lets the app act as itself; empty without one."""


class ScopeConfig(TypedDict):
    """Scopes and connectors that an app can request from its users (spec/oauth.md 2)."""

    scopes: NotRequired[list[str]]
    """Names of scopes: `create_task`, `manage_all_tasks`, `create_project`, `use_connectors`, `use_my_browsers`,
    `profile`, `email`, `approve:task`."""
    connectorUids: NotRequired[list[str]]
    """Ids of connectors of the catalogue, UUIDs. Required with the scope `use_connectors`, and not allowed without it."""


class GetOAuth2AppRequest(TypedDict):
    """Request of GetOAuth2App."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """


class GetOAuth2AppResponse(TypedDict):
    """Response of GetOAuth2App."""

    app: NotRequired[OAuth2App]
    """The app."""


class ListOAuth2AppsRequest(TypedDict):
    """Request of ListOAuth2Apps. It has no fields."""


class ListOAuth2AppsResponse(TypedDict):
    """Response of ListOAuth2Apps."""

    data: NotRequired[list[OAuth2App]]
    """The apps, at most 50, newest first."""


class UpdateOAuth2AppRequest(TypedDict):
    """Request of UpdateOAuth2App. Each field follows the rules of CreateOAuth2AppRequest."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """
    scopeConfig: NotRequired[ScopeConfigInput]
    """Scopes and connectors that the app can request."""
    name: NotRequired[str]
    """Name.

    Rules: 1 to 100 characters.
    """
    description: NotRequired[str]
    """Description.

    Rules: at most 1000 characters.
    """
    redirectUris: NotRequired[Sequence[str]]
    """Redirect URIs that codes can be sent to. The list cannot be emptied.

    Rules: at most 20 items; each 1 to 2048 characters.
    """
    homepageUrl: NotRequired[str]
    """Home page of the app; empty for none.

    Rules: at most 2048 characters.
    """
    webhookUrl: NotRequired[str]
    """Address that receives the events of the app's tasks; empty for none.

    Rules: at most 2048 characters.
    """
    skillIds: NotRequired[Sequence[str]]
    """Ids of private skills.

    Rules: at most 50 items; each 1 to 64 characters.
    """
    confidentialOnly: NotRequired[bool]
    """Whether each code exchange and refresh needs a client secret."""
    loopbackAnyPort: NotRequired[bool]
    """Whether a redirect to the loopback address can use any port."""
    updateMask: NotRequired[str]
    """Names of the fields to set. Absent: all fields that are present or not empty."""
    allowedOrigins: NotRequired[Sequence[str]]
    """Origins whose pages can call the API with access tokens of the app.

    Rules: at most 10 items; each 1 to 255 characters.
    """
    deviceAuthorization: NotRequired[bool]
    """Whether users can sign in on another device, with a short code (RFC 8628). Requests that are pending end when it
    becomes false."""
    clientCredentials: NotRequired[bool]
    """Whether the app can act as itself, with a secret and without a user (RFC 6749 4.4). True: its tasks belong from
    now on to the caller, if it could not do so before. False: its tokens end."""


class UpdateOAuth2AppResponse(TypedDict):
    """Response of UpdateOAuth2App."""

    app: NotRequired[OAuth2App]
    """The app after the change."""


class DeleteOAuth2AppRequest(TypedDict):
    """Request of DeleteOAuth2App."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """


class DeleteOAuth2AppResponse(TypedDict):
    """Response of DeleteOAuth2App. It has no fields."""


class CreateOAuth2AppSecretRequest(TypedDict):
    """Request of CreateOAuth2AppSecret."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """


class CreateOAuth2AppSecretResponse(TypedDict):
    """Response of CreateOAuth2AppSecret."""

    secret: NotRequired[OAuth2AppSecret]
    """The new secret."""
    clientSecret: NotRequired[str]
    """Text of the secret: `secret_` and 43 characters. It is not shown again."""


class OAuth2AppSecret(TypedDict):
    """A client secret of an app. Only the call that creates it returns its text."""

    id: NotRequired[str]
    """Id of the secret; opaque."""
    last4: NotRequired[str]
    """Last four characters of the secret's text."""
    createdAt: NotRequired[str]
    """Creation time, in Unix seconds."""


class ListOAuth2AppSecretsRequest(TypedDict):
    """Request of ListOAuth2AppSecrets."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """


class ListOAuth2AppSecretsResponse(TypedDict):
    """Response of ListOAuth2AppSecrets."""

    data: NotRequired[list[OAuth2AppSecret]]
    """The active secrets, at most 5, newest first."""


class RevokeOAuth2AppSecretRequest(TypedDict):
    """Request of RevokeOAuth2AppSecret."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """
    secretId: str
    """Id of the secret.

    Rules: 1 to 64 characters.
    """


class RevokeOAuth2AppSecretResponse(TypedDict):
    """Response of RevokeOAuth2AppSecret. It has no fields."""


class ListOAuth2GrantsRequest(TypedDict):
    """Request of ListOAuth2Grants. It has no fields."""


class ListOAuth2GrantsResponse(TypedDict):
    """Response of ListOAuth2Grants."""

    data: NotRequired[list[OAuth2Grant]]
    """The grants, at most one for each app, newest first."""


class OAuth2Grant(TypedDict):
    """The access that the caller granted to an app (spec/oauth.md 1.4)."""

    id: NotRequired[str]
    """Id of the grant; opaque."""
    clientId: NotRequired[str]
    """Client id of the app."""
    appName: NotRequired[str]
    """Name of the app."""
    homepageUrl: NotRequired[str]
    """Home page of the app; may be empty."""
    scopes: NotRequired[list[str]]
    """Granted scopes that the app still has."""
    connectorUids: NotRequired[list[str]]
    """Ids of the granted connectors that the app still has."""
    createdAt: NotRequired[str]
    """Time of the first grant, in Unix seconds."""
    updatedAt: NotRequired[str]
    """Time of the last change of the granted access, in Unix seconds."""
    lastUsedAt: NotRequired[str]
    """Time at which the app last got an access token, in Unix seconds; absent when it holds none. An app that works
    gets a new one at least once per lifetime of a token."""
    credits: NotRequired[int]
    """Credits that the app's tasks spent for the caller in the last 30 days (UTC), less refunds."""
    verified: NotRequired[bool]
    """Whether the app was registered and verified on this server; false for an app that describes itself (spec/oauth.md
    16)."""
    expanded: NotRequired[bool]
    """Whether the app requests more permissions than the caller allowed: it has no access until the caller allows them."""


class RevokeOAuth2GrantRequest(TypedDict):
    """Request of RevokeOAuth2Grant."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """


class RevokeOAuth2GrantResponse(TypedDict):
    """Response of RevokeOAuth2Grant. It has no fields."""


class ListOAuth2AppUsersRequest(TypedDict):
    """Request of ListOAuth2AppUsers."""

    clientId: str
    """Client id of the app.

    Rules: 1 to 200 characters.
    """
    limit: NotRequired[int]
    """Maximum number of users on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """


class ListOAuth2AppUsersResponse(TypedDict):
    """Response of ListOAuth2AppUsers: one page of users."""

    data: NotRequired[list[OAuth2AppUser]]
    """The users, latest grant first."""
    total: NotRequired[int]
    """Number of users on all pages."""
    hasMore: NotRequired[bool]
    """Whether another page follows."""
    nextCursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class OAuth2AppUser(TypedDict):
    """A member of the team who granted access to an app (spec/oauth.md 1.4)."""

    userId: NotRequired[str]
    """Account id of the member."""
    userName: NotRequired[str]
    """Name of the member in the team, or else the address."""
    createdAt: NotRequired[str]
    """Time of the first grant, in Unix seconds."""
    lastUsedAt: NotRequired[str]
    """Time at which the app last got an access token for the member, in Unix seconds; absent when it holds none."""


class GetOAuth2ClientPolicyRequest(TypedDict):
    """Request of GetOAuth2ClientPolicy."""


class GetOAuth2ClientPolicyResponse(TypedDict):
    """Response of GetOAuth2ClientPolicy."""

    allowUnverifiedClients: NotRequired[bool]
    """Whether clients that describe themselves, and that are not registered with this server, may act in the space."""


class SetOAuth2ClientPolicyRequest(TypedDict):
    """Request of SetOAuth2ClientPolicy."""

    allowUnverifiedClients: bool
    """Whether they may. Required."""


class SetOAuth2ClientPolicyResponse(TypedDict):
    """Response of SetOAuth2ClientPolicy."""

    allowUnverifiedClients: NotRequired[bool]
    """Whether they may from now on."""
