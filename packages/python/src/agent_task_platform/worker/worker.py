"""Polls for runs and works on them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, Union, cast

import httpx

from .._async.transport import AsyncTransport
from ..errors import ApiError, PlatformError
from .calls import RunLostError, WorkerCalls
from .turn import Turn, TurnFailure, TurnResult, failure_of, hidden_failure

if TYPE_CHECKING:
    from ..types.worker import Run

Agent: TypeAlias = Callable[[Turn], Union[Awaitable[TurnResult], TurnResult]]
"""Works on one turn. It runs again from its beginning after a crash, and after each question, approval and wait of the turn."""

_POLL = 30
# Held calls have this many seconds after their time.
_GRACE = 15
# The longest pause in seconds after a lost answer: a lease has 15 s.
_LONGEST_PAUSE = 1.5

_log = logging.getLogger("agent_task_platform.worker")


def _log_error(error: BaseException, task_id: str) -> None:
    """The notes of an error of the agent have its reference."""
    _log.error("task %s: %s", task_id, ", ".join([str(error), *getattr(error, "__notes__", [])]), exc_info=error)


class Worker:
    """A worker. It calls the platform, and needs no address."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        worker_key: str | None = None,
        concurrency: int = 1,
        labels: Sequence[str] = (),
        drain: float = 5,
        signals: bool = True,
        on_error: Callable[[BaseException, str], None] = _log_error,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """base_url: address of the installation. Default: the environment variable `ATP_URL`.
        worker_key: the worker's credential (`wk-…`). Default: the environment variable `WORKER_KEY`.
        concurrency: how many runs this process works on at the same time.
        labels: labels of this machine; default: those of the credential.
        drain: seconds that runs have to finish when the worker stops; then they are released.
        signals: whether SIGTERM and SIGINT stop the worker.
        on_error: called with errors of the agent and of the platform, and the task; default: the log. A note of an error of the
            agent has the reference that users see.
        http_client: replaces the client of httpx. It is not closed.
        """
        key = worker_key or os.environ.get("WORKER_KEY") or ""
        # The key of a user that the environment may have is not sent.
        self._http = AsyncTransport(
            base_url=base_url,
            api_key="",
            headers={"x-api-key": key},
            retries=None,
            http_client=http_client,
            longest_pause=_LONGEST_PAUSE,
        )
        self._call = WorkerCalls(self._http)
        self._concurrency = concurrency
        self._labels = labels
        self._drain = drain
        self._signals = signals
        self._on_error = on_error
        self._leaving = asyncio.Event()
        self._serving: set[_Serving] = set()
        self._is_gone = False

    async def run(self, profiles: str | Sequence[str], agent: Agent) -> None:
        """Runs an agent for tasks of these profiles, until the worker is stopped. An empty list: all profiles of the credential.

        The agent must not block the loop, because the loop sends its heartbeats: `asyncio.to_thread` runs what blocks.
        Raises ApiError when the credential is refused.
        """
        names = [name for name in ([profiles] if isinstance(profiles, str) else profiles) if name]
        with self._watch_signals():
            works = [asyncio.create_task(self._work(names, agent)) for _ in range(self._concurrency)]
            try:
                await asyncio.gather(*works)
            finally:
                self.stop()
                for each in works:
                    each.cancel()
                await asyncio.gather(*works, return_exceptions=True)
                await self._http.aclose()

    def stop(self) -> None:
        """Stops taking runs. `run` returns when the present ones have finished or are released. Call it in the worker's loop."""
        if self._leaving.is_set():
            return
        self._leaving.set()
        asyncio.get_running_loop().call_later(self._drain, self._release)

    def _release(self) -> None:
        self._is_gone = True
        for each in self._serving:
            each.abort(RunLostError("the worker stops"))

    @contextlib.contextmanager
    def _watch_signals(self) -> Any:
        loop = asyncio.get_running_loop()
        watched = (signal.SIGTERM, signal.SIGINT) if self._signals else ()
        for each in watched:
            loop.add_signal_handler(each, self.stop)
        try:
            yield
        finally:
            for each in watched:
                loop.remove_signal_handler(each)

    async def _work(self, profiles: Sequence[str], agent: Agent) -> None:
        following: Run | None = None
        while following or not self._leaving.is_set():
            run = following or await self._poll(profiles)
            following = await self._serve(run, agent) if run else None

    async def _poll(self, profiles: Sequence[str]) -> Run | None:
        request = {"waitSeconds": _POLL, "profiles": profiles, "labels": self._labels}
        polling = asyncio.create_task(self._call("Poll", request, {"timeout": _POLL + _GRACE}))
        leaving = asyncio.create_task(self._leaving.wait())
        try:
            await asyncio.wait({polling, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return cast("Run | None", polling.result().get("run")) if polling.done() else None
        finally:
            for each in (polling, leaving):
                each.cancel()

    async def _serve(self, run: Run, agent: Agent) -> Run | None:
        """Works on one run. Returns the next one if the platform has it already."""
        serving = _Serving(self._call, run, agent, self._on_error, self._leaving)
        self._serving.add(serving)
        try:
            if self._is_gone:
                serving.abort(RunLostError("the worker stops"))
            return await serving.finish()
        except Exception as error:
            if not isinstance(error, RunLostError):
                self._on_error(error, serving.turn.task_id)
            # Another worker continues at once.
            if self._leaving.is_set():
                name = {"taskId": run.get("taskId", ""), "fence": run.get("fence", 0)}
                with contextlib.suppress(PlatformError):
                    await self._call("Release", name, {"retries": 2})
            return None
        finally:
            self._serving.discard(serving)
            await serving.close()


class _Serving:
    """One run with its heartbeats."""

    def __init__(
        self,
        call: WorkerCalls,
        run: Run,
        agent: Agent,
        on_error: Callable[[BaseException, str], None],
        leaving: asyncio.Event,
    ) -> None:
        self.turn = Turn(call, run, self.abort)
        self._call = call
        self._on_error = on_error
        self._leaving = leaving
        self._agent = agent
        self._working = asyncio.create_task(self._work())
        self._beating = asyncio.create_task(self._beat(run.get("leaseSeconds", 15) / 3))

    def abort(self, reason: BaseException) -> None:
        """The run is over: the agent ends at its next `await`."""
        if self.turn._over is None:
            self.turn._over = reason
            self._working.cancel()

    async def close(self) -> None:
        self.turn._writer.stop()
        for each in (self._working, self._beating):
            each.cancel()
        await asyncio.gather(self._working, self._beating, return_exceptions=True)
        self.turn._over = self.turn._over or RunLostError("the run has ended")

    async def finish(self) -> Run | None:
        """Ends the run. A result that the platform refuses fails the turn: the log has the reason."""
        result = await self._result()
        try:
            return cast("Run | None", (await self._call("Finish", self.turn._ending(result))).get("run"))
        except ApiError as error:
            if error.status != 400:
                raise
            failed = hidden_failure(error)
            self._on_error(error, self.turn.task_id)
            return cast("Run | None", (await self._call("Finish", self.turn._ending(failed))).get("run"))

    async def _work(self) -> TurnResult:
        result = self._agent(self.turn)
        return await result if isinstance(result, Awaitable) else result

    async def _result(self) -> TurnResult:
        """What the agent made of the turn. Raises RunLostError when the run is over."""
        await asyncio.wait({self._working})
        if self.turn._over is not None:
            raise self.turn._over
        if self.turn._suspended is not None:
            return self.turn._suspended.ending
        error = None if self._working.cancelled() else self._working.exception()
        if error is None and not self._working.cancelled():
            return self._working.result()
        error = error or RuntimeError("the agent has cancelled its own task")
        if isinstance(error, TurnFailure):
            _log.info("task %s: the agent ends it with %s: %s", self.turn.task_id, error.error_type, error)
            return failure_of(error)
        # A signal to the process ends the agent's own processes too: another worker does better.
        failed = None if self._leaving.is_set() else hidden_failure(error)
        self._on_error(error, self.turn.task_id)
        if failed is None:
            raise RunLostError("the worker stops") from error
        return failed

    async def _beat(self, seconds: float) -> None:
        """Renews the lease, and ends the run when it belongs to another worker or is stopped."""
        name = {"taskId": self.turn.task_id, "fence": self.turn.run.get("fence", 0)}
        known = 0
        try:
            while True:
                await asyncio.sleep(seconds)
                answer = await self._call("Heartbeat", name)
                messages = answer.get("newMessages", [])
                self.turn.new_messages.extend(messages[known:])
                known = len(messages)
                if answer.get("stop"):
                    return self.abort(RunLostError(f"the run is over: {answer['stop']}"))
        except Exception as error:
            self.abort(error)
