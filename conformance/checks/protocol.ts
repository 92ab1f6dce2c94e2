import { setTimeout as delay } from "node:timers/promises";
import { lossNoticedAt } from "../rules.ts";
import type { Stage } from "../stage.ts";
import { createUnderWay, expectNoRepeats, type RealAgent, settle } from "../turns.ts";
import { WorkerError } from "../worker-error.ts";
import type { Check } from "./check.ts";
import { expectRefusedRarely, restart, stopNoticeSeconds } from "./faults.ts";

/**
 * Checks of a worker with a real agent. They know nothing of what the agent does: each turn must end, and the
 * laws of the protocol hold in every situation (`rules.ts`).
 */
export function protocolChecks(agent: RealAgent): readonly Check[] {
  const finish = (stage: Stage, id: string) => settle(stage, agent, id);
  /** Works on one more task: the worker has recovered. */
  const expectNextTask = async (stage: Stage): Promise<void> =>
    finish(stage, await stage.create(agent.message));
  return [
    {
      name: "turn",
      about: "two turns of one task end with an answer; questions are answered, and actions are accepted",
      async run(stage) {
        stage.start();
        const id = await stage.create(agent.message);
        await finish(stage, id);
        await stage.send(id, agent.message);
        await finish(stage, id);
      },
    },
    {
      name: "message",
      about: "a message arrives during a run: the task ends after a turn that has answered it",
      async run(stage) {
        stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        await stage.send(id, agent.message);
        release();
        await finish(stage, id);
      },
    },
    {
      name: "stop",
      about: "the user stops a task during a run: the worker drops the run and works on the next task",
      async run(stage) {
        stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        await stage.platform.user("task.stop", { task_id: id });
        release();
        await expectNextTask(stage);
      },
    },
    {
      name: "lost",
      about:
        "the run is assigned to another worker: the worker notices, drops the run and works on the next task",
      async run(stage) {
        stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        await stage.reassign(id);
        release();
        await expectLossNoticed(stage, id, agent);
        await expectNextTask(stage);
      },
    },
    {
      name: "kill",
      about:
        "SIGKILL during a run: another process continues it, the task ends, and no event is repeated under another key",
      async run(stage) {
        const first = stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        first.kill();
        await stage.waitForExit(first);
        release();
        const { lastSeq } = await stage.task(id);
        stage.start();
        await stage.expireLeases();
        await finish(stage, id);
        await expectNoRepeats(stage, id, lastSeq);
      },
    },
    {
      name: "late",
      about:
        "the worker freezes until its lease ends, and resumes while another process continues: it drops the run",
      async run(stage) {
        const first = stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        stage.suspend(first);
        stage.start();
        await stage.expireLeases();
        release();
        first.resume();
        await finish(stage, id);
        await expectNextTask(stage);
      },
    },
    {
      name: "repeat",
      about:
        "the responses of an Append and of a Finish are lost: the worker sends the same requests again, with the same keys",
      async run(stage) {
        stage.start();
        stage.proxy.dropNextResponse("Append");
        stage.proxy.dropNextResponse("Finish");
        const id = await stage.create(agent.message);
        await finish(stage, id);
        expectRepeated(stage);
        await expectNextTask(stage);
      },
    },
    {
      name: "restart",
      about:
        "the platform is briefly unavailable during a run and between runs: the worker waits and continues",
      async run(stage) {
        stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        release();
        await restart(stage);
        await finish(stage, id);
        await restart(stage);
        await expectNextTask(stage);
      },
    },
    {
      name: "drain",
      about:
        "SIGTERM during a run: the worker finishes or releases its run and exits; another process continues immediately",
      async run(stage) {
        const first = stage.start();
        const { id, release } = await createUnderWay(stage, agent);
        first.terminate();
        release();
        await stage.waitForExit(first, agent.turnSeconds);
        const { status, nodeId } = await stage.task(id);
        if (status === "running" && nodeId !== null)
          throw new WorkerError(
            "The worker exited on SIGTERM without releasing its run, which waits until its lease ends: call Release before exiting.",
          );
        stage.start();
        await finish(stage, id);
      },
    },
    {
      name: "revoked",
      about: "the credential is revoked: the worker exits, or retries rarely",
      async run(stage) {
        stage.start();
        await expectNextTask(stage);
        await expectRefusedRarely(stage);
      },
    },
  ];
}

async function expectLossNoticed({ proxy }: Stage, id: string, { turnSeconds }: RealAgent): Promise<void> {
  const deadline = performance.now() + (stopNoticeSeconds + turnSeconds) * 1000;
  const [run] = proxy.calls.flatMap(({ assigned }) => assigned.filter(({ taskId }) => taskId === id));
  while (run && lossNoticedAt(proxy.calls, run) === Infinity) {
    if (performance.now() > deadline)
      throw new WorkerError(
        "The run was assigned to another worker, and the worker did not notice: send Heartbeats while there is nothing to append.",
      );
    await delay(50);
  }
}

/** Every lost Append was sent again: the same keys are in a later call of its run. */
function expectRepeated({ proxy }: Stage): void {
  for (const [index, { isLost, keys, run }] of proxy.calls.entries()) {
    if (!isLost || keys.length === 0) continue;
    const later = new Set(
      proxy.calls.slice(index + 1).flatMap((call) => (call.run?.fence === run?.fence ? call.keys : [])),
    );
    const missing = keys.find((key) => !later.has(key));
    if (missing !== undefined)
      throw new WorkerError(
        `The response of an Append was lost, and its event with the key ${missing} was not sent again. Repeat the request unchanged: same keys, same content.`,
      );
  }
}
