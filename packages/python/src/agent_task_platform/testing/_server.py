"""The process of a server for tests."""

import json
import os
import shlex
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


# Settings of the tested program, such as its DATABASE_URL, are not for this server.
_passed = ("PATH", "HOME", "TMPDIR", "LANG", "NODE_ENV", "NODE_COMPILE_CACHE", "SystemRoot")


class Server:
    """A process of `atp serve --test`. It ends with this process, also when that is killed: its standard input ends then."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env={**{name: value for name, value in os.environ.items() if name in _passed}, "PORT": "0", **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: deque[str] = deque(maxlen=200)
        threading.Thread(target=self._keep_log, daemon=True).start()
        ready = self._read_ready()
        self.base_url: str = ready["base_url"]
        self.key: str = ready["api_key"]

    def _keep_log(self) -> None:
        for line in self._process.stderr or []:
            self._lines.append(line.rstrip())

    def _read_ready(self) -> dict[str, Any]:
        for line in self._process.stdout or []:
            if '"base_url"' in line:
                ready: dict[str, Any] = json.loads(line)
                return ready
        code = self._process.wait()
        raise RuntimeError(f"the server ended with {code} before it was ready:\n{self.log()}")

    def log(self) -> str:
        """The last lines of its log."""
        return "\n".join(self._lines)

    def stop(self) -> None:
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()


def command_of(
    server: Sequence[str] | None,
    seed: str | int | None,
    at: str | None,
    fixtures: str | os.PathLike[str] | None,
) -> list[str]:
    """The command of a server. Raises RuntimeError when there is none."""
    command = [*(server or _find_server()), "serve", "--test", "--attached"]
    for flag, value in (("--seed", seed), ("--at", at), ("--fixtures", fixtures)):
        if value is not None:
            command += [flag, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
    return command


def _find_server() -> list[str]:
    named = os.environ.get("ATP_SERVER")
    if named:
        return shlex.split(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        program = folder / "node_modules" / ".bin" / "atp"
        if program.exists():
            return [str(program)]
    raise RuntimeError(
        "no server was found: install agent-task-platform into node_modules, set ATP_SERVER, or pass server=['./atp']"
    )
