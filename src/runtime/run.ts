import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../core/store.ts";
import { structuredResult } from "../core/structured-output/result.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import { type Ending, fail, finish } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Agent, Outcome, Turn } from "./agent.ts";
import { Lost, type Steps, stepsOf } from "./steps.ts";
import { type OpenTurn, openTurn } from "./turn.ts";

/** What a run needs. */
export interface RunParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The agent behind a profile. */
  readonly agentFor: (profile: string) => Agent;
}

/** The most milliseconds for which an ending waits until the events before it lie in the past. */
const settleMs = 50;

/**
 * Runs a claimed task: the turn it is in, and those that follow at once because a
 * message came in meanwhile. Resolves when the task left `running`, or when the run
 * is no longer ours and its agent had its time to clean up; whatever an old run still
 * writes is refused by its fence.
 */
export async function runTask(claimed: Task, signal: AbortSignal, parts: RunParts): Promise<void> {
  try {
    for (let task: Task | null = claimed; task; ) task = await runTurn(task, signal, parts);
  } catch (thrown) {
    if (!(thrown instanceof Lost)) throw thrown;
  }
}

/** The task as its next turn finds it; null when there is none. */
async function runTurn(task: Task, signal: AbortSignal, parts: RunParts): Promise<Task | null> {
  const { turn, written } = await openTurn(parts.store, task, parts.clock, signal);
  const steps = stepsOf(parts.agentFor(task.agentProfile), turn, parts);
  try {
    return await writeDown(steps, { task, turn, written }, parts);
  } finally {
    await steps.close();
  }
}

/** Writes what an agent does as it does it; the first `written` events of the turn are there already. */
async function writeDown(steps: Steps, { task, turn, written }: OpenTurn & { readonly task: Task }, parts: RunParts): Promise<Task | null> {
  let passOver = written;
  let last = task;
  for (;;) {
    const step = await steps.next();
    if (step.done) return end(last, endingOf(step.value, turn), parts);
    if (passOver > 0) passOver -= step.value.length;
    else last = await append(last, step.value, parts);
  }
}

async function append(task: Task, events: readonly NewEvent[], { store, clock }: RunParts): Promise<Task> {
  const next = await store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), when: { fence: task.fence }, events }));
  if (!next) throw new Lost();
  return next;
}

/** What an outcome writes; null for one that writes nothing. */
function endingOf(outcome: Outcome, { outputSchema }: Turn): Ending | null {
  if (outcome.kind === "abandon") return null;
  if (outcome.kind === "fail") return fail(outcome.errorType, outcome.content);
  return finish(outcome.content, outputSchema === null ? undefined : structuredResult(outputSchema, outcome.output));
}

/**
 * Leaves `running`, unless a message came in that the turn has not seen: then what
 * was said stands, and the next turn begins with no `stopped` between.
 */
async function end(task: Task, ending: Ending | null, { store, clock }: RunParts): Promise<Task | null> {
  if (ending === null) return null;
  const { said, events, set } = ending;
  const { id, fence } = task;
  // The events take the milliseconds between the last one and now, so that none is ahead of the next request.
  const ahead = task.lastTimestamp + events.length - clock.now();
  if (ahead > 0) await clock.sleep(Math.min(settleMs, ahead));
  return store.change(async (tx) => {
    const now = clock.now() - events.length;
    const ended = await tx.tasks.advance(id, { now, when: { fence, consumed: true }, set, events });
    if (ended) return null;
    const next = await tx.tasks.advance(id, { now, when: { fence }, set: { beginTurn: true }, events: said });
    if (!next) throw new Lost();
    return next;
  });
}
