import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { sample, seed } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Look, Moment, Reply } from "./process.ts";
import { everyMinute, minuteMs, type SchedulesRig, schedulesRig } from "./schedules-rig.ts";

const test = sampledTest(3);

/** A process that handles due schedules when the test says so. */
interface Handler extends Disposable {
  readonly child: ChildProcess;
  readonly replies: Reply[];
  /** Resolves once it has handled what is due, or was killed. */
  look(look: Look): Promise<void>;
  /** Resolves when it gives this reply, or was killed. */
  replied(reply: Reply): Promise<void>;
}

async function startHandler(databaseUrl: string): Promise<Handler> {
  const child = fork(fileURLToPath(new URL("process.ts", import.meta.url)), [databaseUrl], { execArgv: [] });
  const replies: Reply[] = [];
  child.on("message", (reply: Reply) => replies.push(reply));
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  async function replied(reply: Reply): Promise<void> {
    while (!isOver() && !replies.includes(reply))
      await Promise.race([once(child, "message"), once(child, "exit")]);
  }
  await replied("ready");
  return {
    ...{ child, replies, replied },
    async look(look) {
      replies.length = 0;
      child.send(look);
      await replied("handled");
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

type Steps = readonly (readonly [Moment, "succeeds" | "is refused"])[];
/** Each moment of a due time whose task is created, and of one that is refused for the fifth time. */
const moments: Steps = [
  ["before claim", "succeeds"],
  ["after claim", "succeeds"],
  ["before creation", "succeeds"],
  ["after creation", "succeeds"],
  ["before commit", "succeeds"],
  ["after commit", "succeeds"],
  ["after claim", "is refused"],
  ["before count", "is refused"],
  ["after count", "is refused"],
  ["before commit", "is refused"],
  ["after commit", "is refused"],
  ["notification", "is refused"],
];

/** 20 kills in a full run, each moment at least once; a short run has a part of the moments. */
function chosen(database: string): Steps {
  const random = seededRandom(`kills ${database} ${seed}`);
  const shuffled = moments
    .map((row) => ({ row, place: random.below(2 ** 30) }))
    .toSorted((a, b) => a.place - b.place);
  return Array.from(
    { length: sample(20, 2) },
    (_, n) => shuffled[n % shuffled.length]?.row ?? random.pick(moments),
  );
}

/** A schedule that is due in a minute. The refused one names a deleted project, and has failed four times. */
async function dueSchedule(rig: SchedulesRig, outcome: "succeeds" | "is refused"): Promise<string> {
  const ann = await rig.person();
  if (outcome === "succeeds") return rig.create(ann);
  const { body } = await ann.v2("project.create", { name: "Garden" });
  const project_id = body["project"].id;
  const id = await rig.create(ann, { task: { ...everyMinute.task, project_id } });
  await ann.v2("project.delete", { project_id });
  await rig.db.store.change((tx) => tx.schedules.update(id, { failures: 4 }));
  return id;
}

describeOnEach("three processes, of which one is killed while it handles a due time", (database) => {
  const rig = schedulesRig(database);
  const kills = chosen(database);

  test(`handle it once: ${kills.map((kill) => kill.join(", ")).join("; ")}`, {
    timeout: testMs + kills.length * 10_000,
  }, async () => {
    const start = () => startHandler(rig.db.url);
    const handlers: Handler[] = [];
    using _all = { [Symbol.dispose]: () => handlers.forEach((handler) => void handler[Symbol.dispose]()) };
    for (const [killAt, outcome] of kills) {
      const [id, ...started] = await Promise.all([
        dueSchedule(rig, outcome),
        ...Array.from({ length: 3 - handlers.length }, start),
      ]);
      handlers.push(...started);
      rig.clock.step(minuteMs);
      const now = rig.clock.now();
      const [victim, ...others] = handlers.splice(0) as [Handler, ...Handler[]];
      const looking = victim.look({ now, killAt });
      await victim.replied("reached");
      await Promise.all([looking, ...others.map((other) => other.look({ now }))]);
      handlers.push(...others);
      expect(victim.child.signalCode, `killed ${killAt}`).toBe("SIGKILL");
      const mails = others.flatMap(({ replies }) => replies).filter((reply) => reply === "mailed");
      await Promise.all(handlers.map((handler) => handler.look({ now })));

      const row = await rig.db.store.schedules.byId(id);
      const audited = (
        await rowsIn(rig.db.url, `SELECT operation FROM audit_event WHERE credential = 'schedule:${id}'`)
      ).length;
      const isMailLost = killAt === "after commit" || killAt === "notification";
      expect(audited, "audit rows").toBe(1);
      if (outcome === "succeeds") {
        const ids = await rig.taskIds(id);
        expect(ids).toHaveLength(1);
        expect(row).toMatchObject({ lastTaskId: ids[0], failures: 0, status: "active", lastDueAt: now });
      } else {
        expect(row).toMatchObject({ failures: 5, status: "paused", pauseReason: "failures" });
        expect(mails).toHaveLength(isMailLost ? 0 : 1);
      }
      // The next round kills a process at its own schedule.
      await rig.db.store.change((tx) => tx.schedules.remove(id));
    }
  });
});
