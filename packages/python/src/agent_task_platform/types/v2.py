# Made from proto/ by `node scripts/client-types.ts --write`.
"""The messages of v2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Envelope(TypedDict):
    """What every answer has next to its own members."""

    request_id: str
    """Id of the call; the server's log has it too."""
    warnings: NotRequired[list[str]]
    """Members of the request that had no effect."""


class CreateTaskRequest(TypedDict):
    """Request of CreateTask."""

    message: MessageInput
    """First message of the task. Required."""
    project_id: NotRequired[str]
    """Id of the project that the task joins. The project's instruction applies, and its connectors become the default.

    Rules: at most 128 characters.
    """
    locale: NotRequired[str]
    """Language of the agent's answers as a BCP 47 tag, for example `en` or `zh-CN`. Default: the language of the
    account, also for a text that is not a tag.

    Rules: at most 64 characters.
    """
    interactive_mode: NotRequired[bool]
    """Whether the agent may ask questions when the input is unclear. When false, it does its best without asking."""
    hide_in_task_list: NotRequired[bool]
    """Hides the task in the task list of the web app. ListTasks still lists it."""
    share_visibility: NotRequired[Literal["private", "team", "public"]]
    """Audience of the task's web page. Default `private`."""
    agent_profile: NotRequired[str]
    """Profile of the task: `standard` (default), `lite`, `max`, a spelling with a version such as `manus-1.6-lite`, or
    a named profile of the space. Any other value returns `invalid_argument`, which lists the profiles.

    Rules: at most 64 characters.
    """
    title: NotRequired[str]
    """Title, at most 255 characters. Default: made from the message.

    Rules: at most 255 characters.
    """
    structured_output_schema: NotRequired[Mapping[str, Any]]
    """JSON Schema of the value to extract when the turn finishes, in the supported subset. Any other schema returns
    `invalid_argument` with the path of the fault (spec/api.md 9.5)."""
    metadata: NotRequired[Mapping[str, str]]
    """Labels of the task: at most 16 pairs. A key has 1 to 64 characters of `A-Z a-z 0-9 _ . -`, a value at most 512
    characters; a pair with an empty value is left out (spec/api.md 9.14).

    Rules: at most 16 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """


class MessageInput(TypedDict):
    """A message from the user to the agent, with the connectors and skills that the agent may use (spec/api.md 7.2)."""

    content: str | Sequence[ContentPartInput]
    """Parts of the message, 1 to 1,000. JSON also accepts a plain string for one text part. All text together has at
    most 5,000 estimated tokens. A message without text and without files, or with more text, returns `invalid_argument`
    (spec/api.md 9.6).

    Rules: 1 to 1000 items; a string is accepted instead of one text part.
    """
    connectors: NotRequired[Sequence[str]]
    """Ids of the connectors that the task can use. On CreateTask, an absent list means the defaults of the project or
    the account. On SendMessage, a non-empty list replaces the connectors of the task, and an empty list changes
    nothing. A connector that is not granted to the calling app returns `permission_denied`; one that is not installed
    returns `invalid_argument` (spec/api.md 9.9).

    Rules: each 1 to 128 characters.
    """
    no_connectors: NotRequired[bool]
    """On CreateTask, use no connectors, not even the defaults. In v2 JSON an explicit `"connectors": []` sets this
    field, because protobuf cannot distinguish an empty list from an absent one. Together with a non-empty `connectors`
    it returns `invalid_argument`. SendMessage ignores it and has `clear_connectors` instead (spec/api.md 14.2)."""
    enable_skills: NotRequired[Sequence[str]]
    """Ids of the skills that the task can use, at most 1,000. Empty means the enabled skills of the account. On
    SendMessage a non-empty list replaces the list of an earlier message. An unknown id returns `invalid_argument`
    (spec/api.md 9.10).

    Rules: at most 1000 items; each 1 to 128 characters.
    """
    force_skills: NotRequired[Sequence[str]]
    """Ids of the skills that the agent must use in each turn, at most 50; they need not be enabled. The list applies
    until another message names other skills.

    Rules: at most 50 items; each 1 to 128 characters.
    """
    task_references: NotRequired[Sequence[str]]
    """Ids of other tasks that the agent can read, at most 20 including duplicates. They are added to the references of
    the task, which keeps the 20 latest (spec/api.md 9.8).

    Rules: at most 20 items.
    """


class ContentPartInput(TypedDict):
    """One part of a message (spec/api.md 7.3).

    A text part has `text`. A file or voice part has exactly one of `file_id`, `file_url` and `file_data`; otherwise the
    call returns `invalid_argument`.
    """

    type: NotRequired[Literal["text", "file", "voice"]]
    """Kind of the part."""
    text: NotRequired[str]
    """Text of a text part."""
    file_id: NotRequired[str]
    """Id of an uploaded file that has not expired.

    Rules: at most 128 characters.
    """
    file_url: NotRequired[str]
    """Public http or https address of a file of at most 20 MB. The server fetches it during the call.

    Rules: at most 2048 characters.
    """
    file_data: NotRequired[str]
    """Content of a file as `data:<media type>;base64,<bytes>`, at most 20 MB after decoding."""
    filename: NotRequired[str]
    """Name of the file with its extension, at most 255 bytes. When absent, it is made from the address or the media
    type (spec/clients.md 21).

    Rules: at most 255 bytes.
    """
    mime_type: NotRequired[str]
    """Media type of the file, for example `audio/wav`. When absent, it is derived from the source or the name.

    Rules: at most 255 characters.
    """


class CreateTaskResponse(Envelope):
    """Response of CreateTask: the new task."""

    task_id: str
    """Id of the task."""
    task_title: str
    """Title of the task."""
    task_url: str
    """Address of the task's web page."""
    share_url: NotRequired[str]
    """Address for sharing; absent while the task is private."""
    share_visibility: Literal["private", "team", "public"]
    """Visibility that took effect; it can be narrower than the requested one."""


class GetTaskRequest(TypedDict):
    """Request of GetTask."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    after_seq: NotRequired[int]
    """`last_seq` that the caller knows; used with `wait_seconds`.

    Rules: at least 0.
    """
    wait_seconds: NotRequired[int]
    """Maximum time to hold the call, 0 to 60 seconds. The call returns as soon as the task has an event after
    `after_seq`, or without `after_seq` as soon as the task does not run. The server's setting `WAIT_SECONDS` (50 by
    default) limits the time further.

    Rules: 0 to 60.
    """


class GetTaskResponse(Envelope):
    """Response of GetTask."""

    task: Task
    """The task."""
    last_seq: int
    """`seq` of the task's latest event."""
    queue_position: NotRequired[int]
    """Place of a waiting task among the waiting tasks of the same account, space and profile: 1 for the oldest, and 100
    for every place from the 100th on. Absent for a task that does not wait."""


class Task(TypedDict):
    """A task: work that an agent does for an account, with its present state (spec/api.md 7.1).

    ListMessages returns the conversation.

    Of a task of another account, which only a list with the view `team` has, these fields are set and no other: `id`,
    `status`, `created_at`, `updated_at`, `share_visibility`, `title`, `task_url` with the address for sharing, and the
    `account_id` of `created_by` (spec/decisions.md 82).
    """

    id: str
    """Id of the task: 22 letters and digits; opaque."""
    status: Literal["running", "stopped", "waiting", "error"]
    """State of the task."""
    created_at: int
    """Creation time, in Unix seconds."""
    updated_at: int
    """Time of the last change, in Unix seconds."""
    task_type: Literal["standard", "project", "agent_subtask"]
    """Kind of task; not set for a task of another account."""
    share_visibility: Literal["private", "team", "public"]
    """Audience of the task's web page."""
    title: str
    """Title. It is made from the first message unless the caller sets one."""
    credit_usage: NotRequired[int]
    """Credits spent on the task, and on its subtasks unless it is a subtask; absent before the first use."""
    task_url: str
    """Address of the task's web page."""
    created_by_api_key: NotRequired[CreatedByApiKey]
    """API key that created the task; absent when no key did."""
    agent_profile: NotRequired[str]
    """Profile of the latest turn: `manus-1.6`, `manus-1.6-lite` or `manus-1.6-max`."""
    has_running_background_jobs: bool
    """Whether a subtask at any depth runs, or the task waits for subtasks. A task is over when it is `stopped` and this
    field is false."""
    metadata: NotRequired[dict[str, str]]
    """Labels of the task, as CreateTask and UpdateTask set them; absent when there are none."""
    hide_in_task_list: bool
    """Whether the task is hidden in the task list of the web app."""
    project_id: NotRequired[str]
    """Id of the task's project; absent without one. A token needs `create_project` or `manage_all_tasks` to see it."""
    agent_id: NotRequired[str]
    """Id of the agent whose main task this is, or whose main task it is a subtask of; absent for all other tasks."""
    created_by: NotRequired[TaskCreator]
    """Account of the task. Only for API keys and sessions."""
    created_by_app: NotRequired[CreatedByApp]
    """OAuth app that created the task; absent when no app did. A token sees only its own app here."""
    last_seq: int
    """`seq` of the task's latest event; 0 without events."""
    brief: NotRequired[str]
    """Short text of the present state, from the latest StatusUpdate. It is absent for a task whose state last changed
    under a version before 0.2.0, like `status_detail`, `outcome` and `plan_progress`."""
    status_detail: NotRequired[StatusDetail]
    """What the task waits for; present only while its state is `waiting`."""
    plan_progress: NotRequired[PlanProgress]
    """Progress of the latest plan; absent without a plan."""
    outcome: NotRequired[Literal["finished", "stopped", "failed"]]
    """How the latest turn ended; absent while the task runs or waits."""
    run_state: NotRequired[Literal["queued", "running", "waiting_for_worker", "waiting_for_subtasks"]]
    """Where the turn of a running task is; absent in the other states (spec/api.md 8.74)."""
    queued_at: NotRequired[int]
    """Since when the task has waited for its agent, in Unix seconds; absent while an agent works on it, and in the
    other states."""
    parent_task_id: NotRequired[str]
    """Id of the task whose agent started this subtask; absent for all other tasks."""
    root_task_id: NotRequired[str]
    """Id of the first task of the tree, at which limits and budgets count; absent for a task that is not a subtask."""
    subtasks: NotRequired[SubtaskCounts]
    """Numbers of the subtasks that the task itself has started, by state; absent without subtasks."""
    imported_from: NotRequired[ImportedFrom]
    """Where an imported task comes from; absent for all other tasks (spec/api.md 8.95)."""
    waiting_since: NotRequired[int]
    """Since when the task has waited for its user, in Unix seconds. Only in lists that are ordered by it (`order_by`
    `waiting_since`)."""


class CreatedByApiKey(TypedDict):
    """The API key that created a task."""

    id: str
    """Id of the key."""
    name: str
    """Present name of the key."""


class TaskCreator(TypedDict):
    """The account that created a task."""

    account_id: str
    """Id of the account."""
    name: NotRequired[str]
    """Present name of the person; absent without one."""


class CreatedByApp(TypedDict):
    """The OAuth app that created a task."""

    client_id: str
    """Client id of the app."""
    name: str
    """Present name of the app; empty when the app was deleted."""


class StatusDetail(TypedDict):
    """The question or approval that a task waits for (spec/api.md 9.3)."""

    waiting_for_event_id: str
    """Id of the waiting event. Send it as `event_id` of ConfirmAction."""
    waiting_for_event_type: str
    """Kind of wait, for example `messageAskUser` or `terminalExecute`. New values can appear. SendMessage answers
    questions (`messageAskUser`, `cascadeAskUser`); ConfirmAction decides all other kinds."""
    waiting_description: str
    """Readable description of the question or action."""
    confirm_input_schema: NotRequired[dict[str, Any]]
    """JSON Schema of the `input` of ConfirmAction; absent for a question."""
    tool: NotRequired[WaitingTool]
    """What the agent wants to do. Only in the answer of GetTask (`task.detail`); absent for a question."""
    is_whole: NotRequired[bool]
    """Whether `waiting_description` shows the whole action: each value of its params, in at most 300 characters on one
    line, and the decision is `accept` alone, or with the member that only decides later actions. A list may offer the
    decision only then. Absent for a question, and in events."""


class WaitingTool(TypedDict):
    """The use of a tool that waits for the user's approval."""

    name: str
    """Name of the tool in snake case, for example `terminal`. New values can appear."""
    description: NotRequired[str]
    """Longer text of the agent; absent without one."""
    params: NotRequired[dict[str, Any]]
    """Arguments of the tool; absent without any. Show all of them before you ask for a decision."""


class PlanProgress(TypedDict):
    """How many steps of a plan are done."""

    done: int
    """Steps in the state `done`."""
    total: int
    """All steps, including failed ones."""


class SubtaskCounts(TypedDict):
    """Numbers of a task's own subtasks by state (spec/api.md 8.80). Deleted ones are not counted."""

    running: int
    """Subtasks in the state `running`."""
    waiting: int
    """Subtasks in the state `waiting`."""
    stopped: int
    """Subtasks in the state `stopped`."""
    error: int
    """Subtasks in the state `error`."""


class ImportedFrom(TypedDict):
    """The source of an imported task."""

    origin: str
    """Origin of the server, for example `https://agents.example.com`."""
    task_id: str
    """Id of the task there."""
    imported_at: int
    """Time of the import, in Unix seconds."""


class ListTasksRequest(TypedDict):
    """Request of ListTasks. All filters apply together."""

    limit: NotRequired[int]
    """Maximum number of tasks on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first
    page.

    Rules: at most 1024 characters.
    """
    order: NotRequired[Literal["asc", "desc"]]
    """Order of the tasks, by the time of `order_by`. Default: newest first."""
    scope: NotRequired[Literal["all", "standard", "project", "agent_subtask"]]
    """Kinds of task to list. Default: all."""
    project_id: NotRequired[str]
    """Only tasks of this project. Required with the scope `project`.

    Rules: at most 128 characters.
    """
    agent_id: NotRequired[str]
    """Only subtasks of this agent, or of `agent-default`. The scope `agent_subtask` needs it or `parent_task_id`.

    Rules: at most 128 characters.
    """
    status: NotRequired[Literal["running", "stopped", "waiting", "error"]]
    """Only tasks in this state."""
    created_after: NotRequired[int]
    """Only tasks created after this time, in Unix seconds.

    Rules: at least 0.
    """
    created_before: NotRequired[int]
    """Only tasks created before this time, in Unix seconds.

    Rules: at least 0.
    """
    updated_after: NotRequired[int]
    """Only tasks last changed after this time, in Unix seconds.

    Rules: at least 0.
    """
    updated_before: NotRequired[int]
    """Only tasks last changed before this time, in Unix seconds.

    Rules: at least 0.
    """
    order_by: NotRequired[Literal["created_at", "updated_at", "waiting_since"]]
    """Time that the list is ordered by. Default: creation time."""
    metadata: NotRequired[Mapping[str, str]]
    """Only tasks whose metadata has all of these pairs, at most 4. In a query: `metadata[ticket]=42`.

    Rules: at most 4 pairs; each key 1 to 64 characters; each value 1 to 512 characters.
    """
    statuses: NotRequired[Sequence[Literal["running", "stopped", "waiting", "error"]]]
    """Only tasks in one of these states. Default: all states.

    Rules: at most 4 items.
    """
    query: NotRequired[str]
    """Only tasks with all of these words in their title or in messages of the user or the assistant, in any letter
    case; the last word may be incomplete. At most 200 characters and 16 words. Empty for no filter; a text without
    letters and digits finds nothing (spec/api.md 8.3).

    Rules: at most 200 characters.
    """
    view: NotRequired[Literal["own", "team"]]
    """Which tasks to list. Default `own`. `team` returns `permission_denied` for keys and tokens, and takes no
    `project_id`, `agent_id`, `parent_task_id`, `created_by_app`, `metadata` or `scope` but `all`, and `query` only with
    `creator`."""
    creator: NotRequired[str]
    """With the view `team`: only tasks of this account. Empty for no filter.

    Rules: at most 128 characters.
    """
    include_counts: NotRequired[bool]
    """Also returns `counts`: how many tasks match all filters but `status` and `statuses`, by state."""
    parent_task_id: NotRequired[str]
    """Only tasks that the agent of this task has started. Empty for no filter.

    Rules: at most 128 characters.
    """
    created_by_app: NotRequired[str]
    """Only tasks that the OAuth app with this client id created. Empty for no filter (spec/api.md 8.92).

    Rules: at most 200 characters.
    """


class ListTasksResponse(Envelope):
    """Response of ListTasks: one page of tasks."""

    data: list[Task]
    """The tasks."""
    has_more: bool
    """Whether another page follows. With filters a page may have fewer tasks than `limit`, even none, although another
    page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    counts: NotRequired[TaskCounts]
    """With `include_counts`: numbers of tasks by state, over all pages."""


class TaskCounts(TypedDict):
    """Numbers of tasks by state (spec/api.md 8.66)."""

    running: int
    """Tasks in the state `running`, of any age; at most 5,000."""
    waiting: int
    """Tasks in the state `waiting`, of any age; at most 5,000."""
    stopped: int
    """Tasks in the state `stopped`."""
    error: int
    """Tasks in the state `error`."""
    complete: bool
    """Whether all tasks were counted. When false, the 5,000 newest tasks were examined, and more may be in the states
    `stopped` and `error`; with the view `team` in each state."""


class UpdateTaskRequest(TypedDict):
    """Request of UpdateTask. Absent fields stay unchanged."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    title: NotRequired[str]
    """New title, at most 255 characters, not blank.

    Rules: at most 255 characters.
    """
    share_visibility: NotRequired[Literal["private", "team", "public"]]
    """New audience of the task's web page."""
    enable_visible_in_task_list: NotRequired[bool]
    """True shows the task in the task list of the web app, false hides it."""
    project_id: NotRequired[str]
    """Id of the project that the task moves to; empty removes the task from its project. The instruction of the new
    project applies from the next turn on. An unknown project, and a token without a scope for projects, return
    `not_found`; a task of an agent returns `failed_precondition`.

    Rules: at most 128 characters.
    """
    metadata: NotRequired[Mapping[str, str]]
    """Pairs to add to the task's metadata, or to replace there. An empty value removes the pair. More than 16 pairs
    after the change return `invalid_argument` (spec/api.md 9.14).

    Rules: at most 32 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """


class UpdateTaskResponse(Envelope):
    """Response of UpdateTask: the task after the change."""

    task_id: str
    """Id of the task; never the shortcut."""
    task_title: str
    """Title of the task."""
    task_url: str
    """Address of the task's web page."""
    share_url: NotRequired[str]
    """Address for sharing; absent while the task is private."""
    share_visibility: Literal["private", "team", "public"]
    """Visibility that took effect; it can be narrower than the requested one."""


class StopTaskRequest(TypedDict):
    """Request of StopTask."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """


class StopTaskResponse(Envelope):
    """Response of StopTask. It has no fields."""


class DeleteTaskRequest(TypedDict):
    """Request of DeleteTask."""

    task_id: str
    """Id of the task. `agent-default-main_task` returns `failed_precondition`, like every task of an agent.

    Rules: 1 to 128 characters.
    """
    stop: NotRequired[bool]
    """Stops a running task before it is deleted. When false, a running task is not deleted."""


class DeleteTaskResponse(Envelope):
    """Response of DeleteTask."""

    id: str
    """Id of the deleted task."""
    deleted: bool
    """Always true."""


class SendMessageRequest(TypedDict):
    """Request of SendMessage."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    message: MessageInput
    """The message. Required."""
    agent_profile: NotRequired[str]
    """Profile from this turn on, with the values of CreateTask. Absent or empty keeps the present profile.

    Rules: at most 64 characters.
    """
    structured_output_schema: NotRequired[Mapping[str, Any]]
    """JSON Schema to arm for the next finish. It replaces an armed schema; absent keeps it."""
    clear_connectors: NotRequired[bool]
    """True removes all connectors from the task, for this and later turns."""


class SendMessageResponse(Envelope):
    """Response of SendMessage."""

    task_id: str
    """Id of the task; never the shortcut."""


class ListMessagesRequest(TypedDict):
    """Request of ListMessages."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    limit: NotRequired[int]
    """Maximum number of events on the page, 1 to 200. Default 50.

    Rules: 1 to 200.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first
    page.

    Rules: at most 1024 characters.
    """
    order: NotRequired[Literal["asc", "desc"]]
    """Order by position in the task. Default: latest first."""
    verbose: NotRequired[bool]
    """Also lists events of the types `tool_used`, `plan_update`, `new_plan_step` and `explanation`."""
    slides_format: NotRequired[Literal["html", "pptx"]]
    """Format of presentations in attachments. Default `html`. The field has no effect; the response contains a warning.

    Rules: accepted without effect.
    """
    start_event_id: NotRequired[str]
    """Id of the first event of the first page, in the requested order. A cursor takes precedence.

    Rules: at most 128 characters.
    """
    after_seq: NotRequired[int]
    """Only events with a greater `seq`.

    Rules: at least 0.
    """
    wait_seconds: NotRequired[int]
    """Maximum time to hold the call, 0 to 60 seconds, while the list has no event after `after_seq`. Requires
    `after_seq`. The server's setting `WAIT_SECONDS` (50 by default) limits the time further.

    Rules: 0 to 60.
    """


class ListMessagesResponse(Envelope):
    """Response of ListMessages: one page of events."""

    task_id: str
    """Id of the task; never the shortcut."""
    messages: list[TaskEvent]
    """The events."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    last_seq: int
    """`seq` of the task's latest event, listed or not."""


class TaskEventBase(TypedDict):
    """What every TaskEvent has."""

    id: str
    """Id of the event; opaque."""
    timestamp: int
    """Time of the event, in Unix milliseconds. It increases strictly within a task."""
    seq: int
    """Position in the history of the task, from 1, without gaps. Use it as `after_seq` (spec/decisions.md 17a)."""


class TaskEventUserMessage(TaskEventBase):
    type: Literal["user_message"]
    user_message: UserMessage
    """Message from the user."""


class TaskEventAssistantMessage(TaskEventBase):
    type: Literal["assistant_message"]
    assistant_message: AssistantMessage
    """Message from the agent."""


class TaskEventErrorMessage(TaskEventBase):
    type: Literal["error_message"]
    error_message: ErrorMessage
    """Failure of the turn."""


class TaskEventStatusUpdate(TaskEventBase):
    type: Literal["status_update"]
    status_update: StatusUpdate
    """Change of the task's state."""


class TaskEventUserStop(TaskEventBase):
    type: Literal["user_stop"]
    user_stop: UserStop
    """The user stopped the task."""


class TaskEventStructuredOutputResult(TaskEventBase):
    type: Literal["structured_output_result"]
    structured_output_result: StructuredOutputResult
    """Result of the structured output."""


class TaskEventToolUsed(TaskEventBase):
    type: Literal["tool_used"]
    tool_used: ToolUsed
    """Use of a tool; in verbose lists only."""


class TaskEventPlanUpdate(TaskEventBase):
    type: Literal["plan_update"]
    plan_update: PlanUpdate
    """The complete plan; in verbose lists only."""


class TaskEventNewPlanStep(TaskEventBase):
    type: Literal["new_plan_step"]
    new_plan_step: NewPlanStep
    """Start of a step of the plan; in verbose lists only."""


class TaskEventExplanation(TaskEventBase):
    type: Literal["explanation"]
    explanation: Explanation
    """Reasoning of the agent; in verbose lists only."""


TaskEvent: TypeAlias = (
    TaskEventUserMessage
    | TaskEventAssistantMessage
    | TaskEventErrorMessage
    | TaskEventStatusUpdate
    | TaskEventUserStop
    | TaskEventStructuredOutputResult
    | TaskEventToolUsed
    | TaskEventPlanUpdate
    | TaskEventNewPlanStep
    | TaskEventExplanation
)
"""One event in the history of a task (spec/api.md 7.5, 9.2).

The events of a task have one order, by `seq`. A returned event never changes or disappears while its task exists.
"""


class UserMessage(TypedDict):
    """A message from the user."""

    content: str
    """Text of the message: its text parts and the transcripts of its voice parts, in order and joined by line feeds. A
    recording without a transcript adds no text."""
    message_type: Literal["text", "voice"]
    """Whether the message contains speech."""
    attachments: list[TaskAttachment]
    """Files of the message, including recordings of speech."""


class TaskAttachment(TypedDict):
    """A file that is attached to a message of the user or the agent (spec/api.md 7.4)."""

    type: Literal["image", "file", "voice", "slides"]
    """How to display the file."""
    filename: str
    """Name of the file."""
    url: str
    """Download address. It needs no credential, is new in each response, and is valid for 7 days or until the file is
    deleted (spec/decisions.md 38)."""
    content_type: NotRequired[str]
    """Media type."""
    path: NotRequired[str]
    """Relative path by which the text of the message links to this file. This server does not send it."""


class AssistantMessage(TypedDict):
    """A message from the agent."""

    content: str
    """Text of the message."""
    attachments: list[TaskAttachment]
    """Files that the agent made."""
    delivery_kind: NotRequired[str]
    """`result` for the final answer, `progress`, or `question`. New values can appear."""
    question_expectation: NotRequired[QuestionExpectation]
    """How to answer; present on questions."""


class QuestionExpectation(TypedDict):
    """How the agent expects its question to be answered (spec/api.md 7.5)."""

    response_method: str
    """`send_message`: answer with SendMessage. New values can appear."""
    options: list[str]
    """Suggested answers. Free text is accepted as well."""
    selection_mode: str
    """`multiple` when several options can be chosen; any other value means one."""


class ErrorMessage(TypedDict):
    """A failure that ended the turn."""

    error_type: str
    """Category of the failure, for example `quota_limit`, `internal`, `timeout`, `content_policy` or
    `invalid_directive`. New values can appear."""
    content: str
    """Readable description of the failure."""


class StatusUpdate(TypedDict):
    """A change of the task's state."""

    agent_status: Literal["running", "stopped", "waiting", "error"]
    """New state of the task."""
    status_detail: NotRequired[StatusDetail]
    """What the task waits for; present only when the new state is `waiting`."""
    brief: str
    """Short text."""
    description: NotRequired[str]
    """Longer text."""


class UserStop(TypedDict):
    """A stop by the user. It has no fields."""


class StructuredOutputResult(TypedDict):
    """The value that was extracted when a turn finished while a schema was armed (spec/api.md 9.5)."""

    success: bool
    """Whether the extraction succeeded."""
    value: NotRequired[dict[str, Any]]
    """The extracted value, or the zero value of the schema on failure. It always conforms to the schema."""
    error: str | None
    """Reason of the failure; null on success."""


class ToolUsed(TypedDict):
    """A use of a tool by the agent."""

    tool: str
    """Name of the tool in snake case, for example `browser`. New values can appear."""
    action_id: str
    """Id of the use; the same in all events of one use. Opaque."""
    status: Literal["success", "error", "rollback", "pending_confirmation"]
    """State of the use."""
    brief: str
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

    action: str
    """The action, for example `Reading`."""
    param: str
    """The object of the action, for example a file name."""


class PlanUpdate(TypedDict):
    """The complete plan. It replaces every earlier plan."""

    steps: list[PlanStep]
    """All steps, in order."""


class PlanStep(TypedDict):
    """One step of a plan."""

    status: Literal["todo", "doing", "done", "failed"]
    """State of the step."""
    title: str
    """Title of the step."""
    started_at: int | None
    """Time at which the step started, in Unix seconds; null before."""
    end_at: int | None
    """Time at which the step ended, in Unix seconds; null before."""


class NewPlanStep(TypedDict):
    """The start of a step of the plan."""

    step_id: str
    """Id of the step; opaque."""
    title: str
    """Title of the step."""


class Explanation(TypedDict):
    """Reasoning of the agent."""

    content: str
    """Text of the reasoning."""


class GetWatchUrlRequest(TypedDict):
    """Request of GetWatchUrl."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    ttl_seconds: NotRequired[int]
    """How long the address can be opened, 1 to 3,600 seconds. Default 600.

    Rules: 1 to 3600.
    """


class GetWatchUrlResponse(Envelope):
    """Response of GetWatchUrl."""

    url: str
    """The address. It is a secret until it expires. `&after_seq=N` may be added to it: only events with a greater
    `seq`; `Last-Event-ID` takes precedence. `&deltas=true` adds the text of messages while the agent writes them."""
    expires_at: int
    """Time from which the address cannot be opened, in Unix seconds."""


class ConfirmActionRequest(TypedDict):
    """Request of ConfirmAction."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    event_id: str
    """`waiting_for_event_id` of the present wait.

    Rules: 1 to 128 characters.
    """
    input: NotRequired[Mapping[str, Any]]
    """Decision that conforms to `confirm_input_schema`. Absent or null means `{"accept": true}` when `accept` is the
    only required member; otherwise it returns `invalid_argument`."""


class ConfirmActionResponse(Envelope):
    """Response of ConfirmAction."""

    task_id: str
    """Id of the task; never the shortcut."""
    confirmed: bool
    """True when the decision took effect and the task runs. False when the input decided nothing and the task still
    waits."""


class InspectTaskRequest(TypedDict):
    """Request of InspectTask."""

    task_id: str
    """Id of the task.

    Rules: 1 to 128 characters.
    """
    limit: NotRequired[int]
    """Maximum number of costs on the page, 1 to 500. Default 100.

    Rules: 1 to 500.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """


class InspectTaskResponse(Envelope):
    """Response of InspectTask."""

    run: TaskRun
    """Who works on the task, or did so last."""
    costs: list[TaskCost]
    """The costs of the task, oldest first."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class TaskRun(TypedDict):
    """Who works on a task, or did so last (spec/api.md 8.84)."""

    fence: int
    """Number that grows with each claim, stop and takeover of the task."""
    claims: int
    """Number of claims of the present turn: 1 unless a run was lost or released."""
    claimed_at: NotRequired[int]
    """Time of the last claim, in Unix milliseconds; absent before the first one."""
    runner: NotRequired[Literal["process", "worker"]]
    """What runs the task now; absent while nothing does."""
    runner_id: NotRequired[str]
    """Id of the process or of the worker's credential; absent while nothing runs the task."""


class TaskCost(TypedDict):
    """One cost of a task: a call of a model, the use of tools since the cost before, or a refund."""

    at: int
    """Time of the cost, in Unix milliseconds. A refund has the time of the refunded cost."""
    credits: int
    """Credits; negative for a refund."""
    input_tokens: int
    """Tokens that were sent to a model."""
    output_tokens: int
    """Tokens that a model returned."""
    tool_calls: int
    """Number of uses of tools."""


class CreateScheduleRequest(TypedDict):
    """Request of CreateSchedule."""

    schedule: ScheduleSettingsInput
    """Settings of the schedule."""


class ScheduleSettingsInput(TypedDict):
    """Settings of a schedule in a request."""

    name: NotRequired[str]
    """Name, 1 to 255 characters. Required on CreateSchedule.

    Rules: at most 255 characters.
    """
    cron: NotRequired[str]
    """Cron expression of five fields: minute, hour, day of the month, month, day of the week. A schedule has exactly
    one of `cron`, `interval_seconds` and `at`.

    Rules: at most 255 characters.
    """
    interval_seconds: NotRequired[int]
    """Seconds between two times, 60 to 31,536,000 (a year). The first time is one interval after the call.

    Rules: 60 to 31536000.
    """
    at: NotRequired[str]
    """One time in the future, as in RFC 3339, for example `2027-03-01T09:00:00+01:00`.

    Rules: at most 64 characters.
    """
    time_zone: NotRequired[str]
    """Time zone in which `cron` is read, by its name in the IANA database, for example `Europe/Berlin`. Default `UTC`.

    Rules: at most 64 characters.
    """
    task: NotRequired[CreateTaskRequest]
    """The task to create at each due time, as the request of CreateTask. Its message has text only. Required on
    CreateSchedule."""
    missed: NotRequired[Literal["skip", "run_once"]]
    """What happens with missed times. Default `run_once`."""
    overlap: NotRequired[Literal["skip", "queue", "allow"]]
    """What happens while an earlier task has not ended. Default `skip`."""


class CreateScheduleResponse(Envelope):
    """Response of CreateSchedule: the new schedule."""

    schedule: Schedule
    """The schedule."""


class Schedule(TypedDict):
    """A rule that creates tasks from a template at its times (spec/api.md 8.57)."""

    id: str
    """Id of the schedule: 22 letters and digits; opaque."""
    name: str
    """Name of the schedule."""
    cron: NotRequired[str]
    """Cron expression; absent unless the schedule has one."""
    interval_seconds: NotRequired[int]
    """Seconds between two times; absent unless the schedule has an interval."""
    at: NotRequired[str]
    """The one time of the schedule, in UTC as in RFC 3339; absent unless it has one."""
    time_zone: str
    """Time zone in which `cron` is read, by its name in the IANA database."""
    task: NotRequired[TaskCreateTaskRequest]
    """The task that is created at each due time, as it was set."""
    missed: Literal["skip", "run_once"]
    """What happens with missed times."""
    overlap: Literal["skip", "queue", "allow"]
    """What happens while an earlier task has not ended."""
    status: Literal["active", "paused", "finished"]
    """Whether the schedule creates tasks."""
    pause_reason: NotRequired[Literal["user", "failures", "member_deactivated", "member_removed", "profile_delegated", "grant_revoked", "app_deleted"]]
    """Why the schedule is paused; absent unless it is."""
    next_run_at: NotRequired[int]
    """Next due time, in Unix seconds; absent unless the schedule is active."""
    last_run_at: NotRequired[int]
    """When the schedule last created a task, in Unix seconds; absent before the first one."""
    last_task_id: NotRequired[str]
    """Id of the task that it created then; the task may be deleted since."""
    failures: int
    """Number of failures since the last task that finished: times at which no task could be created, and tasks that
    ended with `error`. The fifth one pauses the schedule."""
    last_error: NotRequired[str]
    """Text of the last failure; absent without failures."""
    created_at: int
    """Creation time, in Unix seconds."""
    updated_at: int
    """Time of the last change, in Unix seconds."""


class TaskCreateTaskRequest(TypedDict):
    """Request of CreateTask."""

    message: NotRequired[Message]
    """First message of the task. Required."""
    project_id: NotRequired[str]
    """Id of the project that the task joins. The project's instruction applies, and its connectors become the default."""
    locale: NotRequired[str]
    """Language of the agent's answers as a BCP 47 tag, for example `en` or `zh-CN`. Default: the language of the
    account, also for a text that is not a tag."""
    interactive_mode: bool
    """Whether the agent may ask questions when the input is unclear. When false, it does its best without asking."""
    hide_in_task_list: bool
    """Hides the task in the task list of the web app. ListTasks still lists it."""
    share_visibility: NotRequired[Literal["private", "team", "public"]]
    """Audience of the task's web page. Default `private`."""
    agent_profile: NotRequired[str]
    """Profile of the task: `standard` (default), `lite`, `max`, a spelling with a version such as `manus-1.6-lite`, or
    a named profile of the space. Any other value returns `invalid_argument`, which lists the profiles."""
    title: NotRequired[str]
    """Title, at most 255 characters. Default: made from the message."""
    structured_output_schema: NotRequired[dict[str, Any]]
    """JSON Schema of the value to extract when the turn finishes, in the supported subset. Any other schema returns
    `invalid_argument` with the path of the fault (spec/api.md 9.5)."""
    metadata: dict[str, str]
    """Labels of the task: at most 16 pairs. A key has 1 to 64 characters of `A-Z a-z 0-9 _ . -`, a value at most 512
    characters; a pair with an empty value is left out (spec/api.md 9.14)."""


class Message(TypedDict):
    """A message from the user to the agent, with the connectors and skills that the agent may use (spec/api.md 7.2)."""

    content: list[ContentPart]
    """Parts of the message, 1 to 1,000. JSON also accepts a plain string for one text part. All text together has at
    most 5,000 estimated tokens. A message without text and without files, or with more text, returns `invalid_argument`
    (spec/api.md 9.6)."""
    connectors: list[str]
    """Ids of the connectors that the task can use. On CreateTask, an absent list means the defaults of the project or
    the account. On SendMessage, a non-empty list replaces the connectors of the task, and an empty list changes
    nothing. A connector that is not granted to the calling app returns `permission_denied`; one that is not installed
    returns `invalid_argument` (spec/api.md 9.9)."""
    no_connectors: bool
    """On CreateTask, use no connectors, not even the defaults. In v2 JSON an explicit `"connectors": []` sets this
    field, because protobuf cannot distinguish an empty list from an absent one. Together with a non-empty `connectors`
    it returns `invalid_argument`. SendMessage ignores it and has `clear_connectors` instead (spec/api.md 14.2)."""
    enable_skills: list[str]
    """Ids of the skills that the task can use, at most 1,000. Empty means the enabled skills of the account. On
    SendMessage a non-empty list replaces the list of an earlier message. An unknown id returns `invalid_argument`
    (spec/api.md 9.10)."""
    force_skills: list[str]
    """Ids of the skills that the agent must use in each turn, at most 50; they need not be enabled. The list applies
    until another message names other skills."""
    task_references: list[str]
    """Ids of other tasks that the agent can read, at most 20 including duplicates. They are added to the references of
    the task, which keeps the 20 latest (spec/api.md 9.8)."""


class ContentPart(TypedDict):
    """One part of a message (spec/api.md 7.3).

    A text part has `text`. A file or voice part has exactly one of `file_id`, `file_url` and `file_data`; otherwise the
    call returns `invalid_argument`.
    """

    type: Literal["text", "file", "voice"]
    """Kind of the part."""
    text: NotRequired[str]
    """Text of a text part."""
    file_id: NotRequired[str]
    """Id of an uploaded file that has not expired."""
    file_url: NotRequired[str]
    """Public http or https address of a file of at most 20 MB. The server fetches it during the call."""
    file_data: NotRequired[str]
    """Content of a file as `data:<media type>;base64,<bytes>`, at most 20 MB after decoding."""
    filename: NotRequired[str]
    """Name of the file with its extension, at most 255 bytes. When absent, it is made from the address or the media
    type (spec/clients.md 21)."""
    mime_type: NotRequired[str]
    """Media type of the file, for example `audio/wav`. When absent, it is derived from the source or the name."""


class ListSchedulesRequest(TypedDict):
    """Request of ListSchedules."""

    limit: NotRequired[int]
    """Maximum number of schedules on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """


class ListSchedulesResponse(Envelope):
    """Response of ListSchedules: one page of schedules."""

    data: list[Schedule]
    """The schedules."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class GetScheduleRequest(TypedDict):
    """Request of GetSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """


class GetScheduleResponse(Envelope):
    """Response of GetSchedule: the schedule."""

    schedule: Schedule
    """The schedule."""


class UpdateScheduleRequest(TypedDict):
    """Request of UpdateSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """
    schedule: ScheduleSettingsInput
    """Settings to change; at least one."""


class UpdateScheduleResponse(Envelope):
    """Response of UpdateSchedule: the schedule after the change."""

    schedule: Schedule
    """The schedule."""


class PauseScheduleRequest(TypedDict):
    """Request of PauseSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """


class PauseScheduleResponse(Envelope):
    """Response of PauseSchedule: the schedule after the change."""

    schedule: Schedule
    """The schedule."""


class ResumeScheduleRequest(TypedDict):
    """Request of ResumeSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """


class ResumeScheduleResponse(Envelope):
    """Response of ResumeSchedule: the schedule after the change."""

    schedule: Schedule
    """The schedule."""


class RunScheduleRequest(TypedDict):
    """Request of RunSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """


class RunScheduleResponse(Envelope):
    """Response of RunSchedule: the new task."""

    task_id: str
    """Id of the task."""
    task_title: str
    """Title of the task."""
    task_url: str
    """Address of the task's web page."""


class DeleteScheduleRequest(TypedDict):
    """Request of DeleteSchedule."""

    schedule_id: str
    """Id of the schedule.

    Rules: 1 to 128 characters.
    """


class DeleteScheduleResponse(Envelope):
    """Response of DeleteSchedule."""


class CreateProjectRequest(TypedDict):
    """Request of CreateProject."""

    name: str
    """Name, 1 to 255 characters.

    Rules: 1 to 255 characters.
    """
    instruction: NotRequired[str]
    """Instruction that applies to every task of the project, at most 20,000 characters.

    Rules: at most 20000 characters.
    """


class CreateProjectResponse(Envelope):
    """Response of CreateProject."""

    project: Project
    """The new project."""


class Project(TypedDict):
    """A named group of tasks with a common instruction (spec/api.md 7.6)."""

    id: str
    """Id of the project: 22 letters and digits; opaque."""
    name: str
    """Name of the project."""
    created_at: int
    """Creation time, in Unix seconds."""
    instruction: NotRequired[str]
    """Instruction that applies to every task of the project; absent when none is set."""
    task_count: NotRequired[int]
    """Number of the project's tasks, at most 1,000: a project with more has 1,000 here. Only in ListProjects with
    `include_task_counts`; absent for a token that sees only the tasks of its app."""


class ListProjectsRequest(TypedDict):
    """Request of ListProjects."""

    page_size: NotRequired[int]
    """Maximum number of projects on the page, 1 to 100. Default: all projects on one page. It is not named `limit`,
    which clients of v1 send without effect.

    Rules: 1 to 100.
    """
    page_cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page. Requires `page_size`.

    Rules: at most 1024 characters.
    """
    include_task_counts: NotRequired[bool]
    """Counts the tasks of each project of the page. Requires `page_size`."""


class ListProjectsResponse(Envelope):
    """Response of ListProjects."""

    data: list[Project]
    """The projects of the caller, newest first."""
    has_more: NotRequired[bool]
    """Whether another page follows; only with `page_size`."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class GetProjectRequest(TypedDict):
    """Request of GetProject."""

    project_id: str
    """Id of the project.

    Rules: 1 to 128 characters.
    """


class GetProjectResponse(Envelope):
    """Response of GetProject."""

    project: Project
    """The project."""


class UpdateProjectRequest(TypedDict):
    """Request of UpdateProject. Absent fields stay unchanged; at least one is required."""

    project_id: str
    """Id of the project.

    Rules: 1 to 128 characters.
    """
    name: NotRequired[str]
    """New name, 1 to 255 characters.

    Rules: 1 to 255 characters.
    """
    instruction: NotRequired[str]
    """New instruction, at most 20,000 characters; empty removes it.

    Rules: at most 20000 characters.
    """


class UpdateProjectResponse(Envelope):
    """Response of UpdateProject."""

    project: Project
    """The project after the change."""


class DeleteProjectRequest(TypedDict):
    """Request of DeleteProject."""

    project_id: str
    """Id of the project.

    Rules: 1 to 128 characters.
    """


class DeleteProjectResponse(Envelope):
    """Response of DeleteProject. It has no fields."""


class UploadFileRequest(TypedDict):
    """Request of UploadFile."""

    filename: str
    """Name with its extension, which determines the media type. At most 255 bytes of UTF-8, without a path. Executables
    and shell scripts are refused.

    Rules: at least 1 characters; at most 255 bytes.
    """


class UploadFileResponse(Envelope):
    """Response of UploadFile."""

    file: File
    """The file, with the status `pending`."""
    upload_url: str
    """Address to PUT the raw bytes to. It needs no credential."""
    upload_expires_at: int
    """Time by which the upload must begin, in Unix seconds: 3 minutes after the call."""


class File(TypedDict):
    """A file as UploadFile returns it (spec/api.md 7.10)."""

    id: str
    """Id of the file; opaque."""
    filename: str
    """Name with its extension."""
    status: Literal["pending", "uploaded", "deleted", "error"]
    """State of the upload."""
    created_at: int
    """Creation time of the record, in Unix seconds."""


class GetFileRequest(TypedDict):
    """Request of GetFile."""

    file_id: str
    """Id of the file.

    Rules: 1 to 128 characters.
    """


class GetFileResponse(Envelope):
    """Response of GetFile."""

    file: FileDetail
    """The file."""


class FileDetail(TypedDict):
    """A file with its size, type and expiry (spec/api.md 7.10)."""

    id: str
    """Id of the file; opaque."""
    filename: str
    """Name with its extension."""
    status: Literal["pending", "uploaded", "deleted", "error"]
    """State of the upload."""
    created_at: int
    """Creation time of the record, in Unix seconds."""
    bytes: int | None
    """Size in bytes; null until the file is uploaded."""
    content_type: str
    """Media type. For an upload it is derived from the name."""
    expires_at: NotRequired[int]
    """Time at which the file is deleted, in Unix seconds: 48 hours after the upload. Absent before the upload."""
    error_message: str | None
    """Reason of the failure when `status` is `error`; otherwise null."""
    download_url: NotRequired[str]
    """Address to download the bytes from, valid for 10 minutes. It needs no credential. Absent unless `status` is
    `uploaded`."""
    download_expires_at: NotRequired[int]
    """Time until which `download_url` is valid, in Unix seconds; absent without an address."""
    task_id: NotRequired[str]
    """The task whose agent made it. Only in lists with an `origin`; absent for an upload."""


class DeleteFileRequest(TypedDict):
    """Request of DeleteFile."""

    file_id: str
    """Id of the file.

    Rules: 1 to 128 characters.
    """


class DeleteFileResponse(Envelope):
    """Response of DeleteFile. It has no fields."""


class CreateWebhookRequest(TypedDict):
    """Request of CreateWebhook."""

    url: str
    """Public https address, at most 2,048 characters.

    Rules: 1 to 2048 characters.
    """
    event_types: NotRequired[Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]]
    """Types of event that the webhook gets. Default: `task_created` and `task_stopped`.

    Rules: at most 5 items; no item twice.
    """
    signing_secret: NotRequired[str]
    """Secret for the Standard Webhooks signatures: `whsec_` and the base64 of 24 to 64 bytes. A receiver that verifies
    the test request needs to know it before the call. Default: the server makes one.

    Rules: at most 128 characters.
    """
    project_id: NotRequired[str]
    """Only events of tasks of this project. Default: of all tasks.

    Rules: at most 128 characters.
    """
    metadata: NotRequired[Mapping[str, str]]
    """Only events of tasks whose metadata has this pair: at most one pair (spec/api.md 9.14).

    Rules: at most 1 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """
    name: NotRequired[str]
    """Display name, at most 100 characters, without control characters and without blanks at the ends.

    Rules: at most 100 characters.
    """


class CreateWebhookResponse(Envelope):
    """Response of CreateWebhook."""

    webhook: Webhook
    """The new webhook."""
    signing_secret: str
    """Secret for the Standard Webhooks signatures. It is not shown again."""


class Webhook(TypedDict):
    """An address that receives task events (spec/api.md 7.11)."""

    id: str
    """Id of the webhook; opaque."""
    url: str
    """Address that events are posted to."""
    status: Literal["active", "inactive"]
    """Whether events are delivered."""
    created_at: int
    """Creation time, in Unix seconds."""
    event_types: list[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Types of event that the webhook gets."""
    inactive_reason: NotRequired[str]
    """Readable reason why the webhook is inactive; absent while it is active."""
    double_hash: bool
    """Whether `X-Webhook-Signature` is made for receivers that hash the signed content twice (spec/webhooks.md 5.2)."""
    project_id: NotRequired[str]
    """Project whose tasks' events are delivered; absent when events of all tasks are."""
    metadata: NotRequired[dict[str, str]]
    """Pair that a task's metadata must have for its events to be delivered; absent when there is none."""
    name: NotRequired[str]
    """Display name; absent without one."""
    kind: NotRequired[Literal["a2a_push"]]
    """`a2a_push` for a push notification configuration of a task (spec/api.md 8.124); absent for a webhook."""
    task_id: NotRequired[str]
    """Task whose updates the push notification configuration gets; absent for a webhook."""


class ListWebhooksRequest(TypedDict):
    """Request of ListWebhooks."""

    include_task_pushes: NotRequired[bool]
    """Also returns the push notification configurations of the account's tasks, also those of OAuth apps: the newest
    1,000. Default false. A key that is limited to scopes also needs `task:read`."""


class ListWebhooksResponse(Envelope):
    """Response of ListWebhooks."""

    data: list[Webhook]
    """The webhooks, newest first; then the push notification configurations, newest first. The list has no pages."""


class DeleteWebhookRequest(TypedDict):
    """Request of DeleteWebhook."""

    webhook_id: str
    """Id of the webhook, or of the push notification configuration as `webhook.list` returns it.

    Rules: 1 to 128 characters.
    """


class DeleteWebhookResponse(Envelope):
    """Response of DeleteWebhook. It has no fields."""


class GetWebhookPublicKeyRequest(TypedDict):
    """Request of GetWebhookPublicKey. It has no fields."""


class GetWebhookPublicKeyResponse(Envelope):
    """Response of GetWebhookPublicKey."""

    public_key: str
    """RSA public key of 2,048 bits, as PEM (SubjectPublicKeyInfo)."""
    algorithm: str
    """Signature algorithm of `public_key`; always `RSA-SHA256`. New values can appear."""
    ed25519_public_key: str
    """Public key of the ed25519 signatures of Standard Webhooks: `whpk_` and base64."""
    created_at: int
    """Creation time of the RSA key, in Unix seconds."""
    keys: list[WebhookPublicKey]
    """All keys that deliveries may be signed with: the two current ones, and while the operator replaces a key also the
    one that follows and the one that came before. A receiver that accepts each of them refuses no delivery during a
    replacement (spec/api.md 8.99). At most 6."""


class WebhookPublicKey(TypedDict):
    """A public key that signatures of deliveries are verified with."""

    public_key: str
    """PEM (SubjectPublicKeyInfo) of 2,048 bits for `RSA-SHA256`; `whpk_` and base64 for `ed25519`."""
    algorithm: str
    """Signature algorithm: `RSA-SHA256` or `ed25519`. New values can appear."""
    created_at: int
    """Creation time, in Unix seconds."""
    signs_from: int
    """From this time, in Unix seconds, it is the current key of its algorithm."""
    retires_at: NotRequired[int]
    """It is published until this time, in Unix seconds; absent while no replacement is planned."""


class UpdateWebhookRequest(TypedDict):
    """Request of UpdateWebhook. Absent fields stay unchanged."""

    webhook_id: str
    """Id of the webhook.

    Rules: 1 to 128 characters.
    """
    status: NotRequired[Literal["active", "inactive"]]
    """New state: `active` or `inactive`."""
    event_types: NotRequired[Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]]
    """New types of event, which replace the present ones. An empty list changes nothing.

    Rules: at most 5 items; no item twice.
    """
    double_hash: NotRequired[bool]
    """Whether `X-Webhook-Signature` is made for receivers that hash the signed content twice. Use it only for receivers
    that cannot be changed."""
    project_id: NotRequired[str]
    """Only events of tasks of this project; empty removes the filter.

    Rules: at most 128 characters.
    """
    metadata: NotRequired[Mapping[str, str]]
    """Only events of tasks whose metadata has this pair. An empty value removes the pair. The webhook has at most one
    pair after the change.

    Rules: at most 2 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """
    name: NotRequired[str]
    """New display name, as in CreateWebhook; empty removes it.

    Rules: at most 100 characters.
    """
    url: NotRequired[str]
    """New address: public https, at most 2,048 characters. It needs a successful test request. The signing secret and
    pending deliveries stay, and the count of failures begins again.

    Rules: 1 to 2048 characters.
    """


class UpdateWebhookResponse(Envelope):
    """Response of UpdateWebhook."""

    webhook: Webhook
    """The webhook after the change."""


class GetWebhookHealthRequest(TypedDict):
    """Request of GetWebhookHealth."""

    webhook_id: str
    """Id of the webhook.

    Rules: 1 to 128 characters.
    """


class GetWebhookHealthResponse(Envelope):
    """Response of GetWebhookHealth."""

    delivered: int
    """Number of counted deliveries that were delivered."""
    failed: int
    """Number of counted deliveries that failed."""
    pending: int
    """Number of counted deliveries that are pending."""
    failure_rate: NotRequired[float]
    """Share of the failed ones among those that were delivered or failed, from 0 to 1; absent when there are none."""
    failing_since: NotRequired[int]
    """Time since which every attempt has failed, in Unix seconds; absent after a success."""


class ListTeamWebhooksRequest(TypedDict):
    """Request of ListTeamWebhooks."""

    limit: NotRequired[int]
    """Maximum number of webhooks on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """


class ListTeamWebhooksResponse(Envelope):
    """Response of ListTeamWebhooks: one page of webhooks."""

    data: list[TeamWebhook]
    """The webhooks, newest first."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class TeamWebhook(TypedDict):
    """A webhook of a member of the team, as its owner sees it. The path and the query of the address can be secrets of
    the member, so only its host is shown."""

    id: str
    """Id of the webhook; opaque."""
    host: str
    """Host of the address that events are posted to, with its port if it has one."""
    name: NotRequired[str]
    """Display name; absent without one."""
    status: Literal["active", "inactive"]
    """Whether events are delivered."""
    inactive_reason: NotRequired[str]
    """Readable reason why the webhook is inactive; absent while it is active."""
    event_types: list[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Types of event that the webhook gets."""
    created_at: int
    """Creation time, in Unix seconds."""
    failing_since: NotRequired[int]
    """Time since which every attempt has failed, in Unix seconds; absent after a success."""
    user_id: str
    """Account id of the member, a UUID."""
    email: str
    """E-mail address of the member."""


class RotateWebhookSecretRequest(TypedDict):
    """Request of RotateWebhookSecret."""

    webhook_id: str
    """Id of the webhook.

    Rules: 1 to 128 characters.
    """


class RotateWebhookSecretResponse(Envelope):
    """Response of RotateWebhookSecret."""

    webhook: Webhook
    """The webhook."""
    signing_secret: str
    """The new secret: `whsec_` and base64. It is not shown again."""


class PingWebhookRequest(TypedDict):
    """Request of PingWebhook."""

    webhook_id: str
    """Id of the webhook.

    Rules: 1 to 128 characters.
    """
    event_type: NotRequired[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Sends a sample of this type, with the form of a real delivery, instead of `webhook_test`. Its `event_id` begins
    with `webhook_test_`, and its task does not exist. The webhook need not subscribe to the type (spec/api.md 8.93)."""


class PingWebhookResponse(Envelope):
    """Response of PingWebhook."""

    delivered: bool
    """Whether the receiver answered with a 2xx status in time."""
    attempt: DeliveryAttempt
    """The attempt."""


class DeliveryAttempt(TypedDict):
    """One attempt to deliver an event (spec/api.md 7.19)."""

    number: int
    """Number of the attempt, from 1."""
    at: int
    """Start of the attempt, in Unix seconds."""
    status: NotRequired[int]
    """HTTP status of the answer; absent when there was none."""
    failure: NotRequired[str]
    """Failure of an attempt without an answer: `timeout`, `connection`, `tls`, `address_refused` or `protocol`. New
    values can appear."""
    latency_ms: int
    """Time until the answer or the failure, in milliseconds."""
    response: NotRequired[str]
    """First kilobyte of the answer; absent when an address of the receiver is not public (spec/decisions.md 39)."""


class ListDeliveriesRequest(TypedDict):
    """Request of ListDeliveries. All filters apply together."""

    webhook_id: NotRequired[str]
    """Id of the webhook. Empty for all webhooks that the caller can see; `task_id` is then required.

    Rules: at most 128 characters.
    """
    limit: NotRequired[int]
    """Maximum number of deliveries on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """
    event_type: NotRequired[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Only events of this type."""
    state: NotRequired[Literal["pending", "delivered", "failed", "cancelled"]]
    """Only deliveries in this state."""
    created_after: NotRequired[int]
    """Only events after this time, in Unix seconds.

    Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
    """
    created_before: NotRequired[int]
    """Only events before this time, in Unix seconds.

    Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
    """
    task_id: NotRequired[str]
    """Only events of this task.

    Rules: at most 128 characters.
    """


class ListDeliveriesResponse(Envelope):
    """Response of ListDeliveries: one page of deliveries."""

    data: list[Delivery]
    """The deliveries, newest first."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class Delivery(TypedDict):
    """The delivery of one event to one webhook (spec/api.md 7.18)."""

    id: str
    """Id of the delivery; opaque."""
    webhook_id: str
    """Id of the webhook."""
    event_id: str
    """Id of the event; the same in every attempt and for every webhook."""
    event_type: Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]
    """Type of the event."""
    task_id: str
    """Id of the task."""
    task_event_id: str
    """Id of the TaskEvent behind the event."""
    seq: int
    """`seq` of that TaskEvent."""
    state: Literal["pending", "delivered", "failed", "cancelled"]
    """State of the delivery."""
    attempts: int
    """Number of attempts so far."""
    created_at: int
    """Time of the event, in Unix seconds."""
    next_attempt_at: NotRequired[int]
    """Time of the next attempt, in Unix seconds; absent when none is due."""
    settled_at: NotRequired[int]
    """Time at which the delivery was delivered, failed or was cancelled, in Unix seconds; absent before."""
    body: NotRequired[str]
    """JSON body as it is sent; absent when it is no longer kept or the caller may not read it."""
    last_status: NotRequired[int]
    """HTTP status of the answer to the last attempt; absent without an attempt, and when it had no answer."""


class ListDeliveryAttemptsRequest(TypedDict):
    """Request of ListDeliveryAttempts."""

    delivery_id: str
    """Id of the delivery.

    Rules: 1 to 128 characters.
    """


class ListDeliveryAttemptsResponse(Envelope):
    """Response of ListDeliveryAttempts."""

    data: list[DeliveryAttempt]
    """The attempts, in order. The list has no pages."""


class ResendDeliveryRequest(TypedDict):
    """Request of ResendDelivery."""

    delivery_id: str
    """Id of the delivery.

    Rules: 1 to 128 characters.
    """


class ResendDeliveryResponse(Envelope):
    """Response of ResendDelivery."""

    delivery: Delivery
    """The delivery, which is pending again."""


class RecoverDeliveriesRequest(TypedDict):
    """Request of RecoverDeliveries."""

    webhook_id: str
    """Id of the webhook.

    Rules: 1 to 128 characters.
    """
    since: NotRequired[int]
    """Only deliveries of events at or after this time, in Unix seconds.

    Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
    """


class RecoverDeliveriesResponse(Envelope):
    """Response of RecoverDeliveries."""

    recovered: int
    """Number of deliveries that are due now."""


class ListSkillsRequest(TypedDict):
    """Request of ListSkills."""

    project_id: NotRequired[str]
    """Id of a project whose skills are added to the list.

    Rules: at most 128 characters.
    """


class ListSkillsResponse(Envelope):
    """Response of ListSkills."""

    data: list[Skill]
    """The skills, newest first. The list has no pages."""


class Skill(TypedDict):
    """A skill: a package of instructions and files for a kind of work (spec/api.md 7.7)."""

    id: str
    """Id of the skill, for `enable_skills` and `force_skills` of a message."""
    name: str
    """Name of the skill."""
    description: str
    """Purpose of the skill; may be empty."""
    owner_type: Literal["personal", "official", "team", "project"]
    """Kind of owner. A private skill of an app has `team`."""
    creator_info: NotRequired[SkillCreator]
    """Creator of the skill; absent when unknown."""
    created_at: int
    """Creation time, in Unix seconds."""
    updated_at: int
    """Time of the last change, in Unix seconds."""


class SkillCreator(TypedDict):
    """Creator of a skill."""

    user_id: str
    """Account id of the creator."""
    name: str
    """Name of the creator."""


class ListConnectorsRequest(TypedDict):
    """Request of ListConnectors. It has no fields."""


class ListConnectorsResponse(Envelope):
    """Response of ListConnectors."""

    data: list[ConnectorInfo]
    """The connectors, each id once. The list has no pages."""


class ConnectorInfo(TypedDict):
    """A third-party service that agents can use (spec/api.md 7.8)."""

    id: str
    """Id of the connector, a UUID. A service of the catalogue has the same id on every installation (spec/api.md 13)."""
    name: str
    """Display name."""
    type: Literal["builtin", "byok", "mcp"]
    """How the connector is connected."""
    description: str
    """Purpose of the connector; may be empty."""
    category: str
    """Free grouping, for example `productivity`; may be empty."""


class ListAgentsRequest(TypedDict):
    """Request of ListAgents. It has no fields."""


class ListAgentsResponse(Envelope):
    """Response of ListAgents."""

    data: list[Agent]
    """All agents of the caller, the default agent first."""


class Agent(TypedDict):
    """An agent: a name, a description and one lasting conversation, its main task (spec/api.md 7.9, 9.11)."""

    id: str
    """Id of the agent, a UUID."""
    task_id: str
    """Id of the agent's main task, which is its lasting conversation."""
    nickname: str
    """Name of the agent; never empty."""
    about: str
    """Description of the agent; may be empty."""


class GetAgentRequest(TypedDict):
    """Request of GetAgent."""

    agent_id: str
    """Id of the agent, or `agent-default`.

    Rules: 1 to 128 characters.
    """


class GetAgentResponse(Envelope):
    """Response of GetAgent."""

    agent: Agent
    """The agent."""


class UpdateAgentRequest(TypedDict):
    """Request of UpdateAgent. Absent fields stay unchanged; at least one is required."""

    agent_id: str
    """Id of the agent, or `agent-default`.

    Rules: 1 to 128 characters.
    """
    nickname: NotRequired[str]
    """New nickname, at most 64 characters, not blank.

    Rules: at most 64 characters.
    """
    about: NotRequired[str]
    """New description, at most 2,000 characters; may be empty.

    Rules: at most 2000 characters.
    """


class UpdateAgentResponse(Envelope):
    """Response of UpdateAgent."""

    agent: Agent
    """The agent after the change."""


class ListAgentProfilesRequest(TypedDict):
    """Request of ListAgentProfiles. It has no fields."""


class ListAgentProfilesResponse(Envelope):
    """Response of ListAgentProfiles."""

    data: list[AgentProfile]
    """The profiles, the default profile first."""


class AgentProfile(TypedDict):
    """A profile: the agent that runs a task, and what its work costs (spec/api.md 8.46, 8.78)."""

    id: str
    """Name of the profile, for `agent_profile` of a task. It never changes."""
    title: str
    """Short title for people, as the owner of the space has set it, or else the default."""
    description: str
    """For which tasks the profile is meant; may be empty."""
    is_default: bool
    """Whether tasks that name no profile have this one."""
    prices: NotRequired[AgentProfilePrices]
    """Prices of the profile's work; absent when the operator has set none."""
    concurrency: NotRequired[int]
    """Maximum number of runs of this profile at the same time in the space; absent without a limit."""
    time_limit_seconds: NotRequired[int]
    """Longest time of a turn in seconds; absent without a limit."""
    is_remote: bool
    """Whether remote workers run the tasks of this profile."""
    labels: list[str]
    """Labels that a worker's credential needs for the tasks of this profile."""
    fetch: NotRequired[AgentProfileFetch]
    """Requests that its agents may send; absent for a profile without a model of the server."""


class AgentProfilePrices(TypedDict):
    """Prices in credits, with at most three decimals. The usage of a task is priced exactly, and the sum is rounded up
    to a whole credit."""

    input: float
    """Credits for 1,000 tokens sent to a model."""
    output: float
    """Credits for 1,000 tokens that a model returned."""
    tool_call: float
    """Credits for one use of a tool."""
    turn: float
    """Credits for one turn that ends with an answer or a question."""


class AgentProfileFetch(TypedDict):
    """The requests that model agents may send to addresses (docs/guides/models.md#fetch-policy)."""

    mode: str
    """`off`, `ask` or `allow`, the strictest first. In an update empty for the mode of the model's entry."""
    hosts: list[str]
    """Hosts that need no approval with `ask`: at most 100, each `docs.example.com` or `*.example.com`. In an update
    empty for those of the model's entry. Each has at most 200 characters."""


class UpdateAgentProfileRequest(TypedDict):
    """Request of UpdateAgentProfile. Absent fields stay unchanged; at least one is required."""

    agent_profile: str
    """Name of the profile, as AgentProfile has it.

    Rules: 1 to 63 characters.
    """
    title: NotRequired[str]
    """New title, at most 100 characters. Empty: the default title.

    Rules: at most 100 characters.
    """
    description: NotRequired[str]
    """New description, at most 1,000 characters. Empty: the default description.

    Rules: at most 1000 characters.
    """
    concurrency: NotRequired[int]
    """Maximum number of runs at the same time in the space, 1 to 100,000; 0 for no limit. Other tasks of the profile
    wait.

    Rules: 0 to 100000.
    """
    time_limit_seconds: NotRequired[int]
    """Longest time of a turn in seconds, 1 to 2,592,000 (30 days); 0 for no limit. A turn that takes longer ends in
    `error`. The time that the task waits for its first run, for the user or for subtasks does not count.

    Rules: 0 to 2592000.
    """
    fetch: NotRequired[AgentProfileFetchInput]
    """New limits of requests; both members are replaced. They can only be stricter than the model's entry: the stricter
    mode counts, and a host must be in both lists."""


class AgentProfileFetchInput(TypedDict):
    """The requests that model agents may send to addresses (docs/guides/models.md#fetch-policy)."""

    mode: NotRequired[str]
    """`off`, `ask` or `allow`, the strictest first. In an update empty for the mode of the model's entry."""
    hosts: NotRequired[Sequence[str]]
    """Hosts that need no approval with `ask`: at most 100, each `docs.example.com` or `*.example.com`. In an update
    empty for those of the model's entry. Each has at most 200 characters.

    Rules: at most 100 items; each 1 to 200 characters.
    """


class UpdateAgentProfileResponse(Envelope):
    """Response of UpdateAgentProfile."""

    agent_profile: AgentProfile
    """The profile after the change."""


class ListOnlineBrowserClientsRequest(TypedDict):
    """Request of ListOnlineBrowserClients. It has no fields."""


class ListOnlineBrowserClientsResponse(Envelope):
    """Response of ListOnlineBrowserClients."""

    data: list[BrowserClient]
    """The browsers that are online."""


class BrowserClient(TypedDict):
    """A browser of the user that agents can work in (spec/api.md 7.12)."""

    client_id: str
    """Id of the browser, a UUID. The `client_id` of the input that selects this browser in TaskService.ConfirmAction."""
    client_name: str
    """Display name of the browser."""
    ua: str
    """User-Agent of the browser."""
    task_ids: list[str]
    """Ids of the running and waiting tasks that have selected the browser, newest first; at most 100 for all browsers
    together. Tasks that the caller does not see are left out."""


class DetachBrowserRequest(TypedDict):
    """Request of DetachBrowser."""

    client_id: str
    """Id of the browser.

    Rules: 1 to 128 characters.
    """
    task_id: str
    """Id of the task.

    Rules: 1 to 128 characters.
    """


class DetachBrowserResponse(Envelope):
    """Response of DetachBrowser. It has no fields."""


class ListUsageRequest(TypedDict):
    """Request of ListUsage."""

    limit: NotRequired[int]
    """Maximum number of records on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """
    start_date: NotRequired[int]
    """Only records whose latest change is on or after this day, in Unix seconds; the complete UTC day counts.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    end_date: NotRequired[int]
    """Only records whose latest change is on or before this day, in Unix seconds; the complete UTC day counts.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    project_id: NotRequired[str]
    """Only tasks that had costs in this project. Empty counts as absent.

    Rules: at most 128 characters.
    """
    client_id: NotRequired[str]
    """Only tasks that the app with this client id created. Empty counts as absent.

    Rules: at most 128 characters.
    """
    api_key_id: NotRequired[str]
    """Only tasks that this API key created. Empty counts as absent.

    Rules: at most 128 characters.
    """


class ListUsageResponse(Envelope):
    """Response of ListUsage: one page of records."""

    data: list[UsageRecord]
    """The records: one for each task and each grant."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class UsageRecord(TypedDict):
    """The credits of one task or one grant (spec/api.md 7.14)."""

    task_id: str
    """Id of the task; empty for a grant."""
    title: str
    """Title of the task, `Deleted conversation` for a deleted task, or `Credit grant` for a grant."""
    credits: int
    """Credits: negative when spent, positive when refunded or granted."""
    created_at: int
    """Time of the latest change, in Unix seconds."""
    type: Literal["cost", "refund", "grant"]
    """Kind of the record."""
    collaborate_infos: list[CollaborateInfo]
    """Share of each person in a task of a team. Empty in a personal space and for a grant."""


class CollaborateInfo(TypedDict):
    """Share of one person in a task of a team."""

    user_id: str
    """Account id of the person."""
    user_name: str
    """Name of the person."""
    credits: int
    """Credits, with the sign of the record."""


class GetAvailableCreditsRequest(TypedDict):
    """Request of GetAvailableCredits. It has no fields."""


class GetAvailableCreditsResponse(Envelope):
    """Response of GetAvailableCredits."""

    data: AvailableCredits
    """The available credits."""


class AvailableCredits(TypedDict):
    """The credits that can be spent now (spec/api.md 7.13).

    `total_credits` is the sum of the free, periodic, addon, event and refresh credits. This server has no billing: all
    credits are `free_credits`, and the other figures are 0, empty or absent.
    """

    total_credits: int
    """Credits that can be spent now. This is the figure that counts."""
    free_credits: int
    """Gifts and grants."""
    periodic_credits: int
    """Credits left of the present billing cycle."""
    addon_credits: int
    """Credits left of purchased packs."""
    pro_monthly_credits: int
    """Monthly quota of a membership. It is not a balance."""
    event_credits: int
    """Credits left of a campaign."""
    refresh_credits: int
    """Credits left of those that refill."""
    max_refresh_credits: int
    """Size of one refill."""
    next_refresh_time: int
    """Time of the next refill, in Unix seconds; 0 when there is none."""
    refresh_interval: str
    """Interval of the refills: `daily`, `weekly`, or empty."""
    current_period_end: NotRequired[int]
    """End of the subscription's billing period, in Unix seconds; absent without a subscription."""


class GetTeamUsageStatisticRequest(TypedDict):
    """Request of GetTeamUsageStatistic. Default: the last 30 days."""

    start_date: NotRequired[int]
    """Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    end_date: NotRequired[int]
    """Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    project_id: NotRequired[str]
    """Only the costs of tasks of this project. Empty counts as absent.

    Rules: at most 128 characters.
    """
    client_id: NotRequired[str]
    """Only the costs of tasks that the app with this client id created. Empty counts as absent.

    Rules: at most 128 characters.
    """
    api_key_id: NotRequired[str]
    """Only the costs of tasks that this API key created. Empty counts as absent.

    Rules: at most 128 characters.
    """


class GetTeamUsageStatisticResponse(Envelope):
    """Response of GetTeamUsageStatistic."""

    data: list[DailyStatistic]
    """All days of the range, oldest first, including days without use."""


class DailyStatistic(TypedDict):
    """The credits spent by a team, or by one of its members, on one day (spec/api.md 7.15)."""

    date: int
    """Start of the day: midnight UTC, in Unix seconds."""
    credits: int
    """Credits spent on the day, positive; 0 on a day without use. A refund reduces the day of the cost."""


class ListTeamUsageLogRequest(TypedDict):
    """Request of ListTeamUsageLog."""

    limit: NotRequired[int]
    """Maximum number of rows on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same range and order. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """
    start_date: NotRequired[int]
    """Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    end_date: NotRequired[int]
    """Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    sort_by: NotRequired[Literal["task_count", "credits"]]
    """Column to sort by. Default: the number of tasks."""
    is_asc: NotRequired[bool]
    """True sorts the smallest value first."""
    project_id: NotRequired[str]
    """Only the costs of tasks of this project. Empty counts as absent.

    Rules: at most 128 characters.
    """
    client_id: NotRequired[str]
    """Only the costs of tasks that the app with this client id created. Empty counts as absent.

    Rules: at most 128 characters.
    """
    api_key_id: NotRequired[str]
    """Only the costs of tasks that this API key created. Empty counts as absent.

    Rules: at most 128 characters.
    """


class ListTeamUsageLogResponse(Envelope):
    """Response of ListTeamUsageLog: one page of rows."""

    data: list[TeamUsageLog]
    """The rows, one for each person."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class TeamUsageLog(TypedDict):
    """The usage of one person in the requested range (spec/api.md 7.16)."""

    user_id: str
    """Account id of the person."""
    user_name: str
    """Name of the person."""
    email: str
    """E-mail address of the person."""
    task_count: int
    """Number of tasks that used credits in the range."""
    credits: int
    """Credits spent, positive."""


class GetUsageStatisticRequest(TypedDict):
    """Request of GetUsageStatistic. Default: the last 30 days."""

    start_date: NotRequired[int]
    """Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    end_date: NotRequired[int]
    """Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    project_id: NotRequired[str]
    """Only the costs of tasks of this project. Empty counts as absent.

    Rules: at most 128 characters.
    """
    client_id: NotRequired[str]
    """Only the costs of tasks that the app with this client id created. Empty counts as absent.

    Rules: at most 128 characters.
    """
    api_key_id: NotRequired[str]
    """Only the costs of tasks that this API key created. Empty counts as absent.

    Rules: at most 128 characters.
    """


class GetUsageStatisticResponse(Envelope):
    """Response of GetUsageStatistic."""

    data: list[DailyStatistic]
    """All days of the range, oldest first, including days without use."""


class ListUsageBreakdownRequest(TypedDict):
    """Request of ListUsageBreakdown."""

    group_by: NotRequired[Literal["project", "app", "key"]]
    """What the rows are: projects, apps or API keys. Required."""
    limit: NotRequired[int]
    """Maximum number of rows on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same range and grouping. Absent or empty for the first
    page.

    Rules: at most 1024 characters.
    """
    start_date: NotRequired[int]
    """Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the end.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    end_date: NotRequired[int]
    """Time on the last day, in Unix seconds; the complete UTC day counts. Default: now.

    Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.
    """
    all_members: NotRequired[bool]
    """True counts all members of the team; only for its owner, super admins and admins. Default: the caller alone."""


class ListUsageBreakdownResponse(Envelope):
    """Response of ListUsageBreakdown: one page of rows."""

    data: list[UsageBreakdown]
    """The rows, one for each project, app or key."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class UsageBreakdown(TypedDict):
    """The usage of one project, app or API key in the requested range (spec/api.md 8.64)."""

    id: str
    """Id of the project or API key, or client id of the app; empty for tasks without one, and for costs that an earlier
    release recorded without the key."""
    name: str
    """Name; empty for tasks without one, and when the project, app or key is deleted."""
    task_count: int
    """Number of tasks that used credits in the range."""
    credits: int
    """Credits spent less refunds."""


class GetWebsiteStatusRequest(TypedDict):
    """Request of GetWebsiteStatus. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class GetWebsiteStatusResponse(Envelope):
    """Response of GetWebsiteStatus."""

    website_id: str
    """Id of the website."""
    publish_status: Literal["unpublished", "publishing", "published", "failed"]
    """State of the publication."""
    site_urls: list[str]
    """Addresses of the website while it is published; otherwise empty. First the one below the domain of websites, then
    those of its active custom domains in the order of their activation."""
    version_id: NotRequired[str]
    """Id of the checkpoint that is online; absent while none is."""
    status_updated_at: NotRequired[int]
    """Time of the last change of `publish_status`, in Unix seconds; absent before the first publication."""
    visibility: Literal["public", "team", "private"]
    """Audience of the website, after every cap."""
    title: str
    """Title, 1 to 255 characters."""


class ListWebsiteCheckpointsRequest(TypedDict):
    """Request of ListWebsiteCheckpoints. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class ListWebsiteCheckpointsResponse(Envelope):
    """Response of ListWebsiteCheckpoints."""

    website_id: str
    """Id of the website."""
    data: list[WebsiteCheckpoint]
    """The checkpoints, newest first; may be empty."""
    published_version_id: NotRequired[str]
    """Id of the checkpoint that is online; absent while none is."""


class WebsiteCheckpoint(TypedDict):
    """A saved version of a website that can be published (spec/api.md 7.17)."""

    version_id: str
    """Id of the checkpoint; opaque."""
    message: str
    """Text that the agent wrote when it saved the checkpoint."""
    status: Literal["pending", "success", "failed"]
    """State of the snapshot. It does not describe the publication."""
    created_at: int
    """Creation time, in Unix seconds."""


class PublishWebsiteRequest(TypedDict):
    """Request of PublishWebsite. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    visibility: NotRequired[Literal["public", "team", "private"]]
    """Audience of the website: `public`, `team` or `private`. Default `public`, also for an empty string in v2 JSON."""


class PublishWebsiteResponse(Envelope):
    """Response of PublishWebsite: the started deployment."""

    website_id: str
    """Id of the website."""
    version_id: str
    """Id of the checkpoint that is deployed, which is the newest one."""


class UpdateWebsiteRequest(TypedDict):
    """Request of UpdateWebsite. One of the ids is required. Absent fields stay unchanged."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    title: NotRequired[str]
    """New title, 1 to 255 characters.

    Rules: 1 to 255 characters.
    """
    visibility: NotRequired[Literal["public", "team", "private"]]
    """New audience: `public`, `team` or `private`."""


class UpdateWebsiteResponse(Envelope):
    """Response of UpdateWebsite. It has no fields."""


class ListWebsitesRequest(TypedDict):
    """Request of ListWebsites."""

    limit: NotRequired[int]
    """Maximum number of websites on the page, 1 to 100. Default 20.

    Rules: 1 to 100.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page. Absent or empty for the first page.

    Rules: at most 1024 characters.
    """


class ListWebsitesResponse(Envelope):
    """Response of ListWebsites: one page of websites."""

    data: list[Website]
    """The websites, newest first."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class Website(TypedDict):
    """A website in a list (spec/api.md 8.53)."""

    website_id: str
    """Id of the website."""
    task_id: str
    """Id of the task that built it."""
    title: str
    """Title, 1 to 255 characters."""
    publish_status: Literal["unpublished", "publishing", "published", "failed"]
    """State of the publication."""
    site_urls: list[str]
    """Addresses of the website while it is published; otherwise empty. As in GetWebsiteStatus."""
    version_id: NotRequired[str]
    """Id of the checkpoint that is online; absent while none is."""
    status_updated_at: NotRequired[int]
    """Time of the last change of `publish_status`, in Unix seconds; absent before the first publication."""
    visibility: Literal["public", "team", "private"]
    """Audience of the website, after every cap."""
    created_at: int
    """Creation time, in Unix seconds."""
    updated_at: int
    """Time of the last change, in Unix seconds."""


class UnpublishWebsiteRequest(TypedDict):
    """Request of UnpublishWebsite. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class UnpublishWebsiteResponse(Envelope):
    """Response of UnpublishWebsite. It has no fields."""


class DeleteWebsiteRequest(TypedDict):
    """Request of DeleteWebsite. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class DeleteWebsiteResponse(Envelope):
    """Response of DeleteWebsite. It has no fields."""


class RollbackWebsiteRequest(TypedDict):
    """Request of RollbackWebsite. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    version_id: str
    """Id of the checkpoint, from ListWebsiteCheckpoints.

    Rules: 1 to 128 characters.
    """


class RollbackWebsiteResponse(Envelope):
    """Response of RollbackWebsite."""

    website_id: str
    """Id of the website."""
    version_id: str
    """Id of the checkpoint that is deployed."""


class ListWebsiteViewersRequest(TypedDict):
    """Request of ListWebsiteViewers. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class ListWebsiteViewersResponse(Envelope):
    """Response of ListWebsiteViewers."""

    data: list[WebsiteViewer]
    """The viewers, by address; may be empty."""


class WebsiteViewer(TypedDict):
    """A person who may open a private website (spec/api.md 8.54)."""

    email: str
    """E-mail address in lower case."""
    created_at: int
    """When the address was added, in Unix seconds."""


class AddWebsiteViewersRequest(TypedDict):
    """Request of AddWebsiteViewers. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    emails: Sequence[str]
    """E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ.

    Rules: 1 to 100 items; each at most 254 characters; each an e-mail address.
    """


class AddWebsiteViewersResponse(Envelope):
    """Response of AddWebsiteViewers."""

    data: list[WebsiteViewer]
    """The viewers after the change, by address."""


class RemoveWebsiteViewersRequest(TypedDict):
    """Request of RemoveWebsiteViewers. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    emails: Sequence[str]
    """E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ.

    Rules: 1 to 100 items; each at most 254 characters; each an e-mail address.
    """


class RemoveWebsiteViewersResponse(Envelope):
    """Response of RemoveWebsiteViewers."""

    data: list[WebsiteViewer]
    """The viewers after the change, by address."""


class ListWebsiteDomainsRequest(TypedDict):
    """Request of ListWebsiteDomains. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """


class ListWebsiteDomainsResponse(Envelope):
    """Response of ListWebsiteDomains."""

    data: list[WebsiteDomain]
    """The domains, oldest first; may be empty."""


class WebsiteDomain(TypedDict):
    """A custom domain of a website (spec/api.md 8.55)."""

    domain: str
    """Host name in lower case and in ASCII: `www.example.com`."""
    status: Literal["pending", "active", "inactive"]
    """State of the domain."""
    txt_name: str
    """Name of the TXT record that proves the domain: `_atp-verify.www.example.com`."""
    txt_value: str
    """Value of that record, and text of `/.well-known/atp-verify` on the domain: 43 characters."""
    created_at: int
    """When the domain was linked, in Unix seconds."""
    verified_at: NotRequired[int]
    """When the domain last became active, in Unix seconds; absent before."""
    checked_at: NotRequired[int]
    """When the proof was last looked for, in Unix seconds; absent before the first time."""
    failures: int
    """Failed checks in a row, 0 to 3. The third one makes the domain inactive."""


class LinkWebsiteDomainRequest(TypedDict):
    """Request of LinkWebsiteDomain. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    domain: str
    """Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have
    no effect.

    Rules: 1 to 254 characters.
    """


class LinkWebsiteDomainResponse(Envelope):
    """Response of LinkWebsiteDomain."""

    domain: WebsiteDomain
    """The domain."""


class VerifyWebsiteDomainRequest(TypedDict):
    """Request of VerifyWebsiteDomain. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    domain: str
    """Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have
    no effect.

    Rules: 1 to 254 characters.
    """


class VerifyWebsiteDomainResponse(Envelope):
    """Response of VerifyWebsiteDomain."""

    domain: WebsiteDomain
    """The domain."""


class UnlinkWebsiteDomainRequest(TypedDict):
    """Request of UnlinkWebsiteDomain. One of the ids is required."""

    task_id: NotRequired[str]
    """Id of the task that built the website.

    Rules: at most 128 characters.
    """
    website_id: NotRequired[str]
    """Id of the website.

    Rules: at most 128 characters.
    """
    domain: str
    """Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the end have
    no effect.

    Rules: 1 to 254 characters.
    """


class UnlinkWebsiteDomainResponse(Envelope):
    """Response of UnlinkWebsiteDomain. It has no fields."""


class GetCurrentUserRequest(TypedDict):
    """Request of GetCurrentUser. It has no fields."""


class GetCurrentUserResponse(Envelope):
    """Response of GetCurrentUser."""

    message: str
    """Always `ok`."""
    user_id: str
    """Account id of the caller, a UUID."""
    credential_kind: Literal["key", "token", "session"]
    """Kind of the credential."""
    space: CurrentSpace
    """Space of the credential. All calls with the credential act in it."""
    scopes: NotRequired[list[str]]
    """Scopes of a token, or of an API key that has scopes; absent for other credentials."""
    name: NotRequired[str]
    """The person's own name; absent for a token, and for an account without a name."""
    email: NotRequired[str]
    """E-mail address of the account; absent for a token."""
    locale: NotRequired[str]
    """Language of the account as a BCP 47 tag; absent for a token."""
    role: NotRequired[Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"]]
    """Role in the team of the space; absent for a token and in a personal space."""
    operator: NotRequired[bool]
    """Whether the session may call `operator.status`; absent for all other credentials."""
    project_ids: NotRequired[list[str]]
    """Ids of the projects that an API key is limited to; absent for other credentials."""


class CurrentSpace(TypedDict):
    """The space that a credential acts in."""

    id: str
    """Id of the space; opaque."""
    name: NotRequired[str]
    """Name of the team; absent for a token and in a personal space."""


class ListUsersRequest(TypedDict):
    """Request of ListUsers. Both filters apply together."""

    limit: NotRequired[int]
    """Maximum number of members on the page, 1 to 1,000. Default 100.

    Rules: 1 to 1000.
    """
    offset: NotRequired[int]
    """Number of members to skip. Default 0.

    Rules: at least 0.
    """
    status_filter: NotRequired[Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"]]
    """Only members with this status. Default: active and inactive members. Removed members are listed only with
    `USER_STATUS_REMOVED`."""
    delegation_state: NotRequired[Literal["DELEGATION_STATE_DELEGATED", "DELEGATION_STATE_HAS_DELEGATES", "DELEGATION_STATE_NONE"]]
    """Only members in this delegation state. Default: all."""


class ListUsersResponse(Envelope):
    """Response of ListUsers: one page of members."""

    users: list[TeamUser]
    """The members, without `delegated_profiles`."""
    total: int
    """Number of members on all pages."""
    limit: int
    """Applied limit."""
    offset: int
    """Applied offset."""


class TeamUser(TypedDict):
    """A member of a team (spec/enterprise.md 4.3)."""

    email: str
    """Present e-mail address; a generated address while the profile is delegated."""
    user_name: NotRequired[str]
    """Name in the team, or else the name of the account; absent when neither is known."""
    status: Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"]
    """Status of the member."""
    role: Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"]
    """Role in the team."""
    team_user_id: str
    """Permanent id of the member in the team, 1 to 64 characters; opaque."""
    delegated_to: NotRequired[str]
    """`team_user_id` of the assignee; present while the profile is delegated."""
    delegated_profiles: NotRequired[list[DelegatedProfile]]
    """Delegated profiles that this member holds. Present only in responses with one member, and only when the member
    holds a profile."""
    original_email: NotRequired[str]
    """E-mail address before the delegation; present while the profile is delegated."""


class DelegatedProfile(TypedDict):
    """A delegated profile that a member holds."""

    team_user_id: str
    """Id of the profile."""
    display_name: str
    """Name of the profile, or else its address before the delegation."""
    role: Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"]
    """Role of the profile."""
    delegated_at: NotRequired[str]
    """Time of the delegation."""


class GetUserRequest(TypedDict):
    """Request of GetUser. One of the fields is required; `team_user_id` takes precedence."""

    email: NotRequired[str]
    """Present e-mail address of the member.

    Rules: at most 254 characters; an e-mail address.
    """
    team_user_id: NotRequired[str]
    """Id of the member.

    Rules: at most 64 characters.
    """


class GetUserResponse(Envelope):
    """Response of GetUser."""

    user: TeamUser
    """The member, with the delegated profiles that it holds."""


class CreateUserRequest(TypedDict):
    """Request of CreateUser."""

    email: NotRequired[str]
    """E-mail address, at most 254 characters.

    Rules: at most 254 characters; an e-mail address.
    """
    role: NotRequired[Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"]]
    """Role of the member; any role except the owner's."""
    user_name: NotRequired[str]
    """Name, at most 255 characters. `first_name` and `last_name` take precedence.

    Rules: at most 255 characters.
    """
    first_name: NotRequired[str]
    """First name, at most 128 characters. It is joined with the last name by a blank.

    Rules: at most 128 characters.
    """
    last_name: NotRequired[str]
    """Last name, at most 128 characters.

    Rules: at most 128 characters.
    """


class CreateUserResponse(Envelope):
    """Response of CreateUser."""

    user: TeamUser
    """The new member."""


class UpdateUserRequest(TypedDict):
    """Request of UpdateUser. One of `email` and `team_user_id` is required, and at least one of `status` and `role`.
    `team_user_id` takes precedence."""

    email: NotRequired[str]
    """Present e-mail address of the member.

    Rules: at most 254 characters; an e-mail address.
    """
    team_user_id: NotRequired[str]
    """Id of the member.

    Rules: at most 64 characters.
    """
    status: NotRequired[Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"]]
    """New status. `USER_STATUS_REMOVED` cannot be undone."""
    role: NotRequired[Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"]]
    """New role; any role except the owner's."""
    dry_run: NotRequired[bool]
    """Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no
    audit entry. Checks and limits apply."""


class UpdateUserResponse(Envelope):
    """Response of UpdateUser."""

    user: TeamUser
    """The member after the change, with the delegated profiles that it holds."""
    cascade_affected: list[CascadeAffected]
    """Profiles that lost their assignee. Empty unless the member held some and is no longer active."""
    effects: NotRequired[MembershipEffects]
    """What ends with the change. Present only with `dry_run`, and only when access ends."""


class CascadeAffected(TypedDict):
    """A delegated profile that lost its assignee (spec/enterprise.md 4.3)."""

    team_user_id: str
    """Id of the profile."""
    display_name: str
    """Name of the profile, or else its original address."""
    action: str
    """Always `returned_to_pool`. New values can appear."""
    new_status: Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"]
    """Always `USER_STATUS_INACTIVE`."""


class MembershipEffects(TypedDict):
    """What ends when a member is deactivated, delegated or removed (spec/enterprise.md 5.10). Numbers of objects at the
    time of the call."""

    sessions: int
    """Signed-in sessions in the team."""
    tokens: int
    """Valid tokens of OAuth apps."""
    running_tasks: int
    """Running tasks, which stop."""
    keys: int
    """API keys that end permanently. 0 for a deactivation, which only refuses them."""
    grants: int
    """Apps that lose their access permanently."""
    webhooks: int
    """Webhooks that are deleted."""
    connectors: int
    """Connectors that are deleted."""
    skills: int
    """Personal skills that are deleted."""
    links: int
    """Sign-in links that can no longer be used."""


class DelegateProfileRequest(TypedDict):
    """Request of DelegateProfile."""

    team_user_id: str
    """Id of the inactive profile.

    Rules: 1 to 64 characters.
    """
    target_team_user_id: str
    """Id of the member who becomes the assignee.

    Rules: 1 to 64 characters.
    """
    role: NotRequired[Literal["MIGRATED_PROFILE_ROLE_MEMBER", "MIGRATED_PROFILE_ROLE_FREE_GUEST", "MIGRATED_PROFILE_ROLE_DEACTIVATED"]]
    """Status and role of the profile after the delegation."""
    dry_run: NotRequired[bool]
    """Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no
    audit entry. Checks and limits apply."""


class DelegateProfileResponse(Envelope):
    """Response of DelegateProfile."""

    user: TeamUser
    """The profile after the change."""
    effects: NotRequired[MembershipEffects]
    """What ends with the change. Present only with `dry_run`, and only when access ends."""


class ReclaimProfileRequest(TypedDict):
    """Request of ReclaimProfile."""

    team_user_id: str
    """Id of the delegated profile.

    Rules: 1 to 64 characters.
    """


class ReclaimProfileResponse(Envelope):
    """Response of ReclaimProfile."""

    user: TeamUser
    """The profile, inactive and without an assignee."""
    previous_delegate: str
    """`team_user_id` of the former assignee."""


class RenameProfileRequest(TypedDict):
    """Request of RenameProfile."""

    team_user_id: str
    """Id of the member.

    Rules: 1 to 64 characters.
    """
    display_name: str
    """New name, 1 to 255 characters, without control characters.

    Rules: 1 to 255 characters.
    """


class RenameProfileResponse(Envelope):
    """Response of RenameProfile."""

    user: TeamUser
    """The member; its `user_name` is the new name."""


class RemoveMemberRequest(TypedDict):
    """Request of RemoveMember."""

    team_user_id: str
    """Id of the member.

    Rules: 1 to 64 characters.
    """
    dry_run: NotRequired[bool]
    """Only show what the call would do. The answer is the same with `effects`; nothing is written, and there is no
    audit entry. Checks and limits apply."""


class RemoveMemberResponse(Envelope):
    """Response of RemoveMember."""

    user: TeamUser
    """The removed member, with the status `USER_STATUS_REMOVED`."""
    cascade_affected: list[CascadeAffected]
    """Profiles that the member held and that lost their assignee."""
    effects: NotRequired[MembershipEffects]
    """What ends with the change. Present only with `dry_run`, and only when access ends."""


class ListShareableAssetsRequest(TypedDict):
    """Request of ListShareableAssets. All filters apply together."""

    asset_type: NotRequired[Literal["ASSET_TYPE_SESSION_COLLABORATION", "ASSET_TYPE_SESSION_SHARE", "ASSET_TYPE_FILE_SHARE", "ASSET_TYPE_WEBSITE_PUBLISH", "ASSET_TYPE_PROJECT_SHARE"]]
    """Kind of shared object. Required."""
    keyword: NotRequired[str]
    """Only objects whose name begins with this text, regardless of case.

    Rules: at most 255 characters; also named `asset_name`.
    """
    owner_id: NotRequired[str]
    """Only shares of the member with this account id.

    Rules: at most 128 characters; also named `owner`.
    """
    start_time: NotRequired[str]
    """Only objects shared at or after this time.

    Rules: also named `shared_after`.
    """
    end_time: NotRequired[str]
    """Only objects shared at or before this time.

    Rules: also named `shared_before`.
    """
    permission: NotRequired[Literal["SHARE_SCOPE_OWNER", "SHARE_SCOPE_TEAM_ONLY", "SHARE_SCOPE_PUBLIC"]]
    """Only shares whose owner set this scope, regardless of caps."""
    limit: NotRequired[int]
    """Maximum number of shares on the page, 1 to 1,000. Default 100.

    Rules: 1 to 1000.
    """
    offset: NotRequired[int]
    """Number of shares to skip. Default 0.

    Rules: at least 0.
    """


class ListShareableAssetsResponse(Envelope):
    """Response of ListShareableAssets: one page of shares."""

    assets: list[ShareableAsset]
    """The shares."""
    total: int
    """Number of shares on all pages."""
    limit: int
    """Applied limit."""
    offset: int
    """Applied offset."""


class ShareableAsset(TypedDict):
    """An object that a member of the team shares (spec/enterprise.md 9)."""

    uid: str
    """Id of the share; the `share_uid` of UpdateAssetShareScope."""
    asset_type: Literal["ASSET_TYPE_SESSION_COLLABORATION", "ASSET_TYPE_SESSION_SHARE", "ASSET_TYPE_FILE_SHARE", "ASSET_TYPE_WEBSITE_PUBLISH", "ASSET_TYPE_PROJECT_SHARE"]
    """Kind of object."""
    asset_name: str
    """Title of the task or website."""
    asset_id: str
    """Id of the task, file, website or project."""
    permission: Literal["SHARE_SCOPE_OWNER", "SHARE_SCOPE_TEAM_ONLY", "SHARE_SCOPE_PUBLIC"]
    """Scope in effect, after every cap."""
    max_permission: NotRequired[Literal["SHARE_SCOPE_OWNER", "SHARE_SCOPE_TEAM_ONLY", "SHARE_SCOPE_PUBLIC"]]
    """Cap in effect, which is the lowest of all caps; absent without a cap."""
    shared_at: NotRequired[str]
    """Time of the share: for a task the last time it became shared, for a website its first publication."""
    last_operated_at: NotRequired[str]
    """Time of the last change of the share, its visibility or its cap."""
    owner_id: str
    """Account id of the member who shares the object."""
    session_id: NotRequired[str]
    """Id of the task that produced the object; absent without one."""
    asset_exists: bool
    """Whether the object still exists. The share of a deleted object cannot be changed."""


class UpdateAssetShareScopeRequest(TypedDict):
    """Request of UpdateAssetShareScope."""

    share_uid: str
    """`uid` of the share.

    Rules: 1 to 128 characters.
    """
    permission: NotRequired[Literal["SHARE_SCOPE_OWNER", "SHARE_SCOPE_TEAM_ONLY", "SHARE_SCOPE_PUBLIC"]]
    """Widest scope that the share may have. `SHARE_SCOPE_PUBLIC` sets no limit."""
    note: NotRequired[str]
    """Reason of the change, at most 2,000 characters; kept unchanged in the audit log.

    Rules: at most 2000 characters.
    """


class UpdateAssetShareScopeResponse(Envelope):
    """Response of UpdateAssetShareScope."""


class CreateExportRequest(TypedDict):
    """Request of CreateExport. One of `user_id` and `email` is required; both must name the same person."""

    user_id: NotRequired[str]
    """Account id of the person, a UUID. A text of another form is an unknown person.

    Rules: at most 128 characters.
    """
    scope: NotRequired[Literal["ENTERPRISE_EXPORT_SCOPE_FULL", "ENTERPRISE_EXPORT_SCOPE_TASKS", "ENTERPRISE_EXPORT_SCOPE_TASKS_WITH_ATTACHMENTS", "ENTERPRISE_EXPORT_SCOPE_CUSTOM_SESSION_IDS", "ENTERPRISE_EXPORT_SCOPE_WEBDEV_PROJECT", "ENTERPRISE_EXPORT_SCOPE_PROJECT"]]
    """Content of the archive. Required."""
    email: NotRequired[str]
    """E-mail address of the person.

    Rules: at most 254 characters.
    """
    include_deleted: NotRequired[bool]
    """Also exports deleted tasks and skills."""
    start_time: NotRequired[str]
    """Only data created at or after this time."""
    end_time: NotRequired[str]
    """Only data created at or before this time."""
    session_ids: NotRequired[Sequence[str]]
    """Ids of the tasks to export, at most 10,000. Required with the scope `CUSTOM_SESSION_IDS`; `invalid_argument` with
    any other. Ids that are not tasks of the person are ignored.

    Rules: at most 10000 items; each 1 to 128 characters.
    """
    include_files: NotRequired[bool]
    """Also exports attached files. The scope `TASKS_WITH_ATTACHMENTS` implies it."""
    reason: NotRequired[str]
    """Reason of the export, at most 2,000 characters; kept in the audit log.

    Rules: at most 2000 characters.
    """
    webdev_project_uids: NotRequired[Sequence[str]]
    """Ids of the websites to export, at most 1,000; only with the scope `WEBDEV_PROJECT`. Empty means all websites.

    Rules: at most 1000 items; each 1 to 128 characters.
    """
    project_uids: NotRequired[Sequence[str]]
    """Ids of the projects to export, at most 1,000; only with the scope `PROJECT`. Empty means all projects.

    Rules: at most 1000 items; each 1 to 128 characters.
    """


class CreateExportResponse(Envelope):
    """Response of CreateExport: the requested export."""

    uid: str
    """Id of the export."""
    status: Literal["EXPORT_STATUS_PENDING", "EXPORT_STATUS_PROCESSING", "EXPORT_STATUS_COMPLETED", "EXPORT_STATUS_FAILED", "EXPORT_STATUS_CANCELLED"]
    """Always `EXPORT_STATUS_PENDING`."""
    created_at: str
    """Time of the request."""
    user_id: str
    """Account id of the person, a UUID."""
    enterprise_uid: str
    """Id of the team."""


class GetExportRequest(TypedDict):
    """Request of GetExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class GetExportResponse(Envelope):
    """Response of GetExport."""

    record: EnterpriseExportRecord
    """The export."""


class EnterpriseExportRecord(TypedDict):
    """An export of a person's data and its progress.

    Both versions of the export use this message (spec/enterprise.md 4.5).
    """

    uid: str
    """Id of the export."""
    user_id: str
    """Account id of the exported person, a UUID."""
    status: Literal["EXPORT_STATUS_PENDING", "EXPORT_STATUS_PROCESSING", "EXPORT_STATUS_COMPLETED", "EXPORT_STATUS_FAILED", "EXPORT_STATUS_CANCELLED"]
    """State of the export."""
    file_url: NotRequired[str]
    """Signed address of the archive, valid for 10 minutes and new in each response. Present when the export is
    completed, until the archive is purged."""
    file_size: NotRequired[int]
    """Size of the archive in bytes; present when the export is completed."""
    file_size_human: NotRequired[str]
    """Readable size of the archive, for example `12.4 MB`; present when the export is completed."""
    url_expires_at: NotRequired[str]
    """Time at which `file_url` expires; present together with it."""
    completed_at: NotRequired[str]
    """Time at which the export ended; present when it is completed or failed."""
    created_at: NotRequired[str]
    """Time of the request."""
    error_message: NotRequired[str]
    """Reason of the failure; present when the export failed."""
    progress: NotRequired[ExportProgress]
    """Progress of the export; present while it is processing."""


class ExportProgress(TypedDict):
    """Progress of an export that is processing."""

    done: int
    """Number of completed steps."""
    total: int
    """Total number of steps; 0 until they are counted."""
    percent: int
    """Completed share in whole percent."""


class ListExportsRequest(TypedDict):
    """Request of ListExports."""

    user: str
    """Account id or e-mail address of a present or past member, 1 to 254 characters.

    Rules: 1 to 254 characters.
    """
    page: NotRequired[int]
    """Number of the page, from 1. Default 1.

    Rules: at least 1.
    """
    page_size: NotRequired[int]
    """Number of records on a page, 1 to 1,000. Default 10.

    Rules: 1 to 1000.
    """


class ListExportsResponse(Envelope):
    """Response of ListExports: one page of exports."""

    records: list[EnterpriseExportRecord]
    """The exports, newest first."""
    total: int
    """Number of exports on all pages."""


class GetDownloadURLRequest(TypedDict):
    """Request of GetDownloadURL."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class GetDownloadURLResponse(Envelope):
    """Response of GetDownloadURL."""

    download_url: str
    """Signed address of the archive. A GET without a credential downloads it."""
    expires_at: str
    """Time at which the address expires."""


class DataexportListTasksRequest(TypedDict):
    """Request of ListTasks."""

    user: str
    """Account id or e-mail address of a present or past member, 1 to 254 characters.

    Rules: 1 to 254 characters.
    """
    start_time: NotRequired[str]
    """Only tasks created at or after this time."""
    end_time: NotRequired[str]
    """Only tasks created at or before this time."""
    page: NotRequired[int]
    """Number of the page, from 1. Default 1.

    Rules: at least 1.
    """
    page_size: NotRequired[int]
    """Number of records on a page, 1 to 1,000. Default 10.

    Rules: 1 to 1000.
    """
    include_deleted: NotRequired[bool]
    """Also lists deleted tasks."""


class DataexportListTasksResponse(Envelope):
    """Response of ListTasks: one page of tasks."""

    records: list[EnterpriseTaskRecord]
    """The tasks, newest first."""
    total: int
    """Number of tasks on all pages."""


class EnterpriseTaskRecord(TypedDict):
    """A task as data exports list it, including deleted tasks.

    Both versions of the export use this message (spec/enterprise.md 4.4).
    """

    task_uid: str
    """Id of the task."""
    user_id: str
    """Account id of the task's owner, a UUID."""
    title: str
    """Title of the task."""
    status: str
    """`SESSION_STATUS_RUNNING`, `SESSION_STATUS_WAITING`, `SESSION_STATUS_STOPPED`, `SESSION_STATUS_ERROR` or
    `SESSION_STATUS_UNSPECIFIED`. New values can appear. These values differ from those of task.v2.TaskStatus."""
    created_at: NotRequired[str]
    """Creation time."""
    updated_at: NotRequired[str]
    """Time of the last change."""
    last_message_time: NotRequired[str]
    """Time of the latest message."""
    is_deleted: bool
    """Whether the user deleted the task."""
    deleted_at: NotRequired[str]
    """Time of the deletion; present only for deleted tasks."""
    audit_status: int
    """Audit state; always 0, which means normal."""
    is_shared: bool
    """Whether the task is shared with the team or publicly, after every visibility cap."""
    is_blocked: bool
    """Whether the task is blocked; always false, because this server blocks no tasks."""
    space_id: str
    """Id of the space that the task belongs to."""
    project_uid: NotRequired[str]
    """Id of the task's project; absent without one."""
    scheduled_task: bool
    """Whether a schedule created the task (spec/api.md 8.57)."""
    scheduled_task_uid: NotRequired[str]
    """Id of the schedule, which may be deleted since; absent without one."""


class CancelExportRequest(TypedDict):
    """Request of CancelExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class CancelExportResponse(Envelope):
    """Response of CancelExport."""

    record: EnterpriseExportRecord
    """The cancelled export."""


class DeleteExportRequest(TypedDict):
    """Request of DeleteExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class DeleteExportResponse(Envelope):
    """Response of DeleteExport."""


class ObservabilityCreateExportRequest(TypedDict):
    """Request of CreateExport. All filters apply together; an empty filter counts as absent."""

    user: NotRequired[str]
    """Only events of the person with this account id, who may be a past member. Default: all members. An e-mail address
    is `not_found`.

    Rules: at most 128 characters.
    """
    session_uid: NotRequired[str]
    """Only events of the task with this id. Default: all tasks.

    Rules: at most 128 characters.
    """
    start_time: NotRequired[str]
    """Only events at or after this time."""
    end_time: NotRequired[str]
    """Only events before this time. Default: the time of the request, which is also the latest value."""
    event_names: NotRequired[Sequence[Literal["EVENT_NAME_USER_CHAT", "EVENT_NAME_AGENT_REPLY", "EVENT_NAME_TOOL_CALL", "EVENT_NAME_TOOL_RESULT"]]]
    """Only events of these kinds. Default: all kinds."""
    include_payload: NotRequired[bool]
    """Also exports the content of messages and tool calls. It has no effect unless the operator allows it with
    `SIEM_PAYLOADS`."""
    reason: NotRequired[str]
    """Reason of the export, at most 2,000 characters; kept in the audit log.

    Rules: at most 2000 characters.
    """


class ObservabilityCreateExportResponse(Envelope):
    """Response of CreateExport: the requested export."""

    uid: str
    """Id of the export."""
    status: Literal["COMPLIANCE_EXPORT_STATUS_PENDING", "COMPLIANCE_EXPORT_STATUS_PROCESSING", "COMPLIANCE_EXPORT_STATUS_COMPLETED", "COMPLIANCE_EXPORT_STATUS_FAILED"]
    """Always `COMPLIANCE_EXPORT_STATUS_PENDING`."""
    created_at: str
    """Time of the request."""


class ObservabilityGetExportRequest(TypedDict):
    """Request of GetExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class ObservabilityGetExportResponse(Envelope):
    """Response of GetExport."""

    record: ComplianceExportRecord
    """The export."""


class ComplianceExportRecord(TypedDict):
    """An export of agent events for a SIEM and its progress (spec/enterprise.md 8.3)."""

    uid: str
    """Id of the export."""
    status: Literal["COMPLIANCE_EXPORT_STATUS_PENDING", "COMPLIANCE_EXPORT_STATUS_PROCESSING", "COMPLIANCE_EXPORT_STATUS_COMPLETED", "COMPLIANCE_EXPORT_STATUS_FAILED"]
    """State of the export."""
    created_at: NotRequired[str]
    """Time of the request."""
    completed_at: NotRequired[str]
    """Time at which the export ended; present when it is completed or failed."""
    event_count: NotRequired[int]
    """Number of events in the archive; present when the export is completed."""
    file_size: NotRequired[int]
    """Size of the archive in bytes; present when the export is completed."""
    error_message: NotRequired[str]
    """Reason of the failure; present when the export failed."""
    progress: NotRequired[ComplianceExportProgress]
    """Progress of the work; present when the export is processing."""


class ComplianceExportProgress(TypedDict):
    """Progress of an export that is processing."""

    done: int
    """Number of completed steps."""
    total: int
    """Total number of steps; 0 until they are counted."""
    percent: int
    """Completed share in whole percent."""


class ObservabilityGetDownloadURLRequest(TypedDict):
    """Request of GetDownloadURL."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class ObservabilityGetDownloadURLResponse(Envelope):
    """Response of GetDownloadURL."""

    download_url: str
    """Signed address of the archive. A GET without a credential downloads it."""
    expires_at: str
    """Time at which the address expires."""


class ObservabilityListExportsRequest(TypedDict):
    """Request of ListExports."""

    page: NotRequired[int]
    """Number of the page, from 1. Default 1.

    Rules: at least 1.
    """
    page_size: NotRequired[int]
    """Number of records on a page, 1 to 1,000. Default 10.

    Rules: 1 to 1000.
    """


class ObservabilityListExportsResponse(Envelope):
    """Response of ListExports: one page of exports."""

    records: list[ComplianceExportRecord]
    """The exports, newest first."""
    total: int
    """Number of exports on all pages."""


class ObservabilityCancelExportRequest(TypedDict):
    """Request of CancelExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class ObservabilityCancelExportResponse(Envelope):
    """Response of CancelExport."""

    record: ComplianceExportRecord
    """The cancelled export."""


class ObservabilityDeleteExportRequest(TypedDict):
    """Request of DeleteExport."""

    uid: str
    """Id of the export.

    Rules: 1 to 128 characters.
    """


class ObservabilityDeleteExportResponse(Envelope):
    """Response of DeleteExport."""


class ImportProjectRequest(TypedDict):
    """Request of ImportProject."""

    source: ImportSourceInput
    """The project at its source."""
    name: str
    """Name, 1 to 255 characters.

    Rules: 1 to 255 characters.
    """
    instruction: NotRequired[str]
    """Instruction of the project, at most 20,000 characters.

    Rules: at most 20000 characters.
    """
    created_at: NotRequired[int]
    """Creation time at the source, in Unix seconds.

    Rules: 1 to 253402300799.
    """


class ImportSourceInput(TypedDict):
    """An object at its source."""

    origin: NotRequired[str]
    """Origin of the server: scheme, host and port, for example `https://agents.example.com`. Lower case, without a
    path."""
    id: NotRequired[str]
    """Id of the object there: 1 to 128 visible ASCII characters; of an attachment at most 140."""


class ImportProjectResponse(Envelope):
    """Response of ImportProject."""

    project_id: str
    """Id of the project here."""
    created: bool
    """Whether this call made it; false when it was imported before."""


class ImportTaskRequest(TypedDict):
    """Request of ImportTask."""

    source: ImportSourceInput
    """The task at its source."""
    title: NotRequired[str]
    """Title, at most 255 characters.

    Rules: at most 255 characters.
    """
    created_at: NotRequired[int]
    """Creation time at the source, in Unix seconds.

    Rules: 1 to 253402300799.
    """
    updated_at: NotRequired[int]
    """Time of the last change at the source, in Unix seconds; not before `created_at`.

    Rules: 1 to 253402300799.
    """
    agent_profile: NotRequired[str]
    """Profile at the source. A profile that this server does not have becomes the default one.

    Rules: at most 64 characters.
    """
    hide_in_task_list: NotRequired[bool]
    """Hides the task in the task list of the web app."""
    metadata: NotRequired[Mapping[str, str]]
    """Labels of the task, as in CreateTask.

    Rules: at most 16 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """
    project_id: NotRequired[str]
    """Id of its project at the source."""
    parent_task_id: NotRequired[str]
    """Id of its parent task at the source, for a subtask."""


class ImportTaskResponse(Envelope):
    """Response of ImportTask."""

    task_id: str
    """Id of the task here."""
    created: bool
    """Whether this call made it; false when it was imported before."""
    events: int
    """Number of events that were copied so far: the next `after`."""
    complete: bool
    """Whether all events are copied."""
    missing_files: int
    """Number of its files that have no bytes yet."""


class ImportTaskEventsRequest(TypedDict):
    """Request of ImportTaskEvents."""

    source: ImportSourceInput
    """The task at its source."""
    after: NotRequired[int]
    """Number of events of the task before the first one of `events`.

    Rules: at least 0.
    """
    events: NotRequired[Sequence[ImportedEventInput]]
    """The next events, verbose ones too, in order: at most 50.

    Rules: at most 50 items.
    """
    complete: NotRequired[bool]
    """No event follows."""


class ImportedEventInput(TypedDict):
    """One event of a task at its source, as ListMessages returns it there. Ids and links that belong to the source are
    left out."""

    id: NotRequired[str]
    """Id of the event at the source: 1 to 128 visible ASCII characters. The files of the event are known by it."""
    timestamp: NotRequired[int]
    """Time of the event at the source, in Unix milliseconds. It increases strictly within a task, and is at most one
    day ahead of the time of the server.

    Rules: 1 to 253402300799000.
    """
    user_message: NotRequired[ImportedUserMessageInput]
    """Message from the user."""
    assistant_message: NotRequired[ImportedAssistantMessageInput]
    """Message from the agent."""
    error_message: NotRequired[ImportedErrorMessageInput]
    """Failure of the turn."""
    status_update: NotRequired[ImportedStatusUpdateInput]
    """Change of the task's state."""
    user_stop: NotRequired[ImportedUserStopInput]
    """The user stopped the task."""
    structured_output_result: NotRequired[ImportedStructuredOutputResultInput]
    """Result of the structured output."""
    tool_used: NotRequired[ImportedToolUsedInput]
    """Use of a tool."""
    plan_update: NotRequired[ImportedPlanUpdateInput]
    """The complete plan."""
    new_plan_step: NotRequired[ImportedNewPlanStepInput]
    """Start of a step of the plan."""
    explanation: NotRequired[ImportedExplanationInput]
    """Reasoning of the agent."""


class ImportedUserMessageInput(TypedDict):
    """A message from the user."""

    content: NotRequired[str]
    """Text of the message, at most 1 MiB.

    Rules: at most 1048576 bytes.
    """
    message_type: NotRequired[Literal["text", "voice"]]
    """Whether the message contains speech. Not set means text."""
    attachments: NotRequired[Sequence[ImportedAttachmentInput]]
    """Files of the message.

    Rules: at most 1000 items.
    """


class ImportedAttachmentInput(TypedDict):
    """A file of a message at the source. It has no bytes until ImportFile copies them."""

    type: NotRequired[Literal["image", "file", "voice", "slides"]]
    """How to display the file."""
    filename: NotRequired[str]
    """Name of the file, at most 255 bytes of UTF-8. A path before the name is left out.

    Rules: at most 255 bytes.
    """
    content_type: NotRequired[str]
    """Media type, at most 255 characters. Default: by the name.

    Rules: at most 255 characters.
    """


class ImportedAssistantMessageInput(TypedDict):
    """A message from the agent."""

    content: NotRequired[str]
    """Text of the message, at most 1 MiB.

    Rules: at most 1048576 bytes.
    """
    attachments: NotRequired[Sequence[ImportedAttachmentInput]]
    """Files that the agent made.

    Rules: at most 1000 items.
    """
    delivery_kind: NotRequired[str]
    """`result`, `progress` or `question`; absent when the source has none."""
    question_expectation: NotRequired[ImportedQuestionExpectationInput]
    """How to answer; only on questions."""


class ImportedQuestionExpectationInput(TypedDict):
    """How the agent expects its question to be answered."""

    options: NotRequired[Sequence[str]]
    """Suggested answers: at most 100, each at most 1,000 characters.

    Rules: at most 100 items; each at most 1000 characters.
    """
    selection_mode: NotRequired[str]
    """`single` or `multiple`. Default `single`."""


class ImportedErrorMessageInput(TypedDict):
    """A failure that ended the turn."""

    error_type: NotRequired[str]
    """Category of the failure, at most 128 characters.

    Rules: at most 128 characters.
    """
    content: NotRequired[str]
    """Readable description of the failure, at most 64 KiB.

    Rules: at most 65536 bytes.
    """


class ImportedStatusUpdateInput(TypedDict):
    """A change of the task's state."""

    agent_status: NotRequired[Literal["running", "stopped", "waiting", "error"]]
    """New state of the task."""
    status_detail: NotRequired[ImportedStatusDetailInput]
    """What the task waited for; only when the new state is `waiting`."""
    brief: NotRequired[str]
    """Short text, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    description: NotRequired[str]
    """Longer text, at most 64 KiB.

    Rules: at most 65536 bytes.
    """


class ImportedStatusDetailInput(TypedDict):
    """The question or approval that a task waited for. It is history: an imported task waits for nothing."""

    waiting_for_event_type: NotRequired[str]
    """Kind of wait, at most 128 characters.

    Rules: at most 128 characters.
    """
    waiting_description: NotRequired[str]
    """Readable description of the question or action, at most 64 KiB.

    Rules: at most 65536 bytes.
    """
    confirm_input_schema: NotRequired[Mapping[str, Any]]
    """JSON Schema of the decision, at most 64 KiB as JSON; absent for a question."""


class ImportedUserStopInput(TypedDict):
    """A stop by the user. It has no fields."""


class ImportedStructuredOutputResultInput(TypedDict):
    """The value that was extracted when a turn finished."""

    success: NotRequired[bool]
    """Whether the extraction succeeded."""
    value: NotRequired[Mapping[str, Any]]
    """The extracted value, at most 1 MiB as JSON."""
    error: NotRequired[str]
    """Reason of the failure, at most 64 KiB; absent on success.

    Rules: at most 65536 bytes.
    """


class ImportedToolUsedInput(TypedDict):
    """A use of a tool by the agent."""

    tool: str
    """Name of the tool, at most 128 characters.

    Rules: 1 to 128 characters.
    """
    action_id: NotRequired[str]
    """Id of the use; the same in all events of one use. At most 128 characters.

    Rules: at most 128 characters.
    """
    status: NotRequired[Literal["success", "error", "rollback", "pending_confirmation"]]
    """State of the use."""
    brief: NotRequired[str]
    """Short text, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    description: NotRequired[str]
    """Longer text, at most 64 KiB.

    Rules: at most 65536 bytes.
    """
    message: NotRequired[ImportedToolUsedMessageInput]
    """Short form of the use for display."""
    params: NotRequired[Mapping[str, Any]]
    """Arguments of the tool, at most 1 MiB as JSON."""
    result: NotRequired[Any]
    """Result of the tool, at most 1 MiB as JSON."""


class ImportedToolUsedMessageInput(TypedDict):
    """Short form of a tool's use for display."""

    action: NotRequired[str]
    """The action, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    param: NotRequired[str]
    """The object of the action, at most 1,000 characters.

    Rules: at most 1000 characters.
    """


class ImportedPlanUpdateInput(TypedDict):
    """The complete plan. It replaces every earlier plan."""

    steps: NotRequired[Sequence[ImportedPlanStepInput]]
    """All steps, in order: at most 200.

    Rules: at most 200 items.
    """


class ImportedPlanStepInput(TypedDict):
    """One step of a plan."""

    status: NotRequired[Literal["todo", "doing", "done", "failed"]]
    """State of the step."""
    title: NotRequired[str]
    """Title of the step, at most 1,000 characters.

    Rules: at most 1000 characters.
    """
    started_at: NotRequired[int]
    """Time at which the step started, in Unix seconds; absent before.

    Rules: 0 to 253402300799.
    """
    end_at: NotRequired[int]
    """Time at which the step ended, in Unix seconds; absent before.

    Rules: 0 to 253402300799.
    """


class ImportedNewPlanStepInput(TypedDict):
    """The start of a step of the plan."""

    step_id: NotRequired[str]
    """Id of the step, at most 128 characters.

    Rules: at most 128 characters.
    """
    title: NotRequired[str]
    """Title of the step, at most 1,000 characters.

    Rules: at most 1000 characters.
    """


class ImportedExplanationInput(TypedDict):
    """Reasoning of the agent."""

    content: NotRequired[str]
    """Text of the reasoning, at most 1 MiB.

    Rules: at most 1048576 bytes.
    """


class ImportTaskEventsResponse(Envelope):
    """Response of ImportTaskEvents."""

    task_id: str
    """Id of the task here."""
    events: int
    """Number of events that were copied so far: the next `after`."""
    complete: bool
    """Whether all events are copied."""
    missing_files: list[str]
    """When `complete`: ids at the source of the attachments that have no bytes yet, as ImportFile takes them, in the
    order of the events. At most 1,000."""


class ImportFileRequest(TypedDict):
    """Request of ImportFile."""

    source: ImportSourceInput
    """The attachment at its source. Its id is the id of the event, `/`, and the position of the attachment in the event
    from 0."""
    file_id: str
    """Id of the upload with its bytes, from UploadFile.

    Rules: 1 to 128 characters.
    """


class ImportFileResponse(Envelope):
    """Response of ImportFile."""

    file_id: str
    """Id of the file here."""
    created: bool
    """Whether this call gave it its bytes; false when it had them before. The upload then stays as it is."""


class ImportWebhookRequest(TypedDict):
    """Request of ImportWebhook."""

    source: ImportSourceInput
    """The webhook at its source."""
    url: str
    """Address that events are posted to: https, at most 2,048 characters.

    Rules: 1 to 2048 characters.
    """
    event_types: Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Types of event.

    Rules: 1 to 5 items; no item twice.
    """
    double_hash: NotRequired[bool]
    """Whether receivers hash the signed content twice."""
    project_id: NotRequired[str]
    """Id of the project at the source whose tasks' events are delivered."""
    metadata: NotRequired[Mapping[str, str]]
    """Pair that a task's metadata must have: at most one.

    Rules: at most 1 pairs; each key 1 to 64 characters; each value at most 512 characters.
    """
    name: NotRequired[str]
    """Display name, at most 64 characters.

    Rules: at most 64 characters.
    """
    created_at: NotRequired[int]
    """Creation time at the source, in Unix seconds.

    Rules: 1 to 253402300799.
    """


class ImportWebhookResponse(Envelope):
    """Response of ImportWebhook."""

    webhook_id: str
    """Id of the webhook here."""
    created: bool
    """Whether this call made it; false when it was imported before, or the account had a webhook with its address."""


class FinishImportRequest(TypedDict):
    """Request of FinishImport."""

    origin: NotRequired[str]
    """Origin of the source."""
    skipped: NotRequired[int]
    """Number of objects that were left out, for the audit log.

    Rules: at least 0.
    """
    failed: NotRequired[int]
    """Number of objects that could not be copied, for the audit log.

    Rules: at least 0.
    """


class FinishImportResponse(Envelope):
    """Response of FinishImport."""

    report: ImportReport
    """The numbers of imported objects."""


class ImportReport(TypedDict):
    """Numbers of the objects that were imported from one source. Objects that were deleted later count."""

    origin: str
    """Origin of the source."""
    projects: int
    """Projects."""
    tasks: int
    """Tasks with all their events."""
    open_tasks: int
    """Tasks that have not all their events yet."""
    events: int
    """Events of all tasks."""
    files: int
    """Files with their bytes."""
    missing_files: int
    """Files without bytes: their source did not have them, or they were not copied yet."""
    webhooks: int
    """Webhooks."""
    started_at: int
    """Time of the first imported object, in Unix seconds."""


class ListImportsRequest(TypedDict):
    """Request of ListImports. It has no fields."""


class ListImportsResponse(Envelope):
    """Response of ListImports."""

    data: list[ImportReport]
    """The sources with the numbers of their objects."""


class ListAuditEventsRequest(TypedDict):
    """Request of ListAuditEvents. All filters apply together; an empty filter counts as absent."""

    limit: NotRequired[int]
    """Maximum number of entries on the page, 1 to 1,000. Default 100.

    Rules: 1 to 1000.
    """
    cursor: NotRequired[str]
    """`next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the first
    page.

    Rules: at most 1024 characters.
    """
    order: NotRequired[Literal["asc", "desc"]]
    """Order by time. Default: newest first."""
    start_time: NotRequired[int]
    """Only entries at or after this time, in Unix seconds.

    Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
    """
    end_time: NotRequired[int]
    """Only entries before this time, in Unix seconds.

    Rules: at least 0; a date `YYYY-MM-DD` is accepted too.
    """
    account_id: NotRequired[str]
    """Only entries of this account.

    Rules: at most 128 characters.
    """
    credential: NotRequired[str]
    """Only entries of this credential, as kind and id.

    Rules: at most 128 characters.
    """
    operation: NotRequired[str]
    """Only entries of this operation, by its v2 name or its RPC.

    Rules: at most 128 characters.
    """
    outcome: NotRequired[Literal["done", "refused"]]
    """Only entries with this outcome. Default: both."""
    subject: NotRequired[str]
    """Only changes of the object with this id.

    Rules: at most 128 characters.
    """
    request_id: NotRequired[str]
    """Only entries of the request with this id.

    Rules: at most 128 characters.
    """
    operation_prefix: NotRequired[str]
    """Only entries whose operation begins with this text, for example `task.v2.` or `console/`. It is compared with the
    RPC or the name of the action, not with a v2 name.

    Rules: at most 128 characters.
    """


class ListAuditEventsResponse(Envelope):
    """Response of ListAuditEvents: one page of the log."""

    data: list[AuditEvent]
    """The entries, in the requested order."""
    has_more: bool
    """Whether another page follows."""
    next_cursor: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    names: list[AuditName]
    """Present names of the accounts, keys, apps and projects whose ids are in the entries, by kind and id. They are not
    part of the entries or their hashes. Things without a name are left out."""


class AuditEvent(TypedDict):
    """One entry of a space's audit log (spec/decisions.md 44).

    An entry records either one completed change, or the refused calls of one credential to one operation within one
    minute.
    """

    id: str
    """Id of the entry; opaque."""
    at: int
    """Time of the change or of the first refused call, in Unix milliseconds."""
    space_id: str
    """Id of the space that the log belongs to."""
    account_id: str
    """Account id of the caller; empty when no account made the call."""
    credential: str
    """Kind and id of the credential, for example `key:<id>`. `command` marks a command of the operator."""
    operation: str
    """RPC of the operation, for example `task.v2.TaskService/DeleteTask`, or the name of an action on a web page or an
    OAuth endpoint. New values can appear."""
    request_id: str
    """Id of the request."""
    address: str
    """Network address of the caller; empty for a command of the operator."""
    subject: str | None
    """Id of the changed object; null when the entry is not about a single object."""
    before: dict[str, Any] | None
    """The changed values before the change; null when there are none. Never contains secrets, message text or file
    content."""
    after: dict[str, Any] | None
    """The changed values after the change; null when there are none. Never contains secrets, message text or file
    content."""
    outcome: Literal["done", "refused"]
    """Whether the change was made or the calls were refused."""
    reason: str | None
    """Reason of the refusal, for example `forbidden`; null for a completed change. New values can appear."""
    count: int
    """Number of refused calls that this entry covers; 1 for a completed change."""
    seq: int | None
    """Position in the space's hash chain, from 1; null until the entry is sealed, which takes about a second."""
    hash: str | None
    """SHA-256 over the previous hash and this entry, in hexadecimal digits; null until the entry is sealed."""


class AuditName(TypedDict):
    """The present name of something that audit entries mention."""

    id: str
    """Id, as in `account_id`, in `subject`, or behind the kind in `credential`."""
    kind: str
    """Kind: `account`, `key`, `app` or `project`. New values can appear."""
    name: str
    """Name; for an account without a name, its address in the team."""


class GetAuditDownloadUrlRequest(TypedDict):
    """Request of GetAuditDownloadUrl."""

    format: NotRequired[Literal["ndjson", "ocsf"]]
    """Format of the lines. Default: NDJSON."""
    filter: NotRequired[ListAuditEventsRequest]
    """Filters and order of the entries, as in ListAuditEvents; `limit` and `cursor` are refused. Default: all entries,
    newest first."""


class GetAuditDownloadUrlResponse(Envelope):
    """Response of GetAuditDownloadUrl."""

    url: str
    """The address. It is a secret until it expires."""
    expires_at: int
    """Time from which the address is not valid, in Unix seconds."""


class GetStatusRequest(TypedDict):
    """Request of GetStatus. It has no fields."""


class GetStatusResponse(Envelope):
    """Response of GetStatus."""

    at: int
    """Time of the reading, in Unix seconds."""
    version: str
    """Version of the process that answers, for example `0.2.0`."""
    database: DatabaseStatus
    """The database."""
    nodes: list[NodeStatus]
    """The processes that run tasks, oldest first, at most 100."""
    profiles: list[ProfileStatus]
    """The queue of each profile that has tasks in progress or that failed in the last hour, by name."""
    workers: WorkersStatus
    """The remote workers."""
    deliveries: DeliveriesStatus
    """The deliveries to webhooks."""
    storage: StorageStatus
    """The storage of files."""
    jobs: list[JobsStatus]
    """The jobs of each kind that has any, by name."""
    errors: ErrorsStatus
    """What failed."""
    checks: list[StatusCheck]
    """What an operator should know, in a fixed order."""


class DatabaseStatus(TypedDict):
    """The database of the installation."""

    engine: str
    """`sqlite` or `postgresql`."""
    bytes: int
    """Size in bytes. PostgreSQL counts its indexes too."""


class NodeStatus(TypedDict):
    """A process that runs tasks."""

    id: str
    """Id of the process; a new one for each start."""
    uptime_seconds: int
    """Seconds since its start."""
    heartbeat_seconds: NotRequired[int]
    """Seconds since its last heartbeat, by the clocks of two machines. Processes write one every 5 seconds; after 15
    seconds without one, another process takes over its tasks. Absent before the first heartbeat."""
    running: int
    """Number of tasks that it runs."""
    serves_calls: bool
    """Whether it also accepts calls."""


class ProfileStatus(TypedDict):
    """The tasks of a profile."""

    profile: str
    """Name of the profile, for example `manus-1.6`."""
    agent: str
    """Agent of the profile in the process that answers: `offline`, `remote` or `model:NAME`."""
    queued: int
    """Number of tasks that wait for a process or a worker."""
    oldest_seconds: NotRequired[int]
    """Seconds for which the first of them has waited; absent when none waits."""
    running: int
    """Number of tasks that run."""
    failed: int
    """Number of tasks that failed in the last hour."""


class WorkersStatus(TypedDict):
    """The remote workers of all spaces."""

    credentials: int
    """Number of valid credentials."""
    present: int
    """Number of credentials that called within the last minute."""
    runs: int
    """Number of runs that workers hold."""
    data: list[WorkerStatus]
    """The credentials that called last, at most 50, last call first."""


class WorkerStatus(TypedDict):
    """A credential of remote workers."""

    id: str
    """Id of the credential."""
    space_id: str
    """Id of the space whose tasks it runs."""
    profiles: list[str]
    """The profiles whose tasks it runs."""
    seen_seconds: NotRequired[int]
    """Seconds since its last call; absent before the first one."""
    runs: int
    """Number of runs that it holds."""


class DeliveriesStatus(TypedDict):
    """The deliveries to webhooks of all spaces."""

    pending: int
    """Number of deliveries that are not settled."""
    due: int
    """Number of them whose next attempt is due."""
    oldest_due_seconds: NotRequired[int]
    """Seconds for which the first due attempt is late; absent when none is due."""
    active_webhooks: int
    """Number of active webhooks."""
    failing_webhooks: int
    """Number of active webhooks whose last attempt failed."""
    inactive_webhooks: int
    """Number of webhooks that are switched off."""
    intervals: list[DeliveryInterval]
    """Deliveries of the last hour by their creation, in intervals of five minutes, oldest first."""


class DeliveryInterval(TypedDict):
    """The deliveries that were created in five minutes, by their present state."""

    start: int
    """Begin of the interval, in Unix seconds."""
    delivered: int
    """Number of deliveries with a 2xx answer."""
    pending: int
    """Number of deliveries that are not settled."""
    failed: int
    """Number of deliveries that were given up."""


class StorageStatus(TypedDict):
    """The storage of files. Its counts are at most 60 seconds old."""

    kind: str
    """`local` for the data folder, `s3` for a bucket."""
    files: int
    """Number of stored contents."""
    bytes: int
    """Bytes of them."""
    loose: int
    """Number of contents that are being written, or that wait for their deletion."""
    disk_free_bytes: NotRequired[int]
    """Free bytes of the disk with the data folder of the process that answers; absent when unknown."""
    disk_bytes: NotRequired[int]
    """Size of that disk in bytes; absent when unknown."""


class JobsStatus(TypedDict):
    """The jobs of a kind."""

    kind: str
    """Kind of the jobs: `run`, `deliver`, `export` or `publish`. New kinds can appear."""
    count: int
    """Number of jobs, those of a later time included."""
    oldest_due_seconds: NotRequired[int]
    """Seconds for which the first due job is late; absent when none is due."""


class ErrorsStatus(TypedDict):
    """What failed in the last hour over all spaces, and in the process that answers."""

    tasks: int
    """Number of tasks that failed."""
    worker_runs: int
    """Number of runs of workers that failed or whose lease ended."""
    deliveries: int
    """Number of deliveries, created in the last hour, that were given up."""
    exports: int
    """Number of exports that failed."""
    logged_errors: int
    """Number of errors that the process that answers has logged since its start."""
    logged_warnings: int
    """Number of warnings that it has logged since its start."""


class StatusCheck(TypedDict):
    """One thing that an operator should know."""

    name: str
    """Name of the check. New names can appear.

    `heartbeats`: seconds since the oldest last heartbeat of a process, at most 15. `queue`: seconds for which the first
    task has waited for a process, at most 60. `workers`: number of tasks of remote profiles that have waited for a
    minute without a worker, 0. `deliveries`: seconds for which the first due attempt is late, at most 60. `jobs`: the
    same for jobs. `audit_log`: seconds since the oldest entry that is not sealed, at most 120. `disk`: free percent of
    the disk, at least 5. `replica`: seconds that the replica of DATABASE_READ_URL is behind, at most 10; only where it
    is set, and without a value when it does not answer.
    """
    state: Literal["ok", "warning"]
    """Whether the value is within its limit."""
    value: NotRequired[int]
    """The measured value; absent when there is nothing to measure."""


class WatchTaskRequest(TypedDict):
    """Request of WatchTask."""

    task_id: str
    """Id of the task, or `agent-default-main_task`.

    Rules: 1 to 128 characters.
    """
    after_seq: NotRequired[int]
    """Only events with a greater `seq`. Default: all events.

    Rules: at least 0.
    """
    until_settled: NotRequired[bool]
    """Ends the stream when the task does not run and all its events were sent. When false, the stream stays open for
    the next turn."""
    keep_alive: NotRequired[bool]
    """Sends a response without `event` after 15 seconds of silence, so that proxies keep the stream open. It has no
    effect on server-sent events, which use comments."""
    deltas: NotRequired[bool]
    """Sends the text of messages while the agent writes them, as `delta`."""


class WatchTaskResponse(Envelope):
    """One message of a WatchTask stream."""

    event: NotRequired[TaskEvent]
    """The event; absent in a keep-alive message and in one with `delta`."""
    delta: NotRequired[TextDelta]
    """A part of a message that the agent writes now; only with `deltas`."""


class TextDelta(TypedDict):
    """A part of the text of a message that has no event yet.

    Deltas are hints and may be missing: the event that follows has the complete text and replaces them. A client keeps
    one text for each task. It drops the text when `attempt` rises, when `offset` is not the length of the text, with
    the next event of `type`, and when the turn ends. Nothing is stored (spec/api.md 8.72).
    """

    message_key: str
    """The message within the task. Another attempt at the same message has the same key."""
    attempt: int
    """Rises with each text that an agent of the task begins, this message again or another one."""
    offset: int
    """Length of the text before this part, in UTF-16 units."""
    text: str
    """The part."""
    type: Literal["user_message", "assistant_message", "error_message", "status_update", "user_stop", "structured_output_result", "tool_used", "plan_update", "new_plan_step", "explanation"]
    """Type of the event that will have the text: `assistant_message` or `explanation`."""


class ListenWebhookRequest(TypedDict):
    """Request of ListenWebhook."""

    event_types: NotRequired[Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]]
    """Types of event to receive. Default: `task_created` and `task_stopped`.

    Rules: at most 5 items; no item twice.
    """
    project_id: NotRequired[str]
    """Only events of tasks of this project. Default: of all tasks.

    Rules: at most 128 characters.
    """


class ListenWebhookResponse(Envelope):
    """One message of a ListenWebhook stream. It has one of the fields."""

    listener: NotRequired[WebhookListener]
    """The listener; only in the first message."""
    delivery: NotRequired[ListenerDelivery]
    """A delivery to pass on to the receiver; absent in other messages."""
    dropped: NotRequired[ListenerLoss]
    """How many events were dropped; absent in other messages."""


class WebhookListener(TypedDict):
    """A temporary webhook without an address, bound to the stream that created it (spec/api.md 8.94)."""

    id: str
    """Id of the listener; opaque."""
    signing_secret: str
    """Secret for the Standard Webhooks signatures. It is not shown again."""
    signed_url: str
    """Text that `X-Webhook-Signature` signs in the place of the address of a webhook."""
    event_types: list[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]]
    """Types of event that the listener gets."""
    project_id: NotRequired[str]
    """Project whose tasks' events are delivered; absent when events of all tasks are."""
    expires_at: int
    """Time at which the stream ends, in Unix seconds."""


class ListenerDelivery(TypedDict):
    """One event for a listener, as a request to a webhook has it."""

    event_id: str
    """Id of the event; the same for every webhook."""
    event_type: Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]
    """Type of the event."""
    body: str
    """JSON body. The signatures are made over its UTF-8 bytes."""
    headers: dict[str, str]
    """Headers of the request, with names in lower case: those of the signatures, `content-type` and the others."""


class ListenerLoss(TypedDict):
    """Events that a listener did not get, because 100 events waited for its stream."""

    count: int
    """Number of dropped events since the listener was created."""
