import { setTimeout as delay } from "node:timers/promises";
import { lossNoticedAt, retriesTooOften } from "../rules.ts";
import type { Stage } from "../stage.ts";
import { stepLines } from "../transcript.ts";
import { WorkerError } from "../worker-error.ts";
import type { Check } from "./check.ts";

/** Seconds until a worker learns of a stop: it sends a Heartbeat every third of its lease. */
export const stopNoticeSeconds = 6;
/** The longest time in seconds that a Poll is held. */
const pollSeconds = 30;

/** Checks of faults during a run. */
export const faultChecks: readonly Check[] = [
  {
    name: "heartbeat",
    about: "`sleep 12` sends no events for 12 s: Heartbeats keep the run, and it finishes with `slept 12`",
    async run(stage) {
      stage.start();
      const id = await stage.create("sleep 12");
      await stage.waitForStatus(id, "stopped", 12 + stage.patience);
      await stage.expectEnd(id, ["running", "result: slept 12", "stopped"]);
    },
  },
  {
    name: "stop",
    about:
      "the user stops a task while the worker runs it: the worker drops the run and claims the next task",
    async run(stage) {
      stage.start();
      const id = await stage.create("sleep 60");
      await waitForClaim(stage, id);
      await stage.platform.user("task.stop", { task_id: id });
      await expectNextClaimed(stage, "The user stopped the task");
    },
  },
  {
    name: "message",
    about: "a message that arrives while the worker is busy is answered before the task stops",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 3");
      await stage.waitForLine(id, "progress: step 1 of 3");
      await stage.send(id, "echo and this");
      await stage.waitForStatus(id, "stopped", stopNoticeSeconds + stage.patience);
      await stage.expectEnd(id, [
        "running",
        ...stepLines(3),
        "result: did 3 steps",
        "result: and this",
        "stopped",
      ]);
    },
  },
  {
    name: "lost",
    about:
      "the run is assigned to another worker: the worker writes no more events in it and claims the next task",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 30");
      await stage.waitForLine(id, "progress: step 1 of 30");
      await stage.reassign(id);
      await expectNextClaimed(stage, "The run was assigned to another worker");
      const [run] = stage.proxy.calls.flatMap(({ assigned }) =>
        assigned.filter(({ taskId }) => taskId === id),
      );
      if (run && lossNoticedAt(stage.proxy.calls, run) === Infinity)
        throw new WorkerError(
          "The run was assigned to another worker, and the worker did not notice: send Heartbeats while there is nothing to append.",
        );
    },
  },
  {
    name: "kill",
    about:
      "SIGKILL during a run: another process of the worker continues it, and no event is lost or duplicated",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 4");
      await stage.waitForLine(id, "progress: step 2 of 4");
      first.kill();
      await stage.waitForExit(first);
      stage.start();
      await stage.expireLeases();
      await stage.expectEnd(id, ["running", ...stepLines(4), "result: did 4 steps", "stopped"]);
    },
  },
  {
    name: "late",
    about:
      "the worker freezes until its lease ends, and resumes while another process continues the run: it drops the run, and no event is duplicated",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 5");
      await stage.waitForLine(id, "progress: step 2 of 5");
      stage.suspend(first);
      stage.start();
      await stage.expireLeases();
      await stage.waitForLine(id, "progress: step 3 of 5");
      first.resume();
      await stage.expectEnd(id, ["running", ...stepLines(5), "result: did 5 steps", "stopped"]);
      await stage.expectEnd(await stage.create("echo next"), ["running", "result: next", "stopped"]);
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
      const id = await stage.create("work 2");
      await stage.expectEnd(id, ["running", ...stepLines(2), "result: did 2 steps", "stopped"]);
      await stage.expectEnd(await stage.create("echo next"), ["running", "result: next", "stopped"]);
    },
  },
  {
    name: "restart",
    about: "the platform is briefly unavailable, in a run and between runs: the worker waits and continues",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 3");
      await stage.waitForLine(id, "progress: step 1 of 3");
      await restart(stage);
      await stage.expectEnd(id, ["running", ...stepLines(3), "result: did 3 steps", "stopped"]);
      await restart(stage);
      await stage.expectEnd(await stage.create("echo back"), ["running", "result: back", "stopped"]);
    },
  },
  {
    name: "drain",
    about:
      "SIGTERM during a run: the worker finishes or releases its run and exits; another process continues immediately",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 4");
      await stage.waitForLine(id, "progress: step 1 of 4");
      first.terminate();
      await stage.waitForExit(first);
      const { status, nodeId } = await stage.task(id);
      if (status === "running" && nodeId !== null)
        throw new WorkerError(
          "The worker exited on SIGTERM without releasing its run, which waits until its lease ends: call Release before exiting.",
        );
      stage.start();
      await stage.expectEnd(id, ["running", ...stepLines(4), "result: did 4 steps", "stopped"]);
    },
  },
  {
    name: "revoked",
    about: "the credential is revoked: the worker exits, or retries rarely",
    async run(stage) {
      stage.start();
      await stage.expectEnd(await stage.create("echo before"), ["running", "result: before", "stopped"]);
      await expectRefusedRarely(stage);
    },
  },
];

/**
 * Revokes the credential, and waits until the worker exits or has had time to retry too often. @throws
 * WorkerError if it makes no call.
 */
export async function expectRefusedRarely(stage: Stage): Promise<void> {
  await stage.platform.revoke();
  const refused = () => stage.proxy.calls.filter(({ status }) => status === 401);
  await stage.waitUntil(
    () => "The credential was revoked, and the worker has made no call since then.",
    () => refused().length > 0,
    pollSeconds + stage.patience,
  );
  // The whole time of patience: on a busy machine one call of a worker that does not wait can take seconds.
  const deadline = performance.now() + stage.patience * 1000;
  while (stage.deaths.length === 0 && !retriesTooOften(refused()) && performance.now() < deadline)
    await delay(50);
}

/** Waits until the worker has claimed the task. */
const waitForClaim = (stage: Stage, id: string) =>
  stage.waitUntil(
    () =>
      `A task was available, and no Poll claimed it within ${stage.patience} s. Poll for the profiles in PROFILES, or for all.`,
    () =>
      stage.proxy.calls.some(
        ({ assigned, answeredAt }) => assigned.some(({ taskId }) => taskId === id) && answeredAt !== null,
      ),
  );

/**
 * Expects the worker to run another task. @param what describes what happened to the worker's previous run.
 */
async function expectNextClaimed(stage: Stage, what: string): Promise<void> {
  const id = await stage.create("echo next");
  const seconds = stopNoticeSeconds + stage.patience;
  await stage.waitUntil(
    () =>
      `${what}, and ${seconds} s later the worker has not run the next task. Drop the run if a Heartbeat returns \`stop\` or a call is refused because of the fence; then Poll.`,
    async () => (await stage.task(id)).status === "stopped",
    seconds,
  );
}

/** Stops the platform for a few seconds. */
export async function restart({ proxy, platform }: Stage): Promise<void> {
  proxy.makeUnavailable("cut");
  await platform.stop();
  await delay(1500);
  await platform.start();
  proxy.makeUnavailable("unavailable");
  await delay(1000);
  proxy.restore();
}
