"""Watches a task: every event once, in order of `seq`, through lost connections and restarts of the server."""

from __future__ import annotations

from collections.abc import AsyncIterator

from .._core import policy
from .._core.events import WatchEvent, WatchReader
from .._core.policy import Outgoing
from ..errors import ApiConnectionError
from .transport import AsyncTransport

# The server sends a comment after 10 s of silence: after 30 s the connection counts as lost.
_SILENCE = 30.0


async def watch_task(
    http: AsyncTransport,
    task_id: str,
    *,
    after_seq: int = 0,
    until_settled: bool = False,
    deltas: bool = False,
    retries: int = 10,
) -> AsyncIterator[WatchEvent]:
    seq = after_seq
    failures = 0
    reader = WatchReader()
    while True:
        body = {"task_id": task_id, "after_seq": seq, "until_settled": until_settled, "deltas": deltas}
        request = Outgoing("task.watch", "/v2/task.watch", body, False)
        reader.begin()
        try:
            async with http.open(request, {}, _SILENCE) as reply:
                if not reply.is_success:
                    raise policy.refusal_of(reply, await http.read(reply, "task.watch", _SILENCE), "task.watch")
                # 204: the task is settled, and has no event after this one.
                if reply.status_code == 204:
                    return
                async for part in reply.aiter_bytes():
                    for event in reader.feed(part):
                        failures = 0
                        if event["type"] != "text_delta":
                            seq = event["seq"]
                        yield event
                    if reader.has_ended:
                        return
                raise ApiConnectionError("the stream was cut: task.watch")
        except Exception as error:
            if not policy.is_transient(error) or failures >= retries:
                raise
            after = policy.retry_after_of(error)
        await http.sleep(policy.backoff(min(failures, 4)) if after is None else after)
        failures += 1
