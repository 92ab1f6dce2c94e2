# Made from _async/watch.py by `node scripts/client-types.ts --write`.
"""Watches a task: every event once, in order of `seq`, through lost connections and restarts of the server."""

from __future__ import annotations

from collections.abc import Iterator

from .._core import policy
from .._core.events import WatchEvent, WatchReader
from .._core.policy import Outgoing
from ..errors import ApiConnectionError
from .transport import Transport

# The server sends a comment after 10 s of silence: after 30 s the connection counts as lost.
_SILENCE = 30.0


def watch_task(
    http: Transport,
    task_id: str,
    *,
    after_seq: int = 0,
    until_settled: bool = False,
    deltas: bool = False,
    retries: int = 10,
) -> Iterator[WatchEvent]:
    seq = after_seq
    failures = 0
    reader = WatchReader()
    while True:
        body = {"task_id": task_id, "after_seq": seq, "until_settled": until_settled, "deltas": deltas}
        request = Outgoing("task.watch", "/v2/task.watch", body, False)
        reader.begin()
        try:
            with http.open(request, {}, _SILENCE) as reply:
                if not reply.is_success:
                    raise policy.refusal_of(reply, http.read(reply, "task.watch", _SILENCE), "task.watch")
                # 204: the task is settled, and has no event after this one.
                if reply.status_code == 204:
                    return
                for part in reply.iter_bytes():
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
        http.sleep(policy.backoff(min(failures, 4)) if after is None else after)
        failures += 1
