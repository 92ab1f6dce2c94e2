import { setTimeout as delay } from "node:timers/promises";
import { Flaw } from "../flaw.ts";
import { toldLostAt } from "../laws.ts";
import type { Stage } from "../stage.ts";
import { stepLines } from "../transcript.ts";
import type { Check } from "./check.ts";

/** A worker hears of a stop by the Heartbeat that it sends every third of its lease. */
const hearsWithin = 6;
/** The longest that a Poll is held. */
const pollSeconds = 30;

/** What comes between a run and its end. */
export const troubleChecks: readonly Check[] = [
  {
    name: "heartbeat",
    about: "`sleep 12` says nothing for 12 s: Heartbeats keep the run, and it finishes with `slept 12`",
    async run(stage) {
      stage.start();
      const id = await stage.create("sleep 12");
      await stage.reach(id, "stopped", 12 + stage.patience);
      await stage.ends(id, ["running", "result: slept 12", "stopped"]);
    },
  },
  {
    name: "stop",
    about: "the user stops a task while the worker is busy with it: the worker drops it, and takes the next one",
    async run(stage) {
      stage.start();
      const id = await stage.create("sleep 60");
      await taken(stage, id);
      await stage.platform.user("task.stop", { task_id: id });
      await takesNext(stage, "The user stopped the task");
    },
  },
  {
    name: "message",
    about: "a message that comes while the worker is busy is answered before the task stops",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 3");
      await stage.said(id, "progress: step 1 of 3");
      await stage.send(id, "echo and this");
      await stage.reach(id, "stopped", hearsWithin + stage.patience);
      await stage.ends(id, ["running", ...stepLines(3), "result: did 3 steps", "result: and this", "stopped"]);
    },
  },
  {
    name: "lost",
    about: "the run is given to another: the worker writes nothing more in it, and takes the next one",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 30");
      await stage.said(id, "progress: step 1 of 30");
      await stage.takeAway(id);
      await takesNext(stage, "The run was given to another");
      const [run] = stage.proxy.calls.flatMap(({ handed }) => (handed?.taskId === id ? [handed] : []));
      if (run && toldLostAt(stage.proxy.calls, run) === Infinity)
        throw new Flaw("The run was given to another, and the worker did not find out: send a Heartbeat while there is nothing to append.");
    },
  },
  {
    name: "kill",
    about: "SIGKILL in the middle: another process of the worker goes on, with nothing lost or doubled",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 4");
      await stage.said(id, "progress: step 2 of 4");
      first.kill();
      await stage.gone(first);
      stage.start();
      await stage.lapse();
      await stage.ends(id, ["running", ...stepLines(4), "result: did 4 steps", "stopped"]);
    },
  },
  {
    name: "late",
    about: "the worker stands still until its lease is over, and comes back while another goes on: it drops the run, nothing is doubled",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 5");
      await stage.said(id, "progress: step 2 of 5");
      first.freeze();
      stage.start();
      await stage.lapse();
      await stage.said(id, "progress: step 3 of 5");
      first.thaw();
      await stage.ends(id, ["running", ...stepLines(5), "result: did 5 steps", "stopped"]);
      await stage.ends(await stage.create("echo next"), ["running", "result: next", "stopped"]);
    },
  },
  {
    name: "repeat",
    about: "the answers of an Append and of a Finish are lost: what was sent is sent again, with the same keys",
    async run(stage) {
      stage.start();
      stage.proxy.loseAnswer("Append");
      stage.proxy.loseAnswer("Finish");
      const id = await stage.create("work 2");
      await stage.ends(id, ["running", ...stepLines(2), "result: did 2 steps", "stopped"]);
      await stage.ends(await stage.create("echo next"), ["running", "result: next", "stopped"]);
    },
  },
  {
    name: "restart",
    about: "the platform is away for a moment, in a run and between runs: the worker waits, and goes on",
    async run(stage) {
      stage.start();
      const id = await stage.create("slow 3");
      await stage.said(id, "progress: step 1 of 3");
      await restart(stage);
      await stage.ends(id, ["running", ...stepLines(3), "result: did 3 steps", "stopped"]);
      await restart(stage);
      await stage.ends(await stage.create("echo back"), ["running", "result: back", "stopped"]);
    },
  },
  {
    name: "drain",
    about: "SIGTERM in the middle: the worker finishes its run or gives it back, and ends; another goes on at once",
    async run(stage) {
      const first = stage.start();
      const id = await stage.create("slow 4");
      await stage.said(id, "progress: step 1 of 4");
      first.terminate();
      await stage.gone(first);
      const { status, nodeId } = await stage.task(id);
      if (status === "running" && nodeId !== null)
        throw new Flaw(
          "The worker ended at SIGTERM with its run in hand, so that it lies there until its lease is over: call Release before.",
        );
      stage.start();
      await stage.ends(id, ["running", ...stepLines(4), "result: did 4 steps", "stopped"]);
    },
  },
  {
    name: "revoked",
    about: "the credential is revoked: the worker ends, or asks again only now and then",
    async run(stage) {
      stage.start();
      await stage.ends(await stage.create("echo before"), ["running", "result: before", "stopped"]);
      await stage.platform.revoke();
      await stage.until(
        () => "The credential was revoked, and the worker has not called since.",
        () => stage.proxy.calls.some(({ status }) => status === 401),
        pollSeconds + stage.patience,
      );
      await delay(2000);
    },
  },
];

/** Waits until the worker has the task. */
const taken = (stage: Stage, id: string) =>
  stage.until(
    () => `A task was there, and no Poll took it within ${stage.patience} s. Poll for the profiles of PROFILES, or for all.`,
    () => stage.proxy.calls.some(({ handed, answeredAt }) => handed?.taskId === id && answeredAt !== null),
  );

/** @param what happened to the run that the worker had. */
async function takesNext(stage: Stage, what: string): Promise<void> {
  const id = await stage.create("echo next");
  const seconds = hearsWithin + stage.patience;
  await stage.until(
    () =>
      `${what}, and ${seconds} s later the worker has not done the next one. Drop the run when a Heartbeat answers \`stop\`, or a call is refused naming the fence; then Poll.`,
    async () => (await stage.task(id)).status === "stopped",
    seconds,
  );
}

async function restart({ proxy, platform }: Stage): Promise<void> {
  proxy.away("cut");
  await platform.stop();
  await delay(1500);
  await platform.start();
  proxy.away("unavailable");
  await delay(1000);
  proxy.back();
}
