"""Fixtures of pytest. In conftest.py: `pytest_plugins = ["agent_task_platform.testing.plugin"]`."""

from collections.abc import Iterator
from typing import Any

import pytest

from ._platform import Platform, start_platform


@pytest.fixture(scope="session")
def platform_options() -> dict[str, Any]:
    """The parameters of `start_platform`. A project overrides this fixture."""
    return {}


@pytest.fixture(scope="session")
def _running_platform(platform_options: dict[str, Any]) -> Iterator[Platform]:
    with start_platform(**platform_options) as started:
        yield started


@pytest.fixture
def platform(_running_platform: Platform, request: pytest.FixtureRequest) -> Iterator[Platform]:
    """A server in its first state. All tests of a process share it; its log is shown with a failed test."""
    _running_platform.reset()
    yield _running_platform
    request.node.add_report_section("call", "log of the platform", _running_platform.log())
