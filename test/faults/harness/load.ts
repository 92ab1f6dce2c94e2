import { setTimeout as delay } from "node:timers/promises";
import { type Caller, count, patienceMs } from "./caller.ts";
import { say } from "./events.ts";
import { type Model, newRecord, type TaskRecord } from "./model.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { stories } from "./stories.ts";
import { Unexpected, type Violation } from "./violation.ts";
import { type Watcher, watch } from "./watch-record.ts";

/** Users who each perform actions sequentially. */
export interface Load {
  /** Starts no new actions; resolves when all current ones have ended. */
  end(): Promise<void>;
}

export interface LoadParts {
  readonly caller: Caller;
  readonly dice: SeededRandom;
  readonly model: Model;
  readonly violations: Violation[];
  readonly users: number;
}

type StoryName = keyof typeof stories;
const names = Object.keys(stories) as readonly StoryName[]; // Object.keys of the constant above.

/** Share of tasks that a client watches from their first event. */
const watchedShare = 0.5;
/** Share of creations without a key. */
const keylessShare = 0.1;

export function startLoad({ caller, dice, model, violations, users }: LoadParts): Load {
  const ending = new AbortController();

  async function tell(name: string, own: SeededRandom): Promise<void> {
    const story = own.pick(names);
    const task = newRecord(name, story);
    model.tasks.push(task);
    let watcher: Watcher | undefined;
    const created = (id: string) => {
      if (own.chance(watchedShare)) watcher = watch(caller, id, own.chance(0.5));
    };
    try {
      await stories[story]({ caller, dice: own, task, created });
      if (watcher) await watchToTheEnd(caller, task, watcher);
    } catch (thrown) {
      if (!(thrown instanceof Unexpected)) throw thrown;
      violations.push({ what: `${name} (${story}): ${thrown.message}`, task });
    } finally {
      watcher?.close();
    }
  }

  async function use(user: number): Promise<void> {
    const own = dice.fork(`user ${user}`);
    for (let i = 1; !ending.signal.aborted; i += 1) {
      const name = `u${user}t${i}`;
      await (own.chance(keylessShare) ? createOnce(caller, model, name) : tell(name, own));
      await delay(own.between(20, 300));
    }
  }

  const done = Promise.all(Array.from({ length: users }, (_, i) => use(i + 1)));
  done.catch(() => undefined);
  return {
    async end() {
      ending.abort();
      await done;
    },
  };
}

/** One attempt without a key: when it is cut off, there is one task or none. */
async function createOnce(caller: Caller, model: Model, name: string): Promise<void> {
  const content = `[[say ${name} 1]]`;
  const answer = await caller.attempt("task.create", { message: { content } });
  // Only a refusal of the request itself proves that nothing was done: a database that was cut off may have
  // committed.
  if (answer === null || answer.status >= 500) model.maybe.add(content);
  if (answer?.status !== 200) return;
  const task = newRecord(name, "keyless");
  Object.assign(task, { id: answer.body["task_id"] });
  task.messages.push(content);
  task.segments[0]?.push(say(`${name} 1`));
  model.tasks.push(task);
  count(caller.tally, "tasks");
}

/** Watches until the task is idle and its last event has arrived, and keeps the events. */
async function watchToTheEnd(caller: Caller, task: TaskRecord, watcher: Watcher): Promise<void> {
  task.watches.push(watcher.record);
  for (const begun = performance.now(); ; ) {
    const { body } = await caller.settle("task.detail", { task_id: task.id, wait_seconds: 2 });
    const isIdle = watcher.until(body["last_seq"]).then(() => body["task"].status !== "running");
    if (await Promise.race([isIdle, delay(20_000, false, { ref: false })])) return;
    if (performance.now() - begun > patienceMs) throw new Unexpected("a watcher did not see the last event");
  }
}
