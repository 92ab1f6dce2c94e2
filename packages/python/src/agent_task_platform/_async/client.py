"""A client of one installation with one credential."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import httpx

from .._core import policy
from .._core.events import ListenEvent, WatchEvent, WebhookEventType
from .._core.policy import CallOptions
from . import backend, resources
from .files import AsyncFiles
from .listen import listen
from .operations import AsyncOperations
from .settled import AsyncSettled
from .started import AsyncStartedTask, start
from .task import AsyncTaskHandle
from .transport import AsyncTokenSource, AsyncTransport
from .watch import watch_task


class AsyncTasks(resources.AsyncTaskResource):
    def __init__(self, operations: AsyncOperations) -> None:
        super().__init__(operations)
        self._settled = AsyncSettled(operations)

    def _start(self, request: Mapping[str, Any], options: CallOptions | None, output: Any) -> AsyncStartedTask[Any]:
        async def create() -> AsyncTaskHandle[Any]:
            answer = await self._operations._call("task.create", request, options)
            return AsyncTaskHandle(self._operations, self._settled, answer["task_id"], output)

        return start(create)

    def get(self, id: str) -> AsyncTaskHandle[Any]:
        """The task with this id; no call is made."""
        return AsyncTaskHandle(self._operations, self._settled, id)

    def watch(
        self, id: str, *, after_seq: int = 0, until_settled: bool = False, deltas: bool = False, retries: int = 10
    ) -> AsyncIterator[WatchEvent]:
        """Watches a task: every event once and in order, through lost connections.

        after_seq: only events with a greater `seq`.
        until_settled: ends when the task does not run and all its events have arrived; otherwise the watch stays open across turns.
        deltas: also yields the text of messages while the agent writes them.
        retries: how often a connection is opened again without any event in between.
        """
        return watch_task(
            self._operations.http, id, after_seq=after_seq, until_settled=until_settled, deltas=deltas, retries=retries
        )


class AsyncWebhooks(resources.AsyncWebhookResource):
    def listen(
        self, *, event_types: Sequence[WebhookEventType] | None = None, project_id: str | None = None
    ) -> AsyncIterator[ListenEvent]:
        """Receives webhook events over a stream instead of at an address, for at most 60 minutes.

        The first event is the listener with its secret; deliveries follow. Leaving the loop ends the listener, and so does
        a lost connection, with an ApiConnectionError: the next listener has another secret.

        event_types: only events of these types. Default: `task_created` and `task_stopped`.
        project_id: only events of tasks of this project.
        """
        return listen(self._operations.http, event_types=event_types, project_id=project_id)


class AsyncClient(AsyncOperations):
    """A client of one installation with one credential. Close it, or use it in a `with` block."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        token: str | AsyncTokenSource | None = None,
        timeout: float = 75,
        retries: int = 4,
        max_retry_after: float = 60,
        strict: bool = False,
        on_warning: Callable[[list[str], str], None] | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = backend.sleep,
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
            AsyncTransport(
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
        self.tasks = AsyncTasks(self)
        self.files = AsyncFiles(self)
        self.schedules = resources.AsyncScheduleResource(self)
        self.projects = resources.AsyncProjectResource(self)
        self.webhooks = AsyncWebhooks(self)
        self.agents = resources.AsyncAgentResource(self)
        self.agent_profiles = resources.AsyncAgentProfileResource(self)
        self.skills = resources.AsyncSkillResource(self)
        self.connectors = resources.AsyncConnectorResource(self)
        self.browsers = resources.AsyncBrowserResource(self)
        self.websites = resources.AsyncWebsiteResource(self)
        self.usage = resources.AsyncUsageResource(self)
        self.users = resources.AsyncUserResource(self)
        self.team_users = resources.AsyncTeamUserResource(self)
        self.audit = resources.AsyncAuditResource(self)
        self.imports = resources.AsyncImportResource(self)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()
