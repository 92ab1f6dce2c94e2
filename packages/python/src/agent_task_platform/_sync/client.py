# Made from _async/client.py by `node scripts/client-types.ts --write`.
"""A client of one installation with one credential."""

from __future__ import annotations

from collections.abc import Iterator, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from .._core import policy
from .._core.events import ListenEvent, WatchEvent, WebhookEventType
from .._core.policy import CallOptions
from . import backend, resources
from .files import Files
from .listen import listen
from .operations import Operations
from .settled import Settled
from .started import StartedTask, start
from .task import TaskHandle
from .transport import TokenSource, Transport
from .watch import watch_task


class Tasks(resources.TaskResource):
    def __init__(self, operations: Operations) -> None:
        super().__init__(operations)
        self._settled = Settled(operations)

    def _start(self, request: Mapping[str, Any], options: CallOptions | None, output: Any) -> StartedTask[Any]:
        def create() -> TaskHandle[Any]:
            answer = self._operations._call("task.create", request, options)
            return TaskHandle(self._operations, self._settled, answer["task_id"], output)

        return start(create)

    def get(self, id: str) -> TaskHandle[Any]:
        """The task with this id; no call is made."""
        return TaskHandle(self._operations, self._settled, id)

    def watch(
        self, id: str, *, after_seq: int = 0, until_settled: bool = False, deltas: bool = False, retries: int = 10
    ) -> Iterator[WatchEvent]:
        """Watches a task: every event once and in order, through lost connections.

        after_seq: only events with a greater `seq`.
        until_settled: ends when the task does not run and all its events have arrived; otherwise the watch stays open across turns.
        deltas: also yields the text of messages while the agent writes them.
        retries: how often a connection is opened again without any event in between.
        """
        return watch_task(
            self._operations.http, id, after_seq=after_seq, until_settled=until_settled, deltas=deltas, retries=retries
        )


class Webhooks(resources.WebhookResource):
    def listen(
        self, *, event_types: Sequence[WebhookEventType] | None = None, project_id: str | None = None
    ) -> Iterator[ListenEvent]:
        """Receives webhook events over a stream instead of at an address, for at most 60 minutes.

        The first event is the listener with its secret; deliveries follow. Leaving the loop ends the listener, and so does
        a lost connection, with an ApiConnectionError: the next listener has another secret.

        event_types: only events of these types. Default: `task_created` and `task_stopped`.
        project_id: only events of tasks of this project.
        """
        return listen(self._operations.http, event_types=event_types, project_id=project_id)


class Client(Operations):
    """A client of one installation with one credential. Close it, or use it in a `with` block."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        token: str | TokenSource | None = None,
        timeout: float = 75,
        retries: int = 4,
        max_retry_after: float = 60,
        strict: bool = False,
        on_warning: Callable[[list[str], str], None] | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
        sleep: Callable[[float], None] = backend.sleep,
    ) -> None:
        """Raises ValueError without an address of the installation.

        base_url: address of the installation. Default: the environment variable `ATP_URL`.
        api_key: a general API key (`sk-…`). Default: the environment variable `ATP_KEY`.
        token: an OAuth access token, or what supplies it; instead of a key.
        timeout: seconds for one attempt of a call, more than the server holds a call.
        retries: how often a failed call is repeated.
        max_retry_after: the longest `Retry-After` in seconds that is waited for. With a longer one the call fails at once.
        strict: refuses requests with unknown members (`Prefer: handling=strict`).
        on_warning: called with warnings about members of a request that had no effect, and the operation.
        headers: headers of every request.
        http_client: replaces the client of httpx, for example for a proxy. It is not closed.
        sleep: replaces the pauses between attempts; for tests.
        """
        super().__init__(
            Transport(
                base_url=base_url,
                api_key=api_key,
                token=token,
                timeout=timeout,
                retries=retries,
                max_retry_after=max_retry_after,
                strict=strict,
                on_warning=on_warning,
                headers=headers,
                http_client=http_client,
                sleep=sleep,
                calls_max=policy.CALLS_MAX,
            )
        )
        self.tasks = Tasks(self)
        self.files = Files(self)
        self.schedules = resources.ScheduleResource(self)
        self.projects = resources.ProjectResource(self)
        self.webhooks = Webhooks(self)
        self.agents = resources.AgentResource(self)
        self.agent_profiles = resources.AgentProfileResource(self)
        self.skills = resources.SkillResource(self)
        self.connectors = resources.ConnectorResource(self)
        self.browsers = resources.BrowserResource(self)
        self.websites = resources.WebsiteResource(self)
        self.usage = resources.UsageResource(self)
        self.users = resources.UserResource(self)
        self.team_users = resources.TeamUserResource(self)
        self.audit = resources.AuditResource(self)
        self.imports = resources.ImportResource(self)

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
