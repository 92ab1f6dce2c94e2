"""Agents for the tests of the worker in Python. The first word of the message says which; standard output has what they saw, as JSON lines."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx

from agent_task_platform.worker import Answer, RunLostError, Turn, TurnFailure, TurnResult, Worker

ACTUAL = os.environ["ATP_URL"]
steps = 0


def show(**values: Any) -> None:
    print(json.dumps(values), flush=True)


async def work(turn: Turn) -> TurnResult:
    global steps
    show(agent=turn.text, memo=turn.memo, claim=turn.run.get("claim"))
    match turn.text.split(" ")[0]:
        case "answer":
            turn.use(input_tokens=10, output_tokens=1)
            await turn.think("thought", "Let me see.")
            turn.use(input_tokens=5, tool_calls=1)
            ids = [await turn.upload("small.txt", "Hello"), await turn.upload("large.txt", b"A" * 1_200_000)]
            return Answer(f"You wrote {turn.text}", ids, {"words": 2})
        case "chairs":
            await turn.say("begin", f"About {turn.text}")

            def draw() -> int:
                global steps
                steps += 1
                return steps

            drawn = await turn.once("draw", {"tool": "dice", "brief": "Drew"}, draw)
            colour = await turn.ask("Which colour?", options=["red", "blue"])
            size = await turn.ask("Which size?")
            await turn.say("size", "Now I know.")
            return f"{turn.text}: {colour}, {size}, {drawn}"
        case "approvals":
            kept: list[str] = []
            try:
                kept.append(str((await turn.confirm("terminalExecute", params={"command": "ls"}))["accepted"]))
                kept.append(await turn.ask("Which folder?"))
                kept.append(str((await turn.confirm("deployAction"))["accepted"]))
            except BaseException:
                await turn.say("after", "The agent has caught it.")
                return "caught"
            return " ".join(kept)
        case "memo":
            return f"got {await turn.ask('Yes?', memo={'place': 3})}" if turn.memo is None else f"done with {turn.memo}"
        case "parent":
            ids = [await turn.start_subtask("owls", "count owls"), await turn.start_subtask("bats", "count bats")]
            ended = await turn.wait_for_subtasks()
            said = [f"{each.get('said')} {each.get('taskId') in ids}" for each in ended.get("subtasks", [])]
            return f"{ended.get('reason')}: {', '.join(said)}"
        case "count":
            return f"{turn.text} done"
        case "plain":
            raise ValueError("out of paper")
        case "own":
            raise TurnFailure("quota_limit", "no credits")
        case "nothing":
            return ""
        case "write":
            turn.write("one 🦉 ")
            turn.write("two")
            await asyncio.to_thread(sys.stdin.readline)
            return "one 🦉 two"
        case "hang":
            if turn.run.get("claim", 1) > 1:
                return f"continued by claim {turn.run.get('claim')}"
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                try:
                    await turn.say("late", "late")
                except RunLostError:
                    show(lost=True)
                raise
    return f"echo {turn.text}"


def rewrite_to_actual(request: httpx.Request) -> None:
    if request.url.host == "platform.test":
        request.url = httpx.URL(str(request.url).replace("https://platform.test", ACTUAL, 1))


async def main() -> None:
    async def rewrite(request: httpx.Request) -> None:
        rewrite_to_actual(request)

    worker = Worker(
        base_url=ACTUAL,
        concurrency=2,
        drain=float(os.environ.get("DRAIN", "5")),
        on_error=lambda error, task: show(error=str(error), notes=" ".join(getattr(error, "__notes__", []))),
        http_client=httpx.AsyncClient(event_hooks={"request": [rewrite]}),
    )
    await worker.run([], work)


asyncio.run(main())
