# Made from proto/ by `node scripts/client-types.ts --write`.
"""The operations of each subject, as methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core.messages import MessageLike, to_message
from .._core.output import Output, OutputType, output_schema
from .._core.policy import CallOptions, present
from .operations import AsyncOperations
from .pages import AsyncPaged

if TYPE_CHECKING:
    from ..types import v2
    from .started import AsyncStartedTask


class AsyncTaskResource:
    """Operations of `task`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    def _start(self, request: Mapping[str, Any], options: CallOptions | None, output: Any) -> AsyncStartedTask[Any]:
        raise NotImplementedError

    @overload
    def create(
        self,
        message: MessageLike,
        *,
        output: OutputType[Output],
        project_id: str | None = None,
        locale: str | None = None,
        interactive_mode: bool | None = None,
        hide_in_task_list: bool | None = None,
        share_visibility: Literal["private", "team", "public"] | None = None,
        agent_profile: str | None = None,
        title: str | None = None,
        structured_output_schema: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        options: CallOptions | None = None,
    ) -> AsyncStartedTask[Output]: ...
    @overload
    def create(
        self,
        message: MessageLike,
        *,
        output: None = None,
        project_id: str | None = None,
        locale: str | None = None,
        interactive_mode: bool | None = None,
        hide_in_task_list: bool | None = None,
        share_visibility: Literal["private", "team", "public"] | None = None,
        agent_profile: str | None = None,
        title: str | None = None,
        structured_output_schema: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        options: CallOptions | None = None,
    ) -> AsyncStartedTask[Any]: ...
    def create(
        self,
        message: MessageLike,
        *,
        output: Any = None,
        project_id: str | None = None,
        locale: str | None = None,
        interactive_mode: bool | None = None,
        hide_in_task_list: bool | None = None,
        share_visibility: Literal["private", "team", "public"] | None = None,
        agent_profile: str | None = None,
        title: str | None = None,
        structured_output_schema: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        options: CallOptions | None = None,
    ) -> AsyncStartedTask[Any]:
        """Creates a task, and returns it.

        Other calls see the task as soon as this call returns. Returns `invalid_argument` for invalid content,
        references, skills, profiles or schemas, and for a connector that is not installed. Returns `permission_denied`
        for a connector that is not granted to the app. Returns `not_found` for an unknown project, and for a reference
        to a task that the app did not create when the token has `create_task` only. Returns `resource_exhausted` when
        too many tasks wait for a runner, or a file of the message exceeds the storage quota (spec/api.md 8.1).

        message: The first message, as a text or as `task.create` takes it.

        output: The form of the structured output, instead of `structured_output_schema`: a model of pydantic or a
        `TypeAdapter`. `result` checks the value by it. What the platform does not take raises ValueError with its path,
        before any call.

        project_id: Id of the project that the task joins. The project's instruction applies, and its connectors become
        the default. Rules: at most 128 characters.

        locale: Language of the agent's answers as a BCP 47 tag, for example `en` or `zh-CN`. Default: the language of
        the account, also for a text that is not a tag. Rules: at most 64 characters.

        interactive_mode: Whether the agent may ask questions when the input is unclear. When false, it does its best
        without asking.

        hide_in_task_list: Hides the task in the task list of the web app. ListTasks still lists it.

        share_visibility: Audience of the task's web page. Default `private`.

        agent_profile: Profile of the task: `standard` (default), `lite`, `max`, a spelling with a version such as
        `manus-1.6-lite`, or a named profile of the space. Any other value returns `invalid_argument`, which lists the
        profiles. Rules: at most 64 characters.

        title: Title, at most 255 characters. Default: made from the message. Rules: at most 255 characters.

        structured_output_schema: JSON Schema of the value to extract when the turn finishes, in the supported subset.
        Any other schema returns `invalid_argument` with the path of the fault (spec/api.md 9.5).

        metadata: Labels of the task: at most 16 pairs. A key has 1 to 64 characters of `A-Z a-z 0-9 _ . -`, a value at
        most 512 characters; a pair with an empty value is left out (spec/api.md 9.14). Rules: at most 16 pairs; each
        key 1 to 64 characters; each value at most 512 characters.
        """
        request = present({
            "message": to_message(message),
            "project_id": project_id,
            "locale": locale,
            "interactive_mode": interactive_mode,
            "hide_in_task_list": hide_in_task_list,
            "share_visibility": share_visibility,
            "agent_profile": agent_profile,
            "title": title,
            "structured_output_schema": structured_output_schema,
            "metadata": metadata,
        })
        if output is not None:
            request["structured_output_schema"] = output_schema(output)
        return self._start(request, options, output)

    def list(
        self,
        *,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        scope: Literal["all", "standard", "project", "agent_subtask"] | None = None,
        project_id: str | None = None,
        agent_id: str | None = None,
        status: Literal["running", "stopped", "waiting", "error"] | None = None,
        created_after: int | None = None,
        created_before: int | None = None,
        updated_after: int | None = None,
        updated_before: int | None = None,
        order_by: Literal["created_at", "updated_at", "waiting_since"] | None = None,
        metadata: Mapping[str, str] | None = None,
        statuses: Sequence[Literal["running", "stopped", "waiting", "error"]] | None = None,
        query: str | None = None,
        view: Literal["own", "team"] | None = None,
        creator: str | None = None,
        include_counts: bool | None = None,
        parent_task_id: str | None = None,
        created_by_app: str | None = None,
        options: CallOptions | None = None,
    ) -> AsyncPaged[v2.Task, v2.ListTasksResponse]:
        """The caller's tasks, newest first by default, over all pages.

        limit: Maximum number of tasks on the page, 1 to 100. Default 20. Rules: 1 to 100.

        order: Order of the tasks, by the time of `order_by`. Default: newest first.

        scope: Kinds of task to list. Default: all.

        project_id: Only tasks of this project. Required with the scope `project`. Rules: at most 128 characters.

        agent_id: Only subtasks of this agent, or of `agent-default`. The scope `agent_subtask` needs it or
        `parent_task_id`. Rules: at most 128 characters.

        status: Only tasks in this state.

        created_after: Only tasks created after this time, in Unix seconds. Rules: at least 0.

        created_before: Only tasks created before this time, in Unix seconds. Rules: at least 0.

        updated_after: Only tasks last changed after this time, in Unix seconds. Rules: at least 0.

        updated_before: Only tasks last changed before this time, in Unix seconds. Rules: at least 0.

        order_by: Time that the list is ordered by. Default: creation time.

        metadata: Only tasks whose metadata has all of these pairs, at most 4. In a query: `metadata[ticket]=42`. Rules:
        at most 4 pairs; each key 1 to 64 characters; each value 1 to 512 characters.

        statuses: Only tasks in one of these states. Default: all states. Rules: at most 4 items.

        query: Only tasks with all of these words in their title or in messages of the user or the assistant, in any
        letter case; the last word may be incomplete. At most 200 characters and 16 words. Empty for no filter; a text
        without letters and digits finds nothing (spec/api.md 8.3). Rules: at most 200 characters.

        view: Which tasks to list. Default `own`. `team` returns `permission_denied` for keys and tokens, and takes no
        `project_id`, `agent_id`, `parent_task_id`, `created_by_app`, `metadata` or `scope` but `all`, and `query` only
        with `creator`.

        creator: With the view `team`: only tasks of this account. Empty for no filter. Rules: at most 128 characters.

        include_counts: Also returns `counts`: how many tasks match all filters but `status` and `statuses`, by state.

        parent_task_id: Only tasks that the agent of this task has started. Empty for no filter. Rules: at most 128
        characters.

        created_by_app: Only tasks that the OAuth app with this client id created. Empty for no filter (spec/api.md
        8.92). Rules: at most 200 characters.
        """
        request = present({
            "limit": limit,
            "order": order,
            "scope": scope,
            "project_id": project_id,
            "agent_id": agent_id,
            "status": status,
            "created_after": created_after,
            "created_before": created_before,
            "updated_after": updated_after,
            "updated_before": updated_before,
            "order_by": order_by,
            "metadata": metadata,
            "statuses": statuses,
            "query": query,
            "view": view,
            "creator": creator,
            "include_counts": include_counts,
            "parent_task_id": parent_task_id,
            "created_by_app": created_by_app,
        })
        return self._operations._items("task.list", request, options)

    async def detail(
        self,
        *,
        task_id: str,
        after_seq: int | None = None,
        wait_seconds: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetTaskResponse:
        """Returns the state of a task, without its conversation.

        With `wait_seconds` the call waits for a change. Returns `not_found` for an unknown task, `invalid_argument` for
        a value out of range, and `resource_exhausted` when the account has too many held calls and watches (spec/api.md
        8.2, spec/decisions.md 17a).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        after_seq: `last_seq` that the caller knows; used with `wait_seconds`. Rules: at least 0.

        wait_seconds: Maximum time to hold the call, 0 to 60 seconds. The call returns as soon as the task has an event
        after `after_seq`, or without `after_seq` as soon as the task does not run. The server's setting `WAIT_SECONDS`
        (50 by default) limits the time further. Rules: 0 to 60.
        """
        answer: v2.GetTaskResponse = await self._operations._call(
            "task.detail",
            present({
                "task_id": task_id,
                "after_seq": after_seq,
                "wait_seconds": wait_seconds,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        task_id: str,
        title: str | None = None,
        share_visibility: Literal["private", "team", "public"] | None = None,
        enable_visible_in_task_list: bool | None = None,
        project_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateTaskResponse:
        """Changes the title, the sharing, the list visibility, the project or the labels of a task.

        The run is not affected. Returns `not_found` for an unknown task or project, `invalid_argument` for a blank or
        too long title, and `failed_precondition` for a `project_id` on a task of an agent (spec/api.md 8.4).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        title: New title, at most 255 characters, not blank. Rules: at most 255 characters.

        share_visibility: New audience of the task's web page.

        enable_visible_in_task_list: True shows the task in the task list of the web app, false hides it.

        project_id: Id of the project that the task moves to; empty removes the task from its project. The instruction
        of the new project applies from the next turn on. An unknown project, and a token without a scope for projects,
        return `not_found`; a task of an agent returns `failed_precondition`. Rules: at most 128 characters.

        metadata: Pairs to add to the task's metadata, or to replace there. An empty value removes the pair. More than
        16 pairs after the change return `invalid_argument` (spec/api.md 9.14). Rules: at most 32 pairs; each key 1 to
        64 characters; each value at most 512 characters.
        """
        answer: v2.UpdateTaskResponse = await self._operations._call(
            "task.update",
            present({
                "task_id": task_id,
                "title": title,
                "share_visibility": share_visibility,
                "enable_visible_in_task_list": enable_visible_in_task_list,
                "project_id": project_id,
                "metadata": metadata,
            }),
            options,
        )
        return answer

    async def stop(
        self,
        *,
        task_id: str,
        options: CallOptions | None = None,
    ) -> v2.StopTaskResponse:
        """Stops a running or waiting task.

        The question or approval that the task waits for is dropped. SendMessage resumes the task. On a task that is
        already `stopped` or `error`, the call succeeds and changes nothing. Returns `not_found` for an unknown task
        (spec/api.md 8.5).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.
        """
        answer: v2.StopTaskResponse = await self._operations._call(
            "task.stop",
            present({
                "task_id": task_id,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        task_id: str,
        stop: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.DeleteTaskResponse:
        """Deletes a task permanently.

        Events, files of the agent and the website are deleted. In a team a tombstone stays, which data exports list.
        Returns `not_found` for an unknown or already deleted task. Returns `failed_precondition` while the task runs,
        unless `stop` is true, and for an agent's main task or subtask (spec/api.md 8.6, spec/decisions.md 14).

        task_id: Id of the task. `agent-default-main_task` returns `failed_precondition`, like every task of an agent.
        Rules: 1 to 128 characters.

        stop: Stops a running task before it is deleted. When false, a running task is not deleted.
        """
        answer: v2.DeleteTaskResponse = await self._operations._call(
            "task.delete",
            present({
                "task_id": task_id,
                "stop": stop,
            }),
            options,
        )
        return answer

    async def send_message(
        self,
        *,
        task_id: str,
        message: v2.MessageInput,
        agent_profile: str | None = None,
        structured_output_schema: Mapping[str, Any] | None = None,
        clear_connectors: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.SendMessageResponse:
        """Sends a message to a task.

        The message answers a question, starts the next turn, or is queued for the turn after the present one. When the
        task waits for an approval, the pending action is dropped and the task continues without a decision.

        Returns `not_found` for an unknown task, `invalid_argument` as CreateTask does and for `connectors` together
        with `clear_connectors`, `permission_denied` for a connector that is not granted to the app, and
        `resource_exhausted` as CreateTask does (spec/api.md 8.7).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        message: The message. Required.

        agent_profile: Profile from this turn on, with the values of CreateTask. Absent or empty keeps the present
        profile. Rules: at most 64 characters.

        structured_output_schema: JSON Schema to arm for the next finish. It replaces an armed schema; absent keeps it.

        clear_connectors: True removes all connectors from the task, for this and later turns.
        """
        answer: v2.SendMessageResponse = await self._operations._call(
            "task.sendMessage",
            present({
                "task_id": task_id,
                "message": message,
                "agent_profile": agent_profile,
                "structured_output_schema": structured_output_schema,
                "clear_connectors": clear_connectors,
            }),
            options,
        )
        return answer

    async def list_messages(
        self,
        *,
        task_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        verbose: bool | None = None,
        slides_format: Literal["html", "pptx"] | None = None,
        start_event_id: str | None = None,
        after_seq: int | None = None,
        wait_seconds: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListMessagesResponse:
        """Lists the events of a task, latest first by default.

        With `wait_seconds` the call waits for a new event. Returns `not_found` for an unknown task. Returns
        `invalid_argument` for a `limit` out of range, a cursor of another list, an unknown `start_event_id`, and
        `wait_seconds` without `after_seq`. Returns `resource_exhausted` when the account has too many held calls and
        watches (spec/api.md 8.8, spec/decisions.md 17a).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        limit: Maximum number of events on the page, 1 to 200. Default 50. Rules: 1 to 200.

        cursor: `next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the
        first page. Rules: at most 1024 characters.

        order: Order by position in the task. Default: latest first.

        verbose: Also lists events of the types `tool_used`, `plan_update`, `new_plan_step` and `explanation`.

        slides_format: Format of presentations in attachments. Default `html`. The field has no effect; the response
        contains a warning. Rules: accepted without effect.

        start_event_id: Id of the first event of the first page, in the requested order. A cursor takes precedence.
        Rules: at most 128 characters.

        after_seq: Only events with a greater `seq`. Rules: at least 0.

        wait_seconds: Maximum time to hold the call, 0 to 60 seconds, while the list has no event after `after_seq`.
        Requires `after_seq`. The server's setting `WAIT_SECONDS` (50 by default) limits the time further. Rules: 0 to
        60.
        """
        answer: v2.ListMessagesResponse = await self._operations._call(
            "task.listMessages",
            present({
                "task_id": task_id,
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "verbose": verbose,
                "slides_format": slides_format,
                "start_event_id": start_event_id,
                "after_seq": after_seq,
                "wait_seconds": wait_seconds,
            }),
            options,
        )
        return answer

    async def watch_url(
        self,
        *,
        task_id: str,
        ttl_seconds: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetWatchUrlResponse:
        """Creates an address at which `EventSource` can watch a task.

        `EventSource` cannot send headers, so the address itself grants access: a GET of it, without a credential,
        returns the stream of server-sent events of task.watch. It is good for this task and nothing else. The expiry is
        checked when a stream is opened, also when `EventSource` reconnects. The credential of this call, and its access
        to the task, are checked when a stream is opened and at least every 5 seconds while it is open. A forged or
        expired address, and one whose credential has lost its access, is answered with 404.

        Returns `not_found` for an unknown task (spec/api.md 8.39, spec/decisions.md 61).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        ttl_seconds: How long the address can be opened, 1 to 3,600 seconds. Default 600. Rules: 1 to 3600.
        """
        answer: v2.GetWatchUrlResponse = await self._operations._call(
            "task.watchUrl",
            present({
                "task_id": task_id,
                "ttl_seconds": ttl_seconds,
            }),
            options,
        )
        return answer

    async def confirm_action(
        self,
        *,
        task_id: str,
        event_id: str,
        input: Mapping[str, Any] | None = None,
        options: CallOptions | None = None,
    ) -> v2.ConfirmActionResponse:
        """Decides the action for which a task waits for approval.

        Exactly one decision on an action takes effect. Returns `not_found` for an unknown task or event,
        `failed_precondition` when the task does not wait for the event, and `invalid_argument` when the wait is a
        question or the input does not conform to its schema (spec/api.md 8.9).

        task_id: Id of the task, or `agent-default-main_task`. Rules: 1 to 128 characters.

        event_id: `waiting_for_event_id` of the present wait. Rules: 1 to 128 characters.

        input: Decision that conforms to `confirm_input_schema`. Absent or null means `{"accept": true}` when `accept`
        is the only required member; otherwise it returns `invalid_argument`.
        """
        answer: v2.ConfirmActionResponse = await self._operations._call(
            "task.confirmAction",
            present({
                "task_id": task_id,
                "event_id": event_id,
                "input": input,
            }),
            options,
        )
        return answer

    async def inspect(
        self,
        *,
        task_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.InspectTaskResponse:
        """Returns how a task was run: its claims, and what each step cost.

        Costs are listed from the first on. Returns `not_found` for an unknown task, and `invalid_argument` for a
        `limit` out of range and for a cursor of another list (spec/api.md 8.84).

        task_id: Id of the task. Rules: 1 to 128 characters.

        limit: Maximum number of costs on the page, 1 to 500. Default 100. Rules: 1 to 500.

        cursor: `next_cursor` of the previous page. Absent or empty for the first page. Rules: at most 1024 characters.
        """
        answer: v2.InspectTaskResponse = await self._operations._call(
            "task.inspect",
            present({
                "task_id": task_id,
                "limit": limit,
                "cursor": cursor,
            }),
            options,
        )
        return answer


class AsyncFileResource:
    """Operations of `file`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def detail(
        self,
        *,
        file_id: str,
        options: CallOptions | None = None,
    ) -> v2.GetFileResponse:
        """Returns one file with its state and an address to download it from.

        A file can be attached once its status is `uploaded`. Artifacts of agents are not found. Returns `not_found` for
        an unknown file (spec/api.md 8.13).

        file_id: Id of the file. Rules: 1 to 128 characters.
        """
        answer: v2.GetFileResponse = await self._operations._call(
            "file.detail",
            present({
                "file_id": file_id,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        file_id: str,
        options: CallOptions | None = None,
    ) -> v2.DeleteFileResponse:
        """Deletes a file in any state.

        Returns `not_found` for an unknown or already deleted file (spec/api.md 8.14).

        file_id: Id of the file. Rules: 1 to 128 characters.
        """
        answer: v2.DeleteFileResponse = await self._operations._call(
            "file.delete",
            present({
                "file_id": file_id,
            }),
            options,
        )
        return answer


class AsyncScheduleResource:
    """Operations of `schedule`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def create(
        self,
        *,
        schedule: v2.ScheduleSettingsInput,
        options: CallOptions | None = None,
    ) -> v2.CreateScheduleResponse:
        """Creates a schedule.

        The first due time is after the call. Returns `invalid_argument` for malformed settings, for a cron expression
        that never occurs, for a part of the message that is not text, and as CreateTask does for the task;
        `permission_denied` and `not_found` as CreateTask does; and `resource_exhausted` when the account has 100
        schedules in the space (spec/api.md 8.57).

        schedule: Settings of the schedule.
        """
        answer: v2.CreateScheduleResponse = await self._operations._call(
            "schedule.create",
            present({
                "schedule": schedule,
            }),
            options,
        )
        return answer

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListSchedulesResponse:
        """Lists the schedules that the caller can see, newest first.

        Returns `invalid_argument` for a `limit` out of range and for a cursor of another list (spec/api.md 8.58).

        limit: Maximum number of schedules on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page. Absent or empty for the first page. Rules: at most 1024 characters.
        """
        answer: v2.ListSchedulesResponse = await self._operations._call(
            "schedule.list",
            present({
                "limit": limit,
                "cursor": cursor,
            }),
            options,
        )
        return answer

    async def detail(
        self,
        *,
        schedule_id: str,
        options: CallOptions | None = None,
    ) -> v2.GetScheduleResponse:
        """Returns a schedule.

        Returns `not_found` for an unknown schedule (spec/api.md 8.58).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.
        """
        answer: v2.GetScheduleResponse = await self._operations._call(
            "schedule.detail",
            present({
                "schedule_id": schedule_id,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        schedule_id: str,
        schedule: v2.ScheduleSettingsInput,
        options: CallOptions | None = None,
    ) -> v2.UpdateScheduleResponse:
        """Changes the settings of a schedule; absent ones stay.

        A new time replaces the former one. Tasks that were created stay as they are. Returns `not_found` for an unknown
        schedule, the errors of CreateSchedule, and `permission_denied` for an app that changes the task of a schedule
        that it has not created (spec/api.md 8.58).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.

        schedule: Settings to change; at least one.
        """
        answer: v2.UpdateScheduleResponse = await self._operations._call(
            "schedule.update",
            present({
                "schedule_id": schedule_id,
                "schedule": schedule,
            }),
            options,
        )
        return answer

    async def pause(
        self,
        *,
        schedule_id: str,
        options: CallOptions | None = None,
    ) -> v2.PauseScheduleResponse:
        """Pauses a schedule.

        A time that waits for the end of an earlier task is dropped. On a schedule that is not active, the call succeeds
        and changes nothing. Returns `not_found` for an unknown schedule (spec/api.md 8.59).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.
        """
        answer: v2.PauseScheduleResponse = await self._operations._call(
            "schedule.pause",
            present({
                "schedule_id": schedule_id,
            }),
            options,
        )
        return answer

    async def resume(
        self,
        *,
        schedule_id: str,
        options: CallOptions | None = None,
    ) -> v2.ResumeScheduleResponse:
        """Resumes a paused schedule.

        Its failures are forgotten, and no missed time is made up. On an active schedule, the call succeeds and changes
        nothing. Returns `not_found` for an unknown schedule, and `failed_precondition` when the one time of the
        schedule has passed, or its app may not act for the user (spec/api.md 8.59).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.
        """
        answer: v2.ResumeScheduleResponse = await self._operations._call(
            "schedule.resume",
            present({
                "schedule_id": schedule_id,
            }),
            options,
        )
        return answer

    async def run_now(
        self,
        *,
        schedule_id: str,
        options: CallOptions | None = None,
    ) -> v2.RunScheduleResponse:
        """Creates a task of a schedule at once, also of a paused one.

        The times of the schedule and the policy for overlap have no effect. Returns `not_found` for an unknown
        schedule, `resource_exhausted` when five of its tasks have not ended, the errors of CreateTask, and
        `failed_precondition` when its app may not act for the user (spec/api.md 8.59).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.
        """
        answer: v2.RunScheduleResponse = await self._operations._call(
            "schedule.runNow",
            present({
                "schedule_id": schedule_id,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        schedule_id: str,
        options: CallOptions | None = None,
    ) -> v2.DeleteScheduleResponse:
        """Deletes a schedule.

        Its tasks stay. Returns `not_found` for an unknown schedule (spec/api.md 8.60).

        schedule_id: Id of the schedule. Rules: 1 to 128 characters.
        """
        answer: v2.DeleteScheduleResponse = await self._operations._call(
            "schedule.delete",
            present({
                "schedule_id": schedule_id,
            }),
            options,
        )
        return answer


class AsyncProjectResource:
    """Operations of `project`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def create(
        self,
        *,
        name: str,
        instruction: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.CreateProjectResponse:
        """Creates a project.

        Returns `invalid_argument` for a missing or too long name, and `resource_exhausted` when the space has 1,000
        projects (spec/api.md 8.10, spec/decisions.md 19b).

        name: Name, 1 to 255 characters. Rules: 1 to 255 characters.

        instruction: Instruction that applies to every task of the project, at most 20,000 characters. Rules: at most
        20000 characters.
        """
        answer: v2.CreateProjectResponse = await self._operations._call(
            "project.create",
            present({
                "name": name,
                "instruction": instruction,
            }),
            options,
        )
        return answer

    async def list(
        self,
        *,
        page_size: int | None = None,
        page_cursor: str | None = None,
        include_task_counts: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListProjectsResponse:
        """Lists all projects of the caller.

        The list has no pages (spec/api.md 8.11).

        page_size: Maximum number of projects on the page, 1 to 100. Default: all projects on one page. It is not named
        `limit`, which clients of v1 send without effect. Rules: 1 to 100.

        page_cursor: `next_cursor` of the previous page. Absent or empty for the first page. Requires `page_size`.
        Rules: at most 1024 characters.

        include_task_counts: Counts the tasks of each project of the page. Requires `page_size`.
        """
        answer: v2.ListProjectsResponse = await self._operations._call(
            "project.list",
            present({
                "page_size": page_size,
                "page_cursor": page_cursor,
                "include_task_counts": include_task_counts,
            }),
            options,
        )
        return answer

    async def detail(
        self,
        *,
        project_id: str,
        options: CallOptions | None = None,
    ) -> v2.GetProjectResponse:
        """Returns a project.

        Returns `not_found` when the caller has no project of this id (spec/api.md 8.36).

        project_id: Id of the project. Rules: 1 to 128 characters.
        """
        answer: v2.GetProjectResponse = await self._operations._call(
            "project.detail",
            present({
                "project_id": project_id,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        project_id: str,
        name: str | None = None,
        instruction: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateProjectResponse:
        """Changes the name or the instruction of a project.

        The new instruction applies from the next turn of each task on. Returns `invalid_argument` when neither field is
        present, and `not_found` when the caller has no project of this id (spec/api.md 8.36).

        project_id: Id of the project. Rules: 1 to 128 characters.

        name: New name, 1 to 255 characters. Rules: 1 to 255 characters.

        instruction: New instruction, at most 20,000 characters; empty removes it. Rules: at most 20000 characters.
        """
        answer: v2.UpdateProjectResponse = await self._operations._call(
            "project.update",
            present({
                "project_id": project_id,
                "name": name,
                "instruction": instruction,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        project_id: str,
        options: CallOptions | None = None,
    ) -> v2.DeleteProjectResponse:
        """Deletes a project, with its skills, its default connectors and its budgets.

        Its tasks stay, without a project: they become standard tasks within a minute. Running turns keep the
        instruction until they end. Returns `not_found` when the caller has no project of this id (spec/api.md 8.36).

        project_id: Id of the project. Rules: 1 to 128 characters.
        """
        answer: v2.DeleteProjectResponse = await self._operations._call(
            "project.delete",
            present({
                "project_id": project_id,
            }),
            options,
        )
        return answer


class AsyncWebhookResource:
    """Operations of `webhook`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def create(
        self,
        *,
        url: str,
        event_types: Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]] | None = None,
        signing_secret: str | None = None,
        project_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        name: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.CreateWebhookResponse:
        """Registers an address that receives task events.

        Before it stores the webhook, the server sends a signed test request of the type `webhook_test` to the address.
        A receiver that answers 4xx gets a second test in the form of `task_created`. A 2xx answer to either one within
        10 seconds is required. The response is the only one that contains the signing secret. A repeat with the same
        `Idempotency-Key` returns `already_exists`.

        Returns `invalid_argument` for an address that is not https, is not public or fails the test, and for a
        malformed secret. Returns `not_found` for an unknown project, `already_exists` for an address that is already
        registered, and `resource_exhausted` when the account has 20 webhooks in the space (spec/api.md 8.15, 14.4,
        spec/decisions.md 42, 47).

        url: Public https address, at most 2,048 characters. Rules: 1 to 2048 characters.

        event_types: Types of event that the webhook gets. Default: `task_created` and `task_stopped`. Rules: at most 5
        items; no item twice.

        signing_secret: Secret for the Standard Webhooks signatures: `whsec_` and the base64 of 24 to 64 bytes. A
        receiver that verifies the test request needs to know it before the call. Default: the server makes one. Rules:
        at most 128 characters.

        project_id: Only events of tasks of this project. Default: of all tasks. Rules: at most 128 characters.

        metadata: Only events of tasks whose metadata has this pair: at most one pair (spec/api.md 9.14). Rules: at most
        1 pairs; each key 1 to 64 characters; each value at most 512 characters.

        name: Display name, at most 100 characters, without control characters and without blanks at the ends. Rules: at
        most 100 characters.
        """
        answer: v2.CreateWebhookResponse = await self._operations._call(
            "webhook.create",
            present({
                "url": url,
                "event_types": event_types,
                "signing_secret": signing_secret,
                "project_id": project_id,
                "metadata": metadata,
                "name": name,
            }),
            options,
        )
        return answer

    async def list(
        self,
        *,
        include_task_pushes: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListWebhooksResponse:
        """Lists all webhooks of the account in the space, newest first.

        Webhooks of OAuth apps are not listed. With `include_task_pushes`, push notification configurations of tasks
        follow (spec/api.md 8.16, 8.124).

        include_task_pushes: Also returns the push notification configurations of the account's tasks, also those of
        OAuth apps: the newest 1,000. Default false. A key that is limited to scopes also needs `task:read`.
        """
        answer: v2.ListWebhooksResponse = await self._operations._call(
            "webhook.list",
            present({
                "include_task_pushes": include_task_pushes,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        webhook_id: str,
        options: CallOptions | None = None,
    ) -> v2.DeleteWebhookResponse:
        """Deletes a webhook, or a push notification configuration of a task.

        Deliveries end at once. Returns `not_found` for an unknown webhook, and `failed_precondition` for the webhook of
        an OAuth app (spec/api.md 8.17).

        webhook_id: Id of the webhook, or of the push notification configuration as `webhook.list` returns it. Rules: 1
        to 128 characters.
        """
        answer: v2.DeleteWebhookResponse = await self._operations._call(
            "webhook.delete",
            present({
                "webhook_id": webhook_id,
            }),
            options,
        )
        return answer

    async def public_key(
        self,
        options: CallOptions | None = None,
    ) -> v2.GetWebhookPublicKeyResponse:
        """Returns the public keys that verify the signatures of deliveries.

        The keys rarely change; a client may cache them for an hour (spec/api.md 8.18).
        """
        answer: v2.GetWebhookPublicKeyResponse = await self._operations._call(
            "webhook.publicKey",
            {},
            options,
        )
        return answer

    async def update(
        self,
        *,
        webhook_id: str,
        status: Literal["active", "inactive"] | None = None,
        event_types: Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]] | None = None,
        double_hash: bool | None = None,
        project_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        name: str | None = None,
        url: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateWebhookResponse:
        """Changes the name, the address, the state, the event types or the signature of a webhook.

        Resuming an inactive webhook and a new address need a successful test request, as in CreateWebhook. Returns
        `not_found` for an unknown webhook, and `invalid_argument` when the test fails. For a new address it also
        returns `already_exists` when the account has a webhook with it, and `failed_precondition` for the webhook of an
        OAuth app (spec/webhooks.md 1.1, spec/api.md 8.44).

        webhook_id: Id of the webhook. Rules: 1 to 128 characters.

        status: New state: `active` or `inactive`.

        event_types: New types of event, which replace the present ones. An empty list changes nothing. Rules: at most 5
        items; no item twice.

        double_hash: Whether `X-Webhook-Signature` is made for receivers that hash the signed content twice. Use it only
        for receivers that cannot be changed.

        project_id: Only events of tasks of this project; empty removes the filter. Rules: at most 128 characters.

        metadata: Only events of tasks whose metadata has this pair. An empty value removes the pair. The webhook has at
        most one pair after the change. Rules: at most 2 pairs; each key 1 to 64 characters; each value at most 512
        characters.

        name: New display name, as in CreateWebhook; empty removes it. Rules: at most 100 characters.

        url: New address: public https, at most 2,048 characters. It needs a successful test request. The signing secret
        and pending deliveries stay, and the count of failures begins again. Rules: 1 to 2048 characters.
        """
        answer: v2.UpdateWebhookResponse = await self._operations._call(
            "webhook.update",
            present({
                "webhook_id": webhook_id,
                "status": status,
                "event_types": event_types,
                "double_hash": double_hash,
                "project_id": project_id,
                "metadata": metadata,
                "name": name,
                "url": url,
            }),
            options,
        )
        return answer

    async def health(
        self,
        *,
        webhook_id: str,
        options: CallOptions | None = None,
    ) -> v2.GetWebhookHealthResponse:
        """Returns how the newest deliveries of a webhook ended.

        Counts at most 1,000 deliveries of the last 7 days. Returns `not_found` for an unknown webhook (spec/api.md
        8.44).

        webhook_id: Id of the webhook. Rules: 1 to 128 characters.
        """
        answer: v2.GetWebhookHealthResponse = await self._operations._call(
            "webhook.health",
            present({
                "webhook_id": webhook_id,
            }),
            options,
        )
        return answer

    async def team_list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListTeamWebhooksResponse:
        """Lists the webhooks of all members of the team, newest first.

        Webhooks of OAuth apps are not listed. Requires the team's owner, or the account of a personal space. Returns
        `invalid_argument` for a cursor of another list (spec/api.md 8.44).

        limit: Maximum number of webhooks on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page. Absent or empty for the first page. Rules: at most 1024 characters.
        """
        answer: v2.ListTeamWebhooksResponse = await self._operations._call(
            "webhook.teamList",
            present({
                "limit": limit,
                "cursor": cursor,
            }),
            options,
        )
        return answer

    async def rotate_secret(
        self,
        *,
        webhook_id: str,
        options: CallOptions | None = None,
    ) -> v2.RotateWebhookSecretResponse:
        """Creates a new signing secret for a webhook.

        The previous secret stays valid for 24 hours. The response is the only one that contains the new secret. A
        repeat with the same `Idempotency-Key` returns `already_exists`. Returns `not_found` for an unknown webhook
        (spec/decisions.md 42).

        webhook_id: Id of the webhook. Rules: 1 to 128 characters.
        """
        answer: v2.RotateWebhookSecretResponse = await self._operations._call(
            "webhook.rotateSecret",
            present({
                "webhook_id": webhook_id,
            }),
            options,
        )
        return answer

    async def ping(
        self,
        *,
        webhook_id: str,
        event_type: Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"] | None = None,
        options: CallOptions | None = None,
    ) -> v2.PingWebhookResponse:
        """Sends a signed test request to a webhook and returns its outcome.

        The test is not part of the delivery log. Returns `not_found` for an unknown webhook.

        webhook_id: Id of the webhook. Rules: 1 to 128 characters.

        event_type: Sends a sample of this type, with the form of a real delivery, instead of `webhook_test`. Its
        `event_id` begins with `webhook_test_`, and its task does not exist. The webhook need not subscribe to the type
        (spec/api.md 8.93).
        """
        answer: v2.PingWebhookResponse = await self._operations._call(
            "webhook.ping",
            present({
                "webhook_id": webhook_id,
                "event_type": event_type,
            }),
            options,
        )
        return answer

    async def deliveries(
        self,
        *,
        webhook_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        event_type: Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"] | None = None,
        state: Literal["pending", "delivered", "failed", "cancelled"] | None = None,
        created_after: int | None = None,
        created_before: int | None = None,
        task_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListDeliveriesResponse:
        """Lists the deliveries of a webhook, or those of a task to all webhooks that the caller can see, newest first.

        The log is kept for 30 days by default. Returns `not_found` for an unknown webhook, and `invalid_argument` for a
        cursor of another list and without `webhook_id` and `task_id` (spec/webhooks.md 9.4, spec/api.md 8.83).

        webhook_id: Id of the webhook. Empty for all webhooks that the caller can see; `task_id` is then required.
        Rules: at most 128 characters.

        limit: Maximum number of deliveries on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first
        page. Rules: at most 1024 characters.

        event_type: Only events of this type.

        state: Only deliveries in this state.

        created_after: Only events after this time, in Unix seconds. Rules: at least 0; a date `YYYY-MM-DD` is accepted
        too.

        created_before: Only events before this time, in Unix seconds. Rules: at least 0; a date `YYYY-MM-DD` is
        accepted too.

        task_id: Only events of this task. Rules: at most 128 characters.
        """
        answer: v2.ListDeliveriesResponse = await self._operations._call(
            "webhook.deliveries",
            present({
                "webhook_id": webhook_id,
                "limit": limit,
                "cursor": cursor,
                "event_type": event_type,
                "state": state,
                "created_after": created_after,
                "created_before": created_before,
                "task_id": task_id,
            }),
            options,
        )
        return answer

    async def attempts(
        self,
        *,
        delivery_id: str,
        options: CallOptions | None = None,
    ) -> v2.ListDeliveryAttemptsResponse:
        """Lists the attempts of one delivery, in order.

        Returns `not_found` for an unknown delivery.

        delivery_id: Id of the delivery. Rules: 1 to 128 characters.
        """
        answer: v2.ListDeliveryAttemptsResponse = await self._operations._call(
            "webhook.attempts",
            present({
                "delivery_id": delivery_id,
            }),
            options,
        )
        return answer

    async def resend(
        self,
        *,
        delivery_id: str,
        options: CallOptions | None = None,
    ) -> v2.ResendDeliveryResponse:
        """Sends one delivery again, at once, with the same event id and body.

        Returns `not_found` for an unknown delivery, and `failed_precondition` while the webhook is inactive and when
        the body is no longer kept.

        delivery_id: Id of the delivery. Rules: 1 to 128 characters.
        """
        answer: v2.ResendDeliveryResponse = await self._operations._call(
            "webhook.resend",
            present({
                "delivery_id": delivery_id,
            }),
            options,
        )
        return answer

    async def recover(
        self,
        *,
        webhook_id: str,
        since: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.RecoverDeliveriesResponse:
        """Sends all deliveries of a webhook since a time that failed, or wait for their next attempt, again.

        Returns `not_found` for an unknown webhook, and `failed_precondition` while it is inactive.

        webhook_id: Id of the webhook. Rules: 1 to 128 characters.

        since: Only deliveries of events at or after this time, in Unix seconds. Rules: at least 0; a date `YYYY-MM-DD`
        is accepted too.
        """
        answer: v2.RecoverDeliveriesResponse = await self._operations._call(
            "webhook.recover",
            present({
                "webhook_id": webhook_id,
                "since": since,
            }),
            options,
        )
        return answer


class AsyncAgentResource:
    """Operations of `agent`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        options: CallOptions | None = None,
    ) -> v2.ListAgentsResponse:
        """Lists all agents of the caller, the default agent first.

        The list has no pages (spec/api.md 8.21).
        """
        answer: v2.ListAgentsResponse = await self._operations._call(
            "agent.list",
            {},
            options,
        )
        return answer

    async def detail(
        self,
        *,
        agent_id: str,
        options: CallOptions | None = None,
    ) -> v2.GetAgentResponse:
        """Returns one agent.

        Returns `not_found` for an unknown agent (spec/api.md 8.22).

        agent_id: Id of the agent, or `agent-default`. Rules: 1 to 128 characters.
        """
        answer: v2.GetAgentResponse = await self._operations._call(
            "agent.detail",
            present({
                "agent_id": agent_id,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        agent_id: str,
        nickname: str | None = None,
        about: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateAgentResponse:
        """Changes the nickname or the description of an agent.

        Returns `invalid_argument` when neither field is present or the nickname is blank, and `not_found` for an
        unknown agent (spec/api.md 8.23).

        agent_id: Id of the agent, or `agent-default`. Rules: 1 to 128 characters.

        nickname: New nickname, at most 64 characters, not blank. Rules: at most 64 characters.

        about: New description, at most 2,000 characters; may be empty. Rules: at most 2000 characters.
        """
        answer: v2.UpdateAgentResponse = await self._operations._call(
            "agent.update",
            present({
                "agent_id": agent_id,
                "nickname": nickname,
                "about": about,
            }),
            options,
        )
        return answer


class AsyncAgentProfileResource:
    """Operations of `agentProfile`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        options: CallOptions | None = None,
    ) -> v2.ListAgentProfilesResponse:
        """Lists all profiles with what they cost, the default profile first.

        Texts and limits are those of the caller's space. The list has no pages. Requires a session, a general API key,
        or a token with the scope `create_task` or `manage_all_tasks` (spec/api.md 8.46).
        """
        answer: v2.ListAgentProfilesResponse = await self._operations._call(
            "agentProfile.list",
            {},
            options,
        )
        return answer

    async def update(
        self,
        *,
        agent_profile: str,
        title: str | None = None,
        description: str | None = None,
        concurrency: int | None = None,
        time_limit_seconds: int | None = None,
        fetch: v2.AgentProfileFetchInput | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateAgentProfileResponse:
        """Changes the texts and limits of a profile in the caller's space.

        In a team its owner may call this, in a personal space its account. Limits apply to runs that begin after the
        change. Requires a session or a general API key. Returns `not_found` for an unknown profile, and
        `invalid_argument` when no field is present (spec/api.md 8.78).

        agent_profile: Name of the profile, as AgentProfile has it. Rules: 1 to 63 characters.

        title: New title, at most 100 characters. Empty: the default title. Rules: at most 100 characters.

        description: New description, at most 1,000 characters. Empty: the default description. Rules: at most 1000
        characters.

        concurrency: Maximum number of runs at the same time in the space, 1 to 100,000; 0 for no limit. Other tasks of
        the profile wait. Rules: 0 to 100000.

        time_limit_seconds: Longest time of a turn in seconds, 1 to 2,592,000 (30 days); 0 for no limit. A turn that
        takes longer ends in `error`. The time that the task waits for its first run, for the user or for subtasks does
        not count. Rules: 0 to 2592000.

        fetch: New limits of requests; both members are replaced. They can only be stricter than the model's entry: the
        stricter mode counts, and a host must be in both lists.
        """
        answer: v2.UpdateAgentProfileResponse = await self._operations._call(
            "agentProfile.update",
            present({
                "agent_profile": agent_profile,
                "title": title,
                "description": description,
                "concurrency": concurrency,
                "time_limit_seconds": time_limit_seconds,
                "fetch": fetch,
            }),
            options,
        )
        return answer


class AsyncSkillResource:
    """Operations of `skill`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        *,
        project_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListSkillsResponse:
        """Lists the skills that the caller's tasks can use, newest first.

        With a token, the list also has the private skills of the app. Requires a session, a general API key, or a token
        with the scope `create_task` or `manage_all_tasks`. Returns `not_found` for an unknown project, and for any
        project when the token has neither `create_project` nor `manage_all_tasks` (spec/api.md 8.19, spec/decisions.md
        16).

        project_id: Id of a project whose skills are added to the list. Rules: at most 128 characters.
        """
        answer: v2.ListSkillsResponse = await self._operations._call(
            "skill.list",
            present({
                "project_id": project_id,
            }),
            options,
        )
        return answer


class AsyncConnectorResource:
    """Operations of `connector`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        options: CallOptions | None = None,
    ) -> v2.ListConnectorsResponse:
        """Lists the connectors that are installed for the account or its space.

        With a token, the list has only the connectors that the user granted to the app. Requires a session, a general
        API key, or a token with the scope `create_task` or `manage_all_tasks` (spec/api.md 8.20).
        """
        answer: v2.ListConnectorsResponse = await self._operations._call(
            "connector.list",
            {},
            options,
        )
        return answer


class AsyncBrowserResource:
    """Operations of `browser`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def online_list(
        self,
        options: CallOptions | None = None,
    ) -> v2.ListOnlineBrowserClientsResponse:
        """Lists the browsers of the caller's account that are online now.

        The list is empty when no browser is online. Requires a session, a general API key, or a token with the scope
        `use_my_browsers` (spec/api.md 8.24).
        """
        answer: v2.ListOnlineBrowserClientsResponse = await self._operations._call(
            "browser.onlineList",
            {},
            options,
        )
        return answer

    async def detach(
        self,
        *,
        client_id: str,
        task_id: str,
        options: CallOptions | None = None,
    ) -> v2.DetachBrowserResponse:
        """Ends the use of a browser by a task.

        The browser stays online, and other tasks keep it. A command of the task that is in progress ends within about a
        second, also in another process, and the tab is closed. When the agent needs a browser again, the task waits for
        the user to select one. The task may be in any status, and the browser offline.

        Returns `not_found` for an unknown task, and `failed_precondition` when the task has not selected this browser
        (spec/api.md 8.68).

        client_id: Id of the browser. Rules: 1 to 128 characters.

        task_id: Id of the task. Rules: 1 to 128 characters.
        """
        answer: v2.DetachBrowserResponse = await self._operations._call(
            "browser.detach",
            present({
                "client_id": client_id,
                "task_id": task_id,
            }),
            options,
        )
        return answer


class AsyncWebsiteResource:
    """Operations of `website`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def status(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetWebsiteStatusResponse:
        """Returns the publication state of a website (spec/api.md 8.29).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.GetWebsiteStatusResponse = await self._operations._call(
            "website.status",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def list_checkpoints(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListWebsiteCheckpointsResponse:
        """Lists the checkpoints of a website, newest first.

        The list has no pages (spec/api.md 8.30).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.ListWebsiteCheckpointsResponse = await self._operations._call(
            "website.listCheckpoints",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def publish(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        visibility: Literal["public", "team", "private"] | None = None,
        options: CallOptions | None = None,
    ) -> v2.PublishWebsiteResponse:
        """Starts the deployment of the newest checkpoint of a website.

        The call does not wait for the end; poll GetWebsiteStatus for the outcome. A call during a deployment starts it
        again with the newest checkpoint. Returns `permission_denied` for a visibility above the cap of the website and
        for `team` in a personal space, and `failed_precondition` when the website has no checkpoint (spec/api.md 8.31).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.

        visibility: Audience of the website: `public`, `team` or `private`. Default `public`, also for an empty string
        in v2 JSON.
        """
        answer: v2.PublishWebsiteResponse = await self._operations._call(
            "website.publish",
            present({
                "task_id": task_id,
                "website_id": website_id,
                "visibility": visibility,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        title: str | None = None,
        visibility: Literal["public", "team", "private"] | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateWebsiteResponse:
        """Changes the title or the visibility of a website, without a deployment.

        Returns `invalid_argument` when neither field is present, and `permission_denied` for a visibility above the cap
        of the website and for `team` in a personal space (spec/api.md 8.32).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.

        title: New title, 1 to 255 characters. Rules: 1 to 255 characters.

        visibility: New audience: `public`, `team` or `private`.
        """
        answer: v2.UpdateWebsiteResponse = await self._operations._call(
            "website.update",
            present({
                "task_id": task_id,
                "website_id": website_id,
                "title": title,
                "visibility": visibility,
            }),
            options,
        )
        return answer

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListWebsitesResponse:
        """Lists the caller's websites in the space, newest first.

        Returns `invalid_argument` for a cursor of another list (spec/api.md 8.53).

        limit: Maximum number of websites on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page. Absent or empty for the first page. Rules: at most 1024 characters.
        """
        answer: v2.ListWebsitesResponse = await self._operations._call(
            "website.list",
            present({
                "limit": limit,
                "cursor": cursor,
            }),
            options,
        )
        return answer

    async def unpublish(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.UnpublishWebsiteResponse:
        """Takes a website offline. Its checkpoints, viewers and domains stay.

        The address answers 404 from the next request on, and the visibility becomes `private`. Also ends a deployment.
        An unpublished website stays as it is (spec/api.md 8.53).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.UnpublishWebsiteResponse = await self._operations._call(
            "website.unpublish",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def delete(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.DeleteWebsiteResponse:
        """Deletes a website with its checkpoints, viewers and domains. Its task stays.

        The next checkpoint of the task creates a new website at another address (spec/api.md 8.53).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.DeleteWebsiteResponse = await self._operations._call(
            "website.delete",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def rollback(
        self,
        *,
        version_id: str,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.RollbackWebsiteResponse:
        """Starts the deployment of an earlier checkpoint of a website that is online.

        Title and visibility stay. Works like PublishWebsite otherwise. Returns `not_found` for a checkpoint that the
        website does not have, and `failed_precondition` when the website is not online or the checkpoint's status is
        not `success` (spec/api.md 8.53).

        version_id: Id of the checkpoint, from ListWebsiteCheckpoints. Rules: 1 to 128 characters.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.RollbackWebsiteResponse = await self._operations._call(
            "website.rollback",
            present({
                "version_id": version_id,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def list_viewers(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListWebsiteViewersResponse:
        """Lists the people who may open the website while it is `private`, by address.

        The owner is not in the list. The list has at most 100 addresses and no pages (spec/api.md 8.54).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.ListWebsiteViewersResponse = await self._operations._call(
            "website.listViewers",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def add_viewers(
        self,
        *,
        emails: Sequence[str],
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.AddWebsiteViewersResponse:
        """Lets people open the website while it is `private`.

        An address counts for the account that signs in with it, in any space. Addresses that are listed already stay as
        they are. Returns `invalid_argument` for an address that is not valid, and `resource_exhausted` beyond 100
        addresses (spec/api.md 8.54).

        emails: E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ. Rules: 1 to
        100 items; each at most 254 characters; each an e-mail address.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.AddWebsiteViewersResponse = await self._operations._call(
            "website.addViewers",
            present({
                "emails": emails,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def remove_viewers(
        self,
        *,
        emails: Sequence[str],
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.RemoveWebsiteViewersResponse:
        """Takes addresses off the list of viewers.

        Their access ends at the next request. Addresses that are not listed are ignored (spec/api.md 8.54).

        emails: E-mail addresses, 1 to 100, each at most 254 characters. Upper and lower case do not differ. Rules: 1 to
        100 items; each at most 254 characters; each an e-mail address.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.RemoveWebsiteViewersResponse = await self._operations._call(
            "website.removeViewers",
            present({
                "emails": emails,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def list_domains(
        self,
        *,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListWebsiteDomainsResponse:
        """Lists the custom domains of a website, oldest first.

        The list has at most 20 domains and no pages (spec/api.md 8.55).

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.ListWebsiteDomainsResponse = await self._operations._call(
            "website.listDomains",
            present({
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def link_domain(
        self,
        *,
        domain: str,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.LinkWebsiteDomainResponse:
        """Links a custom domain to a website, with the status `pending`.

        The response has the TXT record to create before VerifyWebsiteDomain. Returns `invalid_argument` for a name that
        cannot be a custom domain, `already_exists` when the space has linked the domain already, and
        `resource_exhausted` when the space has 20 domains (spec/api.md 8.55).

        domain: Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the
        end have no effect. Rules: 1 to 254 characters.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.LinkWebsiteDomainResponse = await self._operations._call(
            "website.linkDomain",
            present({
                "domain": domain,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def verify_domain(
        self,
        *,
        domain: str,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.VerifyWebsiteDomainResponse:
        """Looks for the proof of a custom domain, and makes the domain active when it is there.

        The proof is the TXT record, or the same text at `/.well-known/atp-verify` on the domain. Takes up to 15 s.
        Returns `not_found` for a domain that the website does not have, `failed_precondition` without the proof, and
        `already_exists` when the domain is active for another space (spec/api.md 8.55).

        domain: Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the
        end have no effect. Rules: 1 to 254 characters.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.VerifyWebsiteDomainResponse = await self._operations._call(
            "website.verifyDomain",
            present({
                "domain": domain,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer

    async def unlink_domain(
        self,
        *,
        domain: str,
        task_id: str | None = None,
        website_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.UnlinkWebsiteDomainResponse:
        """Unlinks a custom domain. It serves nothing from then on, and can be linked again.

        Returns `not_found` for a domain that the website does not have (spec/api.md 8.55).

        domain: Host name in ASCII, at most 253 characters, for example `www.example.com`. Upper case and a dot at the
        end have no effect. Rules: 1 to 254 characters.

        task_id: Id of the task that built the website. Rules: at most 128 characters.

        website_id: Id of the website. Rules: at most 128 characters.
        """
        answer: v2.UnlinkWebsiteDomainResponse = await self._operations._call(
            "website.unlinkDomain",
            present({
                "domain": domain,
                "task_id": task_id,
                "website_id": website_id,
            }),
            options,
        )
        return answer


class AsyncUsageResource:
    """Operations of `usage`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        start_date: int | None = None,
        end_date: int | None = None,
        project_id: str | None = None,
        client_id: str | None = None,
        api_key_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListUsageResponse:
        """Lists the caller's usage by task and grant, latest change first.

        Returns `invalid_argument` for a `limit` out of range, a cursor of another list, and a range that ends before it
        starts (spec/api.md 8.25).

        limit: Maximum number of records on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page; valid only with the same filters. Absent or empty for the first
        page. Rules: at most 1024 characters.

        start_date: Only records whose latest change is on or after this day, in Unix seconds; the complete UTC day
        counts. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        end_date: Only records whose latest change is on or before this day, in Unix seconds; the complete UTC day
        counts. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        project_id: Only tasks that had costs in this project. Empty counts as absent. Rules: at most 128 characters.

        client_id: Only tasks that the app with this client id created. Empty counts as absent. Rules: at most 128
        characters.

        api_key_id: Only tasks that this API key created. Empty counts as absent. Rules: at most 128 characters.
        """
        answer: v2.ListUsageResponse = await self._operations._call(
            "usage.list",
            present({
                "limit": limit,
                "cursor": cursor,
                "start_date": start_date,
                "end_date": end_date,
                "project_id": project_id,
                "client_id": client_id,
                "api_key_id": api_key_id,
            }),
            options,
        )
        return answer

    async def available_credits(
        self,
        options: CallOptions | None = None,
    ) -> v2.GetAvailableCreditsResponse:
        """Returns the credits that can be spent now.

        The figure is what is left in the tightest budget of the account and its team, or the setting `CREDITS` without
        a budget (spec/api.md 8.26).
        """
        answer: v2.GetAvailableCreditsResponse = await self._operations._call(
            "usage.availableCredits",
            {},
            options,
        )
        return answer

    async def team_statistic(
        self,
        *,
        start_date: int | None = None,
        end_date: int | None = None,
        project_id: str | None = None,
        client_id: str | None = None,
        api_key_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetTeamUsageStatisticResponse:
        """Returns the credits spent on each day, oldest day first.

        The owner, super admins and admins get the totals of the team, other members their own. Returns
        `permission_denied` in a personal space, and `invalid_argument` for a range that ends before it starts or has
        more than 366 days (spec/api.md 8.27, 14.5).

        start_date: Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the
        end. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        end_date: Time on the last day, in Unix seconds; the complete UTC day counts. Default: now. Rules: 0 to
        253402300799; a date `YYYY-MM-DD` is accepted too.

        project_id: Only the costs of tasks of this project. Empty counts as absent. Rules: at most 128 characters.

        client_id: Only the costs of tasks that the app with this client id created. Empty counts as absent. Rules: at
        most 128 characters.

        api_key_id: Only the costs of tasks that this API key created. Empty counts as absent. Rules: at most 128
        characters.
        """
        answer: v2.GetTeamUsageStatisticResponse = await self._operations._call(
            "usage.teamStatistic",
            present({
                "start_date": start_date,
                "end_date": end_date,
                "project_id": project_id,
                "client_id": client_id,
                "api_key_id": api_key_id,
            }),
            options,
        )
        return answer

    async def team_log(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        start_date: int | None = None,
        end_date: int | None = None,
        sort_by: Literal["task_count", "credits"] | None = None,
        is_asc: bool | None = None,
        project_id: str | None = None,
        client_id: str | None = None,
        api_key_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListTeamUsageLogResponse:
        """Lists the usage of each member of the team.

        The owner, super admins and admins get the rows of all members, other members only their own. Returns
        `permission_denied` in a personal space, and `invalid_argument` for a `limit` out of range, a cursor of another
        list, and a range that ends before it starts or has more than 366 days (spec/api.md 8.28, 14.5).

        limit: Maximum number of rows on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page; valid only with the same range and order. Absent or empty for the
        first page. Rules: at most 1024 characters.

        start_date: Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the
        end. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        end_date: Time on the last day, in Unix seconds; the complete UTC day counts. Default: now. Rules: 0 to
        253402300799; a date `YYYY-MM-DD` is accepted too.

        sort_by: Column to sort by. Default: the number of tasks.

        is_asc: True sorts the smallest value first.

        project_id: Only the costs of tasks of this project. Empty counts as absent. Rules: at most 128 characters.

        client_id: Only the costs of tasks that the app with this client id created. Empty counts as absent. Rules: at
        most 128 characters.

        api_key_id: Only the costs of tasks that this API key created. Empty counts as absent. Rules: at most 128
        characters.
        """
        answer: v2.ListTeamUsageLogResponse = await self._operations._call(
            "usage.teamLog",
            present({
                "limit": limit,
                "cursor": cursor,
                "start_date": start_date,
                "end_date": end_date,
                "sort_by": sort_by,
                "is_asc": is_asc,
                "project_id": project_id,
                "client_id": client_id,
                "api_key_id": api_key_id,
            }),
            options,
        )
        return answer

    async def statistic(
        self,
        *,
        start_date: int | None = None,
        end_date: int | None = None,
        project_id: str | None = None,
        client_id: str | None = None,
        api_key_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetUsageStatisticResponse:
        """Returns the credits that the caller spent on each day, oldest day first.

        It is the same in a personal space and in a team. Returns `invalid_argument` for a range that ends before it
        starts or has more than 366 days (spec/api.md 8.63, 14.5).

        start_date: Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the
        end. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        end_date: Time on the last day, in Unix seconds; the complete UTC day counts. Default: now. Rules: 0 to
        253402300799; a date `YYYY-MM-DD` is accepted too.

        project_id: Only the costs of tasks of this project. Empty counts as absent. Rules: at most 128 characters.

        client_id: Only the costs of tasks that the app with this client id created. Empty counts as absent. Rules: at
        most 128 characters.

        api_key_id: Only the costs of tasks that this API key created. Empty counts as absent. Rules: at most 128
        characters.
        """
        answer: v2.GetUsageStatisticResponse = await self._operations._call(
            "usage.statistic",
            present({
                "start_date": start_date,
                "end_date": end_date,
                "project_id": project_id,
                "client_id": client_id,
                "api_key_id": api_key_id,
            }),
            options,
        )
        return answer

    async def breakdown(
        self,
        *,
        group_by: Literal["project", "app", "key"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        start_date: int | None = None,
        end_date: int | None = None,
        all_members: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListUsageBreakdownResponse:
        """Lists the credits spent in a range by project, by app or by API key, most credits first.

        Costs of tasks without a project, an app or a key are one row with an empty id. Returns `permission_denied` for
        `all_members` of a caller who is not owner, super admin or admin of a team, and `invalid_argument` for a `limit`
        out of range, a cursor of another list, and a range that ends before it starts or has more than 366 days
        (spec/api.md 8.64, 14.5).

        group_by: What the rows are: projects, apps or API keys. Required.

        limit: Maximum number of rows on the page, 1 to 100. Default 20. Rules: 1 to 100.

        cursor: `next_cursor` of the previous page; valid only with the same range and grouping. Absent or empty for the
        first page. Rules: at most 1024 characters.

        start_date: Time on the first day, in Unix seconds; the complete UTC day counts. Default: 29 days before the
        end. Rules: 0 to 253402300799; a date `YYYY-MM-DD` is accepted too.

        end_date: Time on the last day, in Unix seconds; the complete UTC day counts. Default: now. Rules: 0 to
        253402300799; a date `YYYY-MM-DD` is accepted too.

        all_members: True counts all members of the team; only for its owner, super admins and admins. Default: the
        caller alone.
        """
        answer: v2.ListUsageBreakdownResponse = await self._operations._call(
            "usage.breakdown",
            present({
                "group_by": group_by,
                "limit": limit,
                "cursor": cursor,
                "start_date": start_date,
                "end_date": end_date,
                "all_members": all_members,
            }),
            options,
        )
        return answer


class AsyncUserResource:
    """Operations of `user`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def me(
        self,
        options: CallOptions | None = None,
    ) -> v2.GetCurrentUserResponse:
        """Returns the account id of the caller, and what the credential may show of its person.

        A cheap way to check a credential. Accepts a session, a general API key, or any valid token, regardless of its
        scopes. A token gets the kind of credential, its scopes and the id of the space, but nothing else about the
        person, who did not consent to more (spec/api.md 8.33).
        """
        answer: v2.GetCurrentUserResponse = await self._operations._call(
            "user.me",
            {},
            options,
        )
        return answer


class AsyncTeamUserResource:
    """Operations of `team.user`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status_filter: Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"] | None = None,
        delegation_state: Literal["DELEGATION_STATE_DELEGATED", "DELEGATION_STATE_HAS_DELEGATES", "DELEGATION_STATE_NONE"] | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListUsersResponse:
        """Lists the members of the team, oldest first.

        Returns `invalid_argument` for a value out of range and an unknown enum value (spec/enterprise.md 5.1).

        limit: Maximum number of members on the page, 1 to 1,000. Default 100. Rules: 1 to 1000.

        offset: Number of members to skip. Default 0. Rules: at least 0.

        status_filter: Only members with this status. Default: active and inactive members. Removed members are listed
        only with `USER_STATUS_REMOVED`.

        delegation_state: Only members in this delegation state. Default: all.
        """
        answer: v2.ListUsersResponse = await self._operations._call(
            "team.user.list",
            present({
                "limit": limit,
                "offset": offset,
                "status_filter": status_filter,
                "delegation_state": delegation_state,
            }),
            options,
        )
        return answer

    async def detail(
        self,
        *,
        email: str | None = None,
        team_user_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetUserResponse:
        """Returns one member, by id or e-mail address.

        Returns `invalid_argument` when neither is present, and `not_found` for an unknown member (spec/enterprise.md
        5.2).

        email: Present e-mail address of the member. Rules: at most 254 characters; an e-mail address.

        team_user_id: Id of the member. Rules: at most 64 characters.
        """
        answer: v2.GetUserResponse = await self._operations._call(
            "team.user.detail",
            present({
                "email": email,
                "team_user_id": team_user_id,
            }),
            options,
        )
        return answer

    async def create(
        self,
        *,
        email: str | None = None,
        role: Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"] | None = None,
        user_name: str | None = None,
        first_name: str | None = None,
        last_name: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.CreateUserResponse:
        """Adds a member to the team.

        The member is active at once. The method is not idempotent; a repeat with the same `Idempotency-Key` returns the
        first response. Returns `already_exists` for the address of a member, and `invalid_argument` for an invalid
        address and the owner's role (spec/enterprise.md 5.3).

        email: E-mail address, at most 254 characters. Rules: at most 254 characters; an e-mail address.

        role: Role of the member; any role except the owner's.

        user_name: Name, at most 255 characters. `first_name` and `last_name` take precedence. Rules: at most 255
        characters.

        first_name: First name, at most 128 characters. It is joined with the last name by a blank. Rules: at most 128
        characters.

        last_name: Last name, at most 128 characters. Rules: at most 128 characters.
        """
        answer: v2.CreateUserResponse = await self._operations._call(
            "team.user.create",
            present({
                "email": email,
                "role": role,
                "user_name": user_name,
                "first_name": first_name,
                "last_name": last_name,
            }),
            options,
        )
        return answer

    async def update(
        self,
        *,
        email: str | None = None,
        team_user_id: str | None = None,
        status: Literal["USER_STATUS_ACTIVE", "USER_STATUS_INACTIVE", "USER_STATUS_REMOVED"] | None = None,
        role: Literal["TEAM_MEMBER_ROLE_OWNER", "TEAM_MEMBER_ROLE_ADMIN", "TEAM_MEMBER_ROLE_MEMBER", "TEAM_MEMBER_ROLE_SUPER_ADMIN", "TEAM_MEMBER_ROLE_GUEST"] | None = None,
        dry_run: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.UpdateUserResponse:
        """Changes the status or the role of a member.

        When the member becomes inactive or removed, the delegated profiles that it holds become inactive and lose their
        assignee. The status `USER_STATUS_REMOVED` has the effect of RemoveMember. Returns `not_found` for an unknown
        member, `failed_precondition` for the owner, and `invalid_argument` without an identifier or a change, for the
        owner's role, and for `USER_STATUS_REMOVED` together with a role (spec/enterprise.md 5.4).

        email: Present e-mail address of the member. Rules: at most 254 characters; an e-mail address.

        team_user_id: Id of the member. Rules: at most 64 characters.

        status: New status. `USER_STATUS_REMOVED` cannot be undone.

        role: New role; any role except the owner's.

        dry_run: Only show what the call would do. The answer is the same with `effects`; nothing is written, and there
        is no audit entry. Checks and limits apply.
        """
        answer: v2.UpdateUserResponse = await self._operations._call(
            "team.user.update",
            present({
                "email": email,
                "team_user_id": team_user_id,
                "status": status,
                "role": role,
                "dry_run": dry_run,
            }),
            options,
        )
        return answer

    async def delegate(
        self,
        *,
        team_user_id: str,
        target_team_user_id: str,
        role: Literal["MIGRATED_PROFILE_ROLE_MEMBER", "MIGRATED_PROFILE_ROLE_FREE_GUEST", "MIGRATED_PROFILE_ROLE_DEACTIVATED"] | None = None,
        dry_run: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.DelegateProfileResponse:
        """Delegates an inactive profile to an active member.

        All sessions, keys, tokens, grants and sign-in links of the profile in this space are revoked permanently. The
        assignee gets no access to the profile's tasks, files or keys. Returns `not_found` for an unknown member.
        Returns `failed_precondition` when the profile is the owner, is not inactive or is already delegated, and when
        the target is not active, is delegated or is the profile itself (spec/enterprise.md 5.5, spec/decisions.md 6).

        team_user_id: Id of the inactive profile. Rules: 1 to 64 characters.

        target_team_user_id: Id of the member who becomes the assignee. Rules: 1 to 64 characters.

        role: Status and role of the profile after the delegation.

        dry_run: Only show what the call would do. The answer is the same with `effects`; nothing is written, and there
        is no audit entry. Checks and limits apply.
        """
        answer: v2.DelegateProfileResponse = await self._operations._call(
            "team.user.delegate",
            present({
                "team_user_id": team_user_id,
                "target_team_user_id": target_team_user_id,
                "role": role,
                "dry_run": dry_run,
            }),
            options,
        )
        return answer

    async def reclaim(
        self,
        *,
        team_user_id: str,
        options: CallOptions | None = None,
    ) -> v2.ReclaimProfileResponse:
        """Ends the delegation of a profile.

        The profile becomes inactive and keeps its role and data. Returns `not_found` for an unknown member, and
        `failed_precondition` when the profile is not delegated (spec/enterprise.md 5.6).

        team_user_id: Id of the delegated profile. Rules: 1 to 64 characters.
        """
        answer: v2.ReclaimProfileResponse = await self._operations._call(
            "team.user.reclaim",
            present({
                "team_user_id": team_user_id,
            }),
            options,
        )
        return answer

    async def rename(
        self,
        *,
        team_user_id: str,
        display_name: str,
        options: CallOptions | None = None,
    ) -> v2.RenameProfileResponse:
        """Changes the name of a member in the team.

        The name of the account does not change. Returns `not_found` for an unknown member, and `failed_precondition`
        for the owner (spec/enterprise.md 5.7).

        team_user_id: Id of the member. Rules: 1 to 64 characters.

        display_name: New name, 1 to 255 characters, without control characters. Rules: 1 to 255 characters.
        """
        answer: v2.RenameProfileResponse = await self._operations._call(
            "team.user.rename",
            present({
                "team_user_id": team_user_id,
                "display_name": display_name,
            }),
            options,
        )
        return answer

    async def remove(
        self,
        *,
        team_user_id: str,
        dry_run: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.RemoveMemberResponse:
        """Removes a member from the team permanently.

        The delegated profiles that the member holds become inactive and lose their assignee. Returns `not_found` for an
        unknown or already removed member, and `failed_precondition` for the owner (spec/enterprise.md 5.8).

        team_user_id: Id of the member. Rules: 1 to 64 characters.

        dry_run: Only show what the call would do. The answer is the same with `effects`; nothing is written, and there
        is no audit entry. Checks and limits apply.
        """
        answer: v2.RemoveMemberResponse = await self._operations._call(
            "team.user.remove",
            present({
                "team_user_id": team_user_id,
                "dry_run": dry_run,
            }),
            options,
        )
        return answer


class AsyncAuditResource:
    """Operations of `audit`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        start_time: int | None = None,
        end_time: int | None = None,
        account_id: str | None = None,
        credential: str | None = None,
        operation: str | None = None,
        outcome: Literal["done", "refused"] | None = None,
        subject: str | None = None,
        request_id: str | None = None,
        operation_prefix: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ListAuditEventsResponse:
        """Lists the audit log of the caller's space, newest entry first by default.

        Returns `permission_denied` for every role except owner and super admin, and `invalid_argument` for a cursor of
        another list.

        limit: Maximum number of entries on the page, 1 to 1,000. Default 100. Rules: 1 to 1000.

        cursor: `next_cursor` of the previous page; valid only with the same filters and order. Absent or empty for the
        first page. Rules: at most 1024 characters.

        order: Order by time. Default: newest first.

        start_time: Only entries at or after this time, in Unix seconds. Rules: at least 0; a date `YYYY-MM-DD` is
        accepted too.

        end_time: Only entries before this time, in Unix seconds. Rules: at least 0; a date `YYYY-MM-DD` is accepted
        too.

        account_id: Only entries of this account. Rules: at most 128 characters.

        credential: Only entries of this credential, as kind and id. Rules: at most 128 characters.

        operation: Only entries of this operation, by its v2 name or its RPC. Rules: at most 128 characters.

        outcome: Only entries with this outcome. Default: both.

        subject: Only changes of the object with this id. Rules: at most 128 characters.

        request_id: Only entries of the request with this id. Rules: at most 128 characters.

        operation_prefix: Only entries whose operation begins with this text, for example `task.v2.` or `console/`. It
        is compared with the RPC or the name of the action, not with a v2 name. Rules: at most 128 characters.
        """
        answer: v2.ListAuditEventsResponse = await self._operations._call(
            "audit.list",
            present({
                "limit": limit,
                "cursor": cursor,
                "order": order,
                "start_time": start_time,
                "end_time": end_time,
                "account_id": account_id,
                "credential": credential,
                "operation": operation,
                "outcome": outcome,
                "subject": subject,
                "request_id": request_id,
                "operation_prefix": operation_prefix,
            }),
            options,
        )
        return answer

    async def download_url(
        self,
        *,
        format: Literal["ndjson", "ocsf"] | None = None,
        filter: v2.ListAuditEventsRequest | None = None,
        options: CallOptions | None = None,
    ) -> v2.GetAuditDownloadUrlResponse:
        """Returns an address that downloads the audit log of the caller's space as a file, for pages.

        The address needs no credential for 60 seconds, and is good for this format and these filters only. It opens
        with the rights that its maker has then; a download that has begun ends when the maker loses them. Bad and
        expired addresses are 404 (spec/api.md 8.70).

        Returns `permission_denied` for every role except owner and super admin, and `invalid_argument` for a filter
        with a `limit` or a `cursor`.

        format: Format of the lines. Default: NDJSON.

        filter: Filters and order of the entries, as in ListAuditEvents; `limit` and `cursor` are refused. Default: all
        entries, newest first.
        """
        answer: v2.GetAuditDownloadUrlResponse = await self._operations._call(
            "audit.downloadUrl",
            present({
                "format": format,
                "filter": filter,
            }),
            options,
        )
        return answer


class AsyncImportResource:
    """Operations of `import`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations

    async def project(
        self,
        *,
        source: v2.ImportSourceInput,
        name: str,
        instruction: str | None = None,
        created_at: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.ImportProjectResponse:
        """Copies a project.

        Returns `resource_exhausted` when the space has 1,000 projects (spec/api.md 8.95).

        source: The project at its source.

        name: Name, 1 to 255 characters. Rules: 1 to 255 characters.

        instruction: Instruction of the project, at most 20,000 characters. Rules: at most 20000 characters.

        created_at: Creation time at the source, in Unix seconds. Rules: 1 to 253402300799.
        """
        answer: v2.ImportProjectResponse = await self._operations._call(
            "import.project",
            present({
                "source": source,
                "name": name,
                "instruction": instruction,
                "created_at": created_at,
            }),
            options,
        )
        return answer

    async def task(
        self,
        *,
        source: v2.ImportSourceInput,
        title: str | None = None,
        created_at: int | None = None,
        updated_at: int | None = None,
        agent_profile: str | None = None,
        hide_in_task_list: bool | None = None,
        metadata: Mapping[str, str] | None = None,
        project_id: str | None = None,
        parent_task_id: str | None = None,
        options: CallOptions | None = None,
    ) -> v2.ImportTaskResponse:
        """Copies a task without its events.

        The task keeps its times and its title, shows `imported_from`, and is `stopped`: it has no run, no cost, no
        share and no pending approval, and notifies no webhook. Returns `failed_precondition` for a project or a parent
        that is not imported yet, and for a parent at the greatest depth (spec/api.md 8.95).

        source: The task at its source.

        title: Title, at most 255 characters. Rules: at most 255 characters.

        created_at: Creation time at the source, in Unix seconds. Rules: 1 to 253402300799.

        updated_at: Time of the last change at the source, in Unix seconds; not before `created_at`. Rules: 1 to
        253402300799.

        agent_profile: Profile at the source. A profile that this server does not have becomes the default one. Rules:
        at most 64 characters.

        hide_in_task_list: Hides the task in the task list of the web app.

        metadata: Labels of the task, as in CreateTask. Rules: at most 16 pairs; each key 1 to 64 characters; each value
        at most 512 characters.

        project_id: Id of its project at the source.

        parent_task_id: Id of its parent task at the source, for a subtask.
        """
        answer: v2.ImportTaskResponse = await self._operations._call(
            "import.task",
            present({
                "source": source,
                "title": title,
                "created_at": created_at,
                "updated_at": updated_at,
                "agent_profile": agent_profile,
                "hide_in_task_list": hide_in_task_list,
                "metadata": metadata,
                "project_id": project_id,
                "parent_task_id": parent_task_id,
            }),
            options,
        )
        return answer

    async def task_events(
        self,
        *,
        source: v2.ImportSourceInput,
        after: int | None = None,
        events: Sequence[v2.ImportedEventInput] | None = None,
        complete: bool | None = None,
        options: CallOptions | None = None,
    ) -> v2.ImportTaskEventsResponse:
        """Appends the next events to an imported task.

        Events keep their order, types and times, and get new ids. Events that the task already has are skipped by their
        position. `complete` ends the import of the task; the server adds a last `status_update` to a task that was
        running or waiting at its source. Further calls change nothing.

        Returns `not_found` for a task that is not imported, `invalid_argument` for events whose times do not increase
        or are in the future, and `failed_precondition` when events before `after` are missing, and when the task was
        continued here before it was complete (spec/api.md 8.95).

        source: The task at its source.

        after: Number of events of the task before the first one of `events`. Rules: at least 0.

        events: The next events, verbose ones too, in order: at most 50. Rules: at most 50 items.

        complete: No event follows.
        """
        answer: v2.ImportTaskEventsResponse = await self._operations._call(
            "import.taskEvents",
            present({
                "source": source,
                "after": after,
                "events": events,
                "complete": complete,
            }),
            options,
        )
        return answer

    async def file(
        self,
        *,
        source: v2.ImportSourceInput,
        file_id: str,
        options: CallOptions | None = None,
    ) -> v2.ImportFileResponse:
        """Gives an attachment of an imported event its bytes.

        The bytes are an upload of the caller (UploadFile), which is used up: it becomes a file of the task, which does
        not expire and does not count toward the storage of the account. Returns `not_found` for an attachment that is
        not imported, and for an upload that does not exist or has expired, and `failed_precondition` for an upload
        without bytes (spec/api.md 8.95).

        source: The attachment at its source. Its id is the id of the event, `/`, and the position of the attachment in
        the event from 0.

        file_id: Id of the upload with its bytes, from UploadFile. Rules: 1 to 128 characters.
        """
        answer: v2.ImportFileResponse = await self._operations._call(
            "import.file",
            present({
                "source": source,
                "file_id": file_id,
            }),
            options,
        )
        return answer

    async def webhook(
        self,
        *,
        source: v2.ImportSourceInput,
        url: str,
        event_types: Sequence[Literal["task_created", "task_progress", "task_stopped", "task_failed", "task_cancelled"]],
        double_hash: bool | None = None,
        project_id: str | None = None,
        metadata: Mapping[str, str] | None = None,
        name: str | None = None,
        created_at: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.ImportWebhookResponse:
        """Copies a webhook. It is inactive, and has a new secret.

        Nothing is sent to its address. RotateWebhookSecret shows a secret, and UpdateWebhook resumes the webhook after
        a test. A webhook of the account with the same address counts as the copy. Returns `invalid_argument` for an
        address that is not https, `failed_precondition` for a project that is not imported yet, and
        `resource_exhausted` when the account has 20 webhooks in the space (spec/api.md 8.95).

        source: The webhook at its source.

        url: Address that events are posted to: https, at most 2,048 characters. Rules: 1 to 2048 characters.

        event_types: Types of event. Rules: 1 to 5 items; no item twice.

        double_hash: Whether receivers hash the signed content twice.

        project_id: Id of the project at the source whose tasks' events are delivered.

        metadata: Pair that a task's metadata must have: at most one. Rules: at most 1 pairs; each key 1 to 64
        characters; each value at most 512 characters.

        name: Display name, at most 64 characters. Rules: at most 64 characters.

        created_at: Creation time at the source, in Unix seconds. Rules: 1 to 253402300799.
        """
        answer: v2.ImportWebhookResponse = await self._operations._call(
            "import.webhook",
            present({
                "source": source,
                "url": url,
                "event_types": event_types,
                "double_hash": double_hash,
                "project_id": project_id,
                "metadata": metadata,
                "name": name,
                "created_at": created_at,
            }),
            options,
        )
        return answer

    async def finish(
        self,
        *,
        origin: str | None = None,
        skipped: int | None = None,
        failed: int | None = None,
        options: CallOptions | None = None,
    ) -> v2.FinishImportResponse:
        """Ends an import: writes the source and the numbers of objects to the audit log.

        Another import from the same source can follow (spec/api.md 8.95).

        origin: Origin of the source.

        skipped: Number of objects that were left out, for the audit log. Rules: at least 0.

        failed: Number of objects that could not be copied, for the audit log. Rules: at least 0.
        """
        answer: v2.FinishImportResponse = await self._operations._call(
            "import.finish",
            present({
                "origin": origin,
                "skipped": skipped,
                "failed": failed,
            }),
            options,
        )
        return answer

    async def list(
        self,
        options: CallOptions | None = None,
    ) -> v2.ListImportsResponse:
        """Lists the sources that the account has imported from, with the numbers of their objects.

        At most 100 sources, sorted by origin (spec/api.md 8.95).
        """
        answer: v2.ListImportsResponse = await self._operations._call(
            "import.list",
            {},
            options,
        )
        return answer
