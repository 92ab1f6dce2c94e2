import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { depth, sample, seed } from "../support/depth.ts";
import { taskInStore } from "../support/invariants.ts";
import { testMs } from "../support/patience.ts";
import { stillClock } from "../support/still-clock.ts";
import { violationsOfTask } from "../support/task-invariants.ts";
import { createWorker, explain, type Reply, remoteRig, type TestWorker } from "./worker-rig.ts";

/** The worker's process was killed. */
class Killed extends Error {}

/**
 * Where a process of the worker is killed: at its nth call, before the call is sent or when its answer is
 * lost.
 */
interface Kill {
  readonly nth: number;
  readonly isSent: boolean;
}

/** Calls of a task with two subtasks, without kills. */
const calls = 13;
const kills: readonly Kill[] = Array.from({ length: calls * 2 }, (_, i) => ({
  nth: 1 + Math.floor(i / 2),
  isSent: i % 2 === 1,
}));

/** Every kill in a full run, some of them in a short one. */
function chosen(database: string): readonly Kill[] {
  const random = seededRandom(`kills ${database} ${seed}`);
  const shuffled = kills
    .map((kill) => ({ kill, place: random.below(2 ** 30) }))
    .toSorted((a, b) => a.place - b.place);
  return shuffled.slice(0, sample(kills.length, 1)).map(({ kill }) => kill);
}

type Call = (method: string, body?: object) => Promise<Reply["body"]>;

/**
 * Executes one run as a program does that keeps nothing: what is left to do follows from the run. Returns
 * false without a run.
 */
async function workOnce(call: Call): Promise<boolean> {
  const { run } = await call("Poll");
  if (run === undefined) return false;
  const { taskId, fence } = run;
  const ref = { taskId, fence };
  const [{ content }] = run.messages;
  if (content !== "Parent") {
    await call("Append", { ...ref, events: [explain("1", `${content} works`)] });
    await call("Finish", { ...ref, finish: { content: `${content} is done` } });
  } else if (run.waits === undefined) {
    for (const key of ["a", "b"]) await call("StartSubtask", { ...ref, key, message: `Child ${key}` });
    await call("Finish", { ...ref, wait: { mode: "all" } });
  } else {
    const said = run.waits[0].subtasks.map((subtask: { said: string }) => subtask.said).toSorted();
    await call("Append", { ...ref, events: [explain("told", said.join(", "))] });
    await call("Finish", { ...ref, finish: { content: "All done" } });
  }
  return true;
}

describeOnEach("a task whose worker is killed around a wait for subtasks", (database) => {
  // In a short run, the suites of waits have each step of it.
  const deepTest = test.skipIf(depth === "short");
  const clock = stillClock();
  const rig = remoteRig({ database, clock, nodes: nodesOf(database) });
  const isEnded = async (id: string) => (await rig.service.store.tasks.byId(id))?.status === "stopped";

  /** Time passes while the work continues: endings wait for it, and processes look each second. */
  async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const done = work.finally(() => {
      isOver = true;
    });
    done.catch(() => undefined);
    while (!isOver) {
      await clock.advance(1);
      await turn();
    }
    return done;
  }

  /**
   * Works on all runs with processes of which the one at this call is killed. Returns the number of calls.
   */
  async function workThrough(worker: TestWorker, kill: Kill, id: string): Promise<number> {
    let made = 0;
    const call: Call = async (method, body = {}) => {
      made += 1;
      const isLast = made === kill.nth;
      if (isLast && !kill.isSent) throw new Killed();
      const reply = await whileTimePasses(worker.call(method, body));
      if (isLast) throw new Killed();
      if (reply.status !== 200) throw new Error(JSON.stringify(reply));
      if (method === "Poll" && reply.body.run === undefined) made -= 1;
      return reply.body;
    };
    while (!(await isEnded(id))) {
      try {
        // Without a run, a look or the end of a lease is waited for.
        if (!(await workOnce(call))) await clock.advance(1_000);
      } catch (thrown) {
        if (!(thrown instanceof Killed)) throw thrown;
      }
    }
    return made;
  }

  const tree = async (id: string) => {
    const listed = await rig.ann.v2("task.list", { parent_task_id: id });
    return (listed.body["data"] as readonly { readonly id: string; readonly title: string }[]).toSorted(
      (a, b) => a.title.localeCompare(b.title),
    );
  };

  const rows = chosen(database);
  deepTest(
    `ends as without the kill, and writes nothing twice: ${rows.map(({ nth, isSent }) => `${nth}${isSent ? " lost" : ""}`).join(", ")}`,
    {
      timeout: testMs + rows.length * 20_000,
    },
    async () => {
      const worker = await createWorker(rig.service, rig.ann);
      for (const kill of rows) {
        const what = `killed at call ${kill.nth}, ${kill.isSent ? "after" : "before"} it`;
        const id = await rig.create("Parent");
        expect(await workThrough(worker, kill, id), what).toBeGreaterThanOrEqual(calls);
        const subtasks = await tree(id);
        expect(subtasks, what).toMatchObject([
          { title: "Child a", status: "stopped" },
          { title: "Child b", status: "stopped" },
        ]);
        const told = (await rig.events(id)).flatMap(
          ({ explanation, assistant_message: said, tool_used: tool, status_update: update }) => [
            ...[explanation?.content, said?.content, tool?.brief, update?.brief].filter(
              (text) => text !== undefined,
            ),
          ],
        );
        // A wait that begins after the subtasks have ended is over at once.
        expect(
          told.filter((text) => text !== "Waits for 2 subtasks"),
          what,
        ).toEqual([
          ...["Working on it", "Begin a subtask: Child a", "Begin a subtask: Child b"],
          ...["Continues: 2 of 2 subtasks ended", "Child a is done, Child b is done", "All done", "Done"],
        ]);
        for (const subtask of subtasks) {
          const events = await rig.events(subtask.id);
          expect(
            events.map(({ type }) => type),
            what,
          ).toEqual(["user_message", "status_update", "explanation", "assistant_message", "status_update"]);
        }
        for (const task of [id, ...subtasks.map((subtask) => subtask.id)])
          expect(violationsOfTask(await taskInStore(rig.service.store, task)), what).toEqual([]);
      }
    },
  );
});
