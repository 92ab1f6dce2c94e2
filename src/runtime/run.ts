import type { Log } from "../core/log.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Agent, Progress, Turn } from "./agent.ts";
import { type EndingParts, endTurn } from "./ending.ts";
import { Lost, type Steps, stepsOf } from "./steps.ts";
import { openTurn, type TurnParts } from "./turn.ts";

/** What a run needs. */
export interface RunParts extends EndingParts, Pick<TurnParts, "cipher"> {
  readonly log: Log;
  /** The agent behind a profile. */
  readonly agentFor: (profile: string) => Agent;
}

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

/** The task as its next run finds it; null when there is none. */
async function runTurn(task: Task, signal: AbortSignal, parts: RunParts): Promise<Task | null> {
  const turn = await openTurn(parts, task, signal);
  const steps = stepsOf(parts.agentFor(task.agentProfile), turn, parts);
  try {
    return await writeDown(steps, task, turn, parts);
  } finally {
    await steps.close();
  }
}

/** Writes what an agent does as it does it, but what the turn has already. */
async function writeDown(steps: Steps, task: Task, turn: Turn, parts: RunParts): Promise<Task | null> {
  let passOver = turn.written.length;
  let last = task;
  for (;;) {
    const step = await steps.next();
    if (step.done) return endTurn(last, step.value, turn, parts);
    if (passOver > 0) passOver -= step.value.events.length;
    else last = await append(last, step.value, parts);
  }
}

async function append(task: Task, { events, credits = 0 }: Progress, { store, clock }: RunParts): Promise<Task> {
  const set = credits > 0 ? { addCredits: credits } : {};
  const next = await store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), when: { fence: task.fence }, set, events }));
  if (!next) throw new Lost();
  return next;
}
