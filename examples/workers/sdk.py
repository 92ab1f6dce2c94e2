"""An agent by the worker SDK of packages/python. It follows the first word of the message, as `./atp worker-check` expects.

ATP_URL=http://localhost:8080 WORKER_KEY=wk-… PYTHONPATH=packages/python/src python3 examples/workers/sdk.py
"""
import asyncio, os
from agent_task_platform.worker import Answer, Turn, TurnFailure, TurnResult, Worker


async def work(turn: Turn) -> TurnResult:
    word, _, rest = turn.text.partition(" ")
    first, _, second = rest.partition(" ")
    match word:
        case "ask":
            return f"you said {await turn.ask(rest)}"
        case "confirm":
            decision = await turn.confirm(first, params={"text": second})
            return f"{'accepted' if decision['accepted'] else 'refused'} {second}"
        case "file":
            return Answer(f"here is {first}", upload_ids=[await turn.upload(first, second)])
        case "fail":
            raise TurnFailure("internal", rest)
        case "sleep":
            await asyncio.sleep(float(rest))
            return f"slept {rest}"
        case "work" | "slow":
            await steps(turn, int(rest), 1 if word == "slow" else 0)
            return f"did {rest} steps"
    answer = rest if word == "echo" else turn.text
    for piece in answer.split(" "):
        turn.write(f"{piece} ")  # word by word, as a model writes
    return answer


async def steps(turn: Turn, count: int, seconds: float) -> None:
    """Writes a plan, a tool and progress. Keys depend on the step only, and `once` skips the steps of a lost run."""
    for step in range(1, count + 1):
        titles = [(f"Step {n}", "done" if n <= step else "todo") for n in range(1, count + 1)]
        await turn.plan(f"step-{step}.plan", [{"title": title, "status": status} for title, status in titles])

        async def counted() -> int:
            await asyncio.sleep(seconds)
            return step

        await turn.once(f"step-{step}.tool", {"tool": "counter", "brief": f"Counted to {step}"}, counted)
        await turn.say(f"step-{step}", f"step {step} of {count}")


profiles = os.environ.get("PROFILES", "").split(",")
asyncio.run(Worker(base_url=os.environ.get("ATP_URL", "http://localhost:8080")).run(profiles, work))
