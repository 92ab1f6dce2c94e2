"""The story of testing.test.ts in Python."""

from datetime import UTC, datetime

from agent_task_platform.testing import start_platform

with start_platform(at="2030-01-01T00:00:00Z", env={"DRAIN_SECONDS": "1"}) as platform:
    assert platform.clock.now() < datetime(2030, 1, 1, 0, 5, tzinfo=UTC)
    with platform.receiver() as receiver:
        task = platform.client.tasks.create("[[sleep 3600]] [[say Done.]]")
        assert platform.clock.advance(hours=2) >= datetime(2030, 1, 1, 2, tzinfo=UTC)
        assert receiver.wait_for("task_stopped")["task_detail"]["task_id"] == task.id
        platform.fault("bad-signature", webhook_id=receiver.webhook_id)
        platform.client.tasks.create("Hello.")
        platform.clock.advance(seconds=1)
        assert (len(receiver.invalid), len(receiver.events)) == (1, 3)
    platform.fault("status=503; times=2", operation="task.list")
    assert platform.space("Acme").member_client.tasks.list().all(10) == []
    platform.reset()
    assert platform.client.tasks.list().all(10) == []
    try:
        platform.fault("statsu=503")
    except RuntimeError as error:
        assert "did you mean status?" in str(error)
    else:
        raise AssertionError("an unknown word was accepted")
print("passed")
