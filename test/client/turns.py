"""An agent in `test_turn`: prints what it did."""

import asyncio
import json

from agent_task_platform.worker import Answer, Turn, TurnFailure, TurnResult, test_turn

runs = 0
steps = 0


async def agent(turn: Turn) -> TurnResult:
    global runs
    runs += 1
    await turn.say("begin", f"read {turn.text}")
    content = (await turn.read(turn.messages[0]["files"][0])).decode()
    title = await turn.ask("Which title?")

    def count() -> int:
        global steps
        steps += 1
        return len(content)

    counted = await turn.once("count", {"tool": "count", "brief": "Counted"}, count)
    decision = await turn.confirm("terminalExecute", description="Write")
    if not decision["accepted"]:
        raise TurnFailure("refused", "Nothing was written.")
    await turn.start_subtask("owls", "count owls")
    ended = await turn.wait_for_subtasks()
    upload = await turn.upload(f"{title}.md", content)
    return Answer(f"{title} {counted} {ended['reason']} {decision['input']['always_allow']}", upload_ids=[upload])


async def failing(turn: Turn) -> TurnResult:
    raise ValueError("my bug")


async def main() -> None:
    files = {"n.txt": b"hello"}
    decision = {"accepted": True, "input": {"accept": True, "always_allow": True}}
    ended = {"mode": "all", "reason": "ended", "subtasks": []}
    turn = await test_turn(agent, "notes", files=files, answers=["b", decision, ended])
    shown = {
        "text": turn.text,
        "waits": [name for each in turn.waits for name in each],
        "runs": runs,
        "steps": steps,
        "keys": [event["key"] for event in turn.events],
        "subtasks": turn.subtasks,
        "upload": turn.uploads["upload_1"][1].decode(),
    }
    refused = await test_turn(agent, "notes", files=files, answers=["b", {"accepted": False}])
    errors = {}
    for name, each in (("bug", failing), ("missing", agent)):
        try:
            await test_turn(each, "notes", files=files)
        except (ValueError, LookupError) as error:
            errors[name] = str(error)
    print(json.dumps({**shown, "refused": refused.ending["fail"]["content"], **errors}))


asyncio.run(main())
