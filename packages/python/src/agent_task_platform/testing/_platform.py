"""A server for tests."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

import httpx

from .._sync.client import Client
from ._receiver import Receiver
from ._server import Server, command_of


@dataclass(frozen=True)
class Space:
    """A separate team, with an owner and a member."""

    id: str
    key: str
    client: Client
    member_key: str
    member_client: Client


class Clock:
    """The clock of a server."""

    def __init__(self, platform: "Platform") -> None:
        self._call = platform._call

    def now(self) -> datetime:
        return _time(self._call("clock.read"))

    def advance(self, by: timedelta | None = None, *, seconds: int = 0, minutes: int = 0, hours: int = 0, days: int = 0) -> datetime:
        """Moves forward, at most 400 days. What is due on the way has happened when it returns."""
        total = (by or timedelta()) + timedelta(seconds=seconds, minutes=minutes, hours=hours, days=days)
        return _time(self._call("clock.advance", seconds=math.ceil(total.total_seconds())))

    def to(self, time: datetime) -> datetime:
        """Moves forward to a time."""
        return _time(self._call("clock.advance", to=math.ceil(time.timestamp())))


class Platform:
    """A server for tests. `stop()` ends it, and so does the end of this process."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx.Client(base_url=server.base_url, headers={"x-service-api-key": server.key}, timeout=90)
        self.base_url = server.base_url
        self.key = server.key
        self.client = Client(base_url=self.base_url, api_key=self.key)
        self.clock = Clock(self)

    def _call(self, name: str, /, **request: Any) -> dict[str, Any]:
        reply = self._http.post(f"/v2/test.{name}", json={member: value for member, value in request.items() if value is not None})
        answer: dict[str, Any] = reply.json()
        if not answer.get("ok"):
            raise RuntimeError(f"test.{name}: {answer.get('error', {}).get('message', reply.status_code)}")
        return answer

    def fault(self, fault: str, *, operation: str | None = None, wire: str | None = None, webhook_id: str | None = None) -> None:
        """Arms a fault for later calls or deliveries, such as `status=503; times=2`. A header `X-ATP-Fault` is for one call."""
        self._call("fault", fault=fault, operation=operation, wire=wire, webhook_id=webhook_id)

    def clear_faults(self) -> None:
        """Removes all armed faults."""
        self._call("fault.clear")

    def receiver(self, client: Client | None = None) -> Receiver:
        """A receiver of webhooks that is registered for the first owner, or for the space of a client."""
        return Receiver(client or self.client)

    def space(self, name: str | None = None) -> Space:
        """Creates a team with a separate space."""
        made = self._call("space", name=name)
        key, member_key = made["api_key"], made["member_api_key"]
        clients = [Client(base_url=self.base_url, api_key=each) for each in (key, member_key)]
        return Space(id=made["space_id"], key=key, client=clients[0], member_key=member_key, member_client=clients[1])

    def reset(self) -> None:
        """Returns to the state after the start: data of the fixtures, time and no faults."""
        self._call("reset")

    def log(self) -> str:
        """The last lines of the server's log."""
        return self._server.log()

    def stop(self) -> None:
        self._http.close()
        self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _time(answer: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(answer["now"], UTC)


def start_platform(
    *,
    server: Sequence[str] | None = None,
    seed: str | int | None = None,
    at: datetime | str | None = None,
    fixtures: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Platform:
    """Starts a server for tests on a free port.

    server: the program and its first arguments; by default ATP_SERVER, then `atp` of node_modules.
    seed: decides ids and keys, and stops the time between calls, so that answers are equal in each run.
    at: the time at the start.
    fixtures: a file of calls that are made before the server is ready.
    env: settings, such as AGENT_PROFILES. Of the environment of this process the server gets PATH, HOME, TMPDIR, LANG and NODE_ENV only.
    """
    start = at.isoformat() if isinstance(at, datetime) else at
    return Platform(Server(command_of(server, seed, start, fixtures), env or {}))
