"""Refuses to build the package of a clone without the modules that the set-up of the clone makes."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedModules(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not (Path(self.root) / "src/agent_task_platform/types/v2.py").exists():
            raise SystemExit("agent-task-platform: this clone does not have the generated modules yet: run ./atp client first")
