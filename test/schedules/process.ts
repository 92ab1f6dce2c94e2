import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store, Tx } from "../../src/core/store.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import { handleDue } from "../../src/core/use-cases/run-schedules.ts";
import { openStore } from "../../src/store/open.ts";
import { unpublished } from "../support/claims.ts";

/** The moments at which a process can be killed while it handles a due time. */
export type Moment = `${"before" | "after"} ${"claim" | "creation" | "count" | "commit"}` | "notification";

/** Handles what is due at `now`, and kills the process at a moment. */
export interface Look {
  readonly now: number;
  readonly killAt?: Moment | undefined;
}

/** `reached` comes before the kill; `mailed` counts as the mail of a pause. */
export type Reply = "ready" | "reached" | "mailed" | "handled";

/**
 * A process of a platform, of which a test says when it looks for due schedules. Its argument is the URL of
 * its database.
 */
let look: Look = { now: 0 };

const reply = (text: Reply): Promise<void> =>
  new Promise((resolve) => process.send?.(text, undefined, {}, () => resolve()));

/** Does not return when the process must be killed at this moment. */
async function pass(moment: Moment): Promise<void> {
  if (look.killAt !== moment) return;
  await reply("reached");
  process.kill(process.pid, "SIGKILL");
}

async function around<T>(
  step: "claim" | "creation" | "count" | "commit",
  work: () => Promise<T>,
): Promise<T> {
  await pass(`before ${step}`);
  const result = await work();
  await pass(`after ${step}`);
  return result;
}

const watched = (tx: Tx): Tx => ({
  ...tx,
  schedules: {
    ...tx.schedules,
    take: (seen, changes) => around("claim", () => tx.schedules.take(seen, changes)),
    addFailure: (id, error, now) => around("count", () => tx.schedules.addFailure(id, error, now)),
  },
});

async function run(databaseUrl: string): Promise<void> {
  const clock = { ...systemClock, now: () => look.now };
  const opened = await openStore({ databaseUrl, clock, random: systemRandom });
  const store: Store = {
    ...opened,
    async change(work) {
      const result = await opened.change(async (tx) => {
        const done = await work(watched(tx));
        await pass("before commit");
        return done;
      });
      await pass("after commit");
      return result;
    },
  };
  const backlog = { add: () => undefined };
  const creation = tasks({
    clock,
    ids: systemIds,
    backlog,
    steps: taskSteps(clock),
    keepsEvents: true,
    publishTask: unpublished,
  });
  const parts = {
    ...{ store, clock, ids: systemIds },
    tasks: {
      create: (...given: Parameters<typeof creation.create>) =>
        around("creation", () => creation.create(...given)),
    },
    notify() {
      if (look.killAt === "notification") process.kill(process.pid, "SIGKILL");
      void reply("mailed");
    },
  };
  process.on("message", async (next: Look) => {
    look = next;
    for (const id of await store.schedules.due(look.now, 100)) await handleDue(parts, id);
    await reply("handled");
  });
  process.on("disconnect", () => process.exit());
  await reply("ready");
}

await run(process.argv[2] ?? "");
