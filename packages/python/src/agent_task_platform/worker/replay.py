"""What the turns before a question leave for the run that has its answer.

The agent's function runs again from its beginning: what it has done already is not done again. The memo has the form of the worker
SDK for TypeScript.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ..types.worker import Decision, EndedWait, HistoryEntry, Message, Run

# The member under which the past is in the memo.
_PAST = "$past"
# The largest memo that the server takes, as JSON (`worker.v1.Ask.memo`).
_MEMO_BYTES = 65_536


class Past(TypedDict):
    counts: list[int]
    """The number of user messages in each earlier turn, oldest first. The texts are in the history."""
    keys: list[str]
    """Keys of events that those turns have written."""
    results: dict[str, Any]
    """Results of steps, by their keys."""
    decisions: list[Decision]
    waits: list[EndedWait]


def _nothing() -> Past:
    return {"counts": [], "keys": [], "results": {}, "decisions": [], "waits": []}


@dataclass(frozen=True)
class Replay:
    """A run as the agent sees it: the turns before its questions are part of it."""

    messages: Sequence[Message]
    """The messages that began the work."""
    history: Sequence[HistoryEntry]
    """What happened before those messages."""
    memo: Any = None
    """The agent's own memo."""
    answers: Sequence[str] = ()
    """The answers to its questions so far, in order."""
    past: Past = field(default_factory=_nothing)


def text_of(messages: Iterable[Message]) -> str:
    return "\n".join(message.get("content", "") for message in messages)


def replay_of(run: Run) -> Replay:
    messages, history, memo = run.get("messages", []), run.get("history", []), run.get("memo")
    if not isinstance(memo, dict) or _PAST not in memo:
        return Replay(messages, history, memo)
    past: Past = memo[_PAST]
    own = memo.get("memo")
    turns = _earlier_turns(history, past["counts"])
    if turns is None:
        return Replay(messages, history, own)
    before, earlier = turns
    first, *answered = [*earlier, messages]
    return Replay(first, before, own, [text_of(each) for each in answered], past)


def _earlier_turns(
    history: Sequence[HistoryEntry], counts: Sequence[int]
) -> tuple[Sequence[HistoryEntry], list[list[Message]]] | None:
    """The user's messages of the earlier turns; None when the history has lost some."""
    places = [at for at, entry in enumerate(history) if entry.get("role") == "user"]
    begin = len(places) - sum(counts)
    if begin < 0:
        return None
    before = history[: places[begin] if begin < len(places) else len(history)]
    turns: list[list[Message]] = []
    for count in counts:
        entries = [history[at] for at in places[begin : begin + count]]
        turns.append([{"content": entry.get("content", ""), "files": entry.get("files", [])} for entry in entries])
        begin += count
    return before, turns


def memo_of(past: Past, own: Any) -> Any:
    """The memo of an ending; None without one. Raises ValueError when it is larger than the server takes."""
    memo = {_PAST: past, **({} if own is None else {"memo": own})} if past["counts"] else own
    if memo is None:
        return None
    size = len(json.dumps(memo, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if size > _MEMO_BYTES:
        raise ValueError(f"the state of the turn has {size} bytes; at most {_MEMO_BYTES} are kept over a question or an approval")
    return memo


def past_after(replay: Replay, run: Run, keys: Iterable[str], results: Mapping[str, Any]) -> Past:
    """The past after this turn has ended with a question."""
    past = replay.past
    return {
        "counts": [*past["counts"], len(run.get("messages", []))],
        "keys": list(dict.fromkeys([*past["keys"], *keys])),
        "results": {**past["results"], **results},
        "decisions": [*past["decisions"], *map(_without_secrets, run.get("decisions", []))],
        "waits": [*past["waits"], *run.get("waits", [])],
    }


def _without_secrets(decision: Decision) -> Decision:
    """Secrets that a user has entered are not written into the memo."""
    if decision.get("kind") != "webdevRequestSecrets":
        return decision
    kept: Decision = {"kind": "webdevRequestSecrets", "accepted": decision.get("accepted", False)}
    return kept
