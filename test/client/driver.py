"""Drives the Python clients for the tests: reads commands from standard input, one JSON object a line, and writes one answer for each.

`{"id", "make": "Client", "kwargs"}` makes a client. `{"id", "on", "path", "args", "kwargs"}` calls a method of an object; `"all"` collects
what it yields. What is no JSON stays here, and its number is the answer. Coroutines run on one loop, other calls in threads.
"""

from __future__ import annotations

import asyncio
import inspect
import io
import itertools
import json
import os
import pathlib
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import agent_task_platform as sdk
import httpx

objects: dict[int, Any] = {}
numbers = itertools.count(1)


def kept(value: Any) -> dict[str, int]:
    number = next(numbers)
    objects[number] = value
    return {"$ref": number}


def to_json(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {name: to_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(each) for each in value]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (sdk.UploadProgress, sdk.Tokens, sdk.Begun, sdk.Mistake)):
        return vars(value)
    return kept(value)


def from_json(value: Any) -> Any:
    """Arguments: `$ref` an object, `$bytes` hex, `$path` a path, `$stream` bytes that can be read once, `$file` an open file."""
    if isinstance(value, list):
        return [from_json(each) for each in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$ref": number}:
            return objects[number]
        case {"$bytes": text}:
            return bytes.fromhex(text)
        case {"$path": path}:
            return pathlib.Path(path)
        case {"$stream": text}:
            return iter([bytes.fromhex(text)])
        case {"$file": text}:
            return io.BytesIO(bytes.fromhex(text))
        case {"$type": name}:
            return getattr(sdk, name)
    return {name: from_json(each) for name, each in value.items()}


class Log(list[Any]):
    """A callback that keeps what it was called with."""

    def __call__(self, *args: Any) -> None:
        self.append(to_json(args[0] if len(args) == 1 else list(args)))


class Adapter:
    """An output as a TypeAdapter of pydantic has it, which takes every value."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.json_schema = lambda: schema
        self.validate_json = json.loads


def rewriting(public: str, actual: str, is_async: bool) -> Any:
    """A client of httpx that opens links of the test's platform where it listens."""

    def rewrite(request: httpx.Request) -> None:
        if str(request.url).startswith(public):
            request.url = httpx.URL(str(request.url).replace(public, actual, 1))
            request.headers["host"] = request.url.netloc.decode()

    async def rewrite_later(request: httpx.Request) -> None:
        rewrite(request)

    hooks: Any = {"request": [rewrite_later if is_async else rewrite]}
    return (httpx.AsyncClient if is_async else httpx.Client)(event_hooks=hooks)


def make(name: str, kwargs: dict[str, Any], rewrites: list[str] | None) -> Any:
    if name == "Log":
        return Log()
    if name == "Adapter":
        return Adapter(**kwargs)
    is_async = name.startswith("Async")
    if rewrites:
        kwargs["http_client"] = rewriting(rewrites[0], rewrites[1], is_async)
    if kwargs.pop("still", False):
        pauses: list[float] = []

        async def later(seconds: float) -> None:
            pauses.append(seconds)

        kwargs["sleep"] = later if is_async else pauses.append
        made = getattr(sdk, name)(**kwargs)
        made.pauses = lambda: pauses
        return made
    return getattr(sdk, name)(**kwargs)


async def settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def collected(value: Any, most: int) -> list[Any]:
    """What an iterator yields, synchronous ones in a thread."""
    if not hasattr(value, "__aiter__"):
        return await asyncio.to_thread(lambda: list(itertools.islice(iter(value), most)))
    found: list[Any] = []
    if most == 0:
        return found
    async for each in value:
        found.append(each)
        if len(found) == most:
            break
    return found


async def read_whole(manager: Any) -> bytes:
    if hasattr(manager, "__aenter__"):
        async with manager as parts:
            return b"".join([part async for part in parts])

    def read() -> bytes:
        with manager as parts:
            return b"".join(parts)

    return await asyncio.to_thread(read)


async def run(command: dict[str, Any]) -> Any:
    args, kwargs = from_json(command.get("args", [])), from_json(command.get("kwargs", {}))
    if "make" in command:
        return kept(make(command["make"], kwargs, command.get("rewrites")))
    if "read" in command:
        return list(objects[command["read"]])
    target = objects[command["on"]] if "on" in command else sdk
    for name in command["path"].split("."):
        target = getattr(target, name)
    is_sync = not (inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target))
    # A call that blocks must not stop the loop. What is returned at once, such as an iterator, does no harm in a thread.
    value = await asyncio.to_thread(lambda: target(*args, **kwargs)) if is_sync else target(*args, **kwargs)
    if command.get("whole"):
        return to_json(await read_whole(value))
    if "all" in command:
        return to_json(await collected(value, command["all"]))
    return to_json(value if command.get("lazy") else await settled(value))


def refusal(error: BaseException) -> dict[str, Any]:
    known = ("code", "status", "param", "request_id", "retry_after", "doc_url", "operation", "type", "task_id")
    fields = {name: getattr(error, name) for name in known if getattr(error, name, None) is not None}
    details = [to_json(each) for each in getattr(error, "details", ())]
    return {"name": type(error).__name__, "message": str(error), "details": details, **fields}


async def serve() -> None:
    # Each call of the synchronous client blocks a thread.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(100))
    running: set[asyncio.Task[None]] = set()
    lines = asyncio.StreamReader(limit=64 * 1024 * 1024)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def answer(command: dict[str, Any]) -> None:
        try:
            reply: dict[str, Any] = {"value": await run(command)}
        except Exception as error:
            if not isinstance(error, (sdk.PlatformError, ValueError, LookupError, asyncio.TimeoutError)):
                traceback.print_exc()
            reply = {"error": refusal(error)}
        print(json.dumps({"id": command["id"], **reply}), flush=True)

    while line := await lines.readline():
        task = asyncio.create_task(answer(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)
    # Calls in threads may still be held.
    os._exit(0)


asyncio.run(serve())
