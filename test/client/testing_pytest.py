"""Tests with the fixture of pytest."""

from agent_task_platform.testing import Platform


def test_first(platform: Platform) -> None:
    platform.client.tasks.create("Hello.").text()
    assert len(platform.client.tasks.list().all(10)) == 1


def test_second_has_the_first_state(platform: Platform) -> None:
    assert platform.client.tasks.list().all(10) == []
