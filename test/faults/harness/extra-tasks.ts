import { setTimeout as delay } from "node:timers/promises";
import { callerOf, count } from "./caller.ts";
import type { Node } from "./cluster.ts";
import { historyOf, type ShownEvent, say } from "./events.ts";
import type { Arena } from "./faults.ts";
import { newRecord, type TaskRecord } from "./model.ts";

/** Any process may claim a task: with this many, each process gets some. */
const extraTasks = 24;
const heavies = 8;
const attemptMs = 4_000;
/**
 * Words of an extra task, and the seconds of sleep before each: together longer than a slow machine needs to
 * create all of them.
 */
const words = 60;
const pauseSeconds = 0.15;
/** The pause between two looks at their events. */
const lookMs = 1_000;
/** The rest between two words is never this long, unless the process is suspended. */
const restMs = 7_000;
/** Clocks are stepped by an hour: such a difference is not a rest. */
const clockStepMs = 1_800_000;

/**
 * Creates tasks that are each about to write their next event at any moment: this is
 * the first write of a process when it wakes from a suspension, before it can
 * notice that its peers took over its tasks. Only the fence keeps
 * that event out.
 */
export async function createExtraTasks(arena: Arena): Promise<ExtraTasks> {
  const nodes = arena.setUp.cluster.nodes;
  const created = await Promise.all(
    Array.from({ length: extraTasks }, () =>
      createFor(arena, nodes, "extra", words, `[[sleep ${pauseSeconds}]]`),
    ),
  );
  const caller = callerOf({ nodes, key: arena.apiKey, dice: arena.dice, tally: arena.tally, attemptMs });
  const hasNewOwner = async ({ id = "" }: TaskRecord) => rested(await historyOf(caller, id));
  return {
    woke() {
      for (const task of created) task.resumedAt = Date.now();
    },
    async untilTakenOver(mostMs) {
      for (const begun = performance.now(); performance.now() - begun < mostMs; ) {
        if ((await Promise.all(created.map(hasNewOwner))).includes(true)) return;
        await delay(lookMs);
      }
    },
  };
}

/** Tasks of a process that is about to be suspended. */
interface ExtraTasks {
  /** Called when the process wakes. */
  woke(): void;
  /** Resolves once another process has continued one of them, or after this time. */
  untilTakenOver(mostMs: number): Promise<void>;
}

/** True when another process continued a task while its process was suspended. */
export const wasTakenOver = ({ resumedAt: wokeAt = 0 }: TaskRecord, events: readonly ShownEvent[]): boolean =>
  rested(events, wokeAt);

/** True when there is a long rest before an event of before this time. */
const rested = (events: readonly ShownEvent[], before = Number.POSITIVE_INFINITY): boolean =>
  events.some(({ timestamp }, i) => {
    const restedMs = timestamp - (events[i - 1]?.timestamp ?? timestamp);
    return timestamp < before && restedMs > restMs && restedMs < clockStepMs;
  });

/**
 * Tasks that need new database pages regardless of the free space in the old ones; resolves when they are
 * acknowledged.
 */
export async function createHeavy(arena: Arena): Promise<void> {
  const letter = () => String.fromCodePoint(97 + arena.dice.below(26));
  const text = () => Array.from({ length: 15_000 }, letter).join("");
  await Promise.all(
    Array.from({ length: heavies }, () =>
      createFor(arena, arena.setUp.cluster.nodes, "heavy", 2, `[[value "${text()}"]]`),
    ),
  );
}

/**
 * A fault's task, once it is acknowledged and has begun: it says several words, with something in between.
 */
async function createFor(
  arena: Arena,
  nodes: readonly Node[],
  story: string,
  length: number,
  between: string,
): Promise<TaskRecord> {
  const { model, apiKey, dice, tally } = arena;
  const caller = callerOf({ nodes, key: apiKey, dice, tally, attemptMs });
  const task = newRecord(`own${model.tasks.length}`, story);
  model.tasks.push(task);
  const said = Array.from({ length }, (_, i) => `${task.name} ${i}`);
  const content = said.map((word) => `[[say ${word}]]`).join(` ${between} `);
  const { body } = await caller.settle("task.create", { message: { content } }, { key: task.name });
  task.id = body["task_id"];
  task.messages.push(content);
  task.segments[0]?.push(...said.map(say));
  count(tally, "tasks");
  await caller.settle("task.detail", { task_id: task.id, after_seq: 2, wait_seconds: 2 });
  return task;
}
