import type { Log } from "../core/log.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Agent, Progress, Turn } from "./agent.ts";
import { filing, type StagedFile } from "./artefacts.ts";
import { giveBack } from "./claims.ts";
import { append, type EndingParts, endTurn } from "./ending.ts";
import { Lost, type Steps, stepsOf } from "./steps.ts";
import { openTurn, type TurnParts } from "./turn.ts";

/** What a run needs. */
export interface RunParts extends EndingParts, Pick<TurnParts, "cipher" | "readFile" | "openSkill"> {
  readonly log: Log;
  /** The agent behind a profile; null where remote workers are. */
  readonly agentFor: (profile: string) => Agent | null;
}

/**
 * Runs a claimed task: the turn it is in, and those that follow at once because a
 * message came in meanwhile. Resolves when the task left `running`, or when the run
 * is no longer ours and its agent had its time to clean up; whatever an old run still
 * writes is refused by its fence.
 */
export async function runTask(claimed: Task, signal: AbortSignal, parts: RunParts): Promise<void> {
  try {
    for (let task: Task | null = claimed; task; ) {
      const agent = parts.agentFor(task.agentProfile);
      task = agent ? await runTurn(task, agent, signal, parts) : await leaveToWorkers(task, parts);
    }
  } catch (thrown) {
    if (!(thrown instanceof Lost)) throw thrown;
  }
}

/** A message has changed its profile, or the configuration its agent. */
async function leaveToWorkers(task: Task, { store, clock }: RunParts): Promise<null> {
  await store.change((tx) => giveBack(tx, [task], clock.now()));
  return null;
}

/** The task as its next run finds it; null when there is none. */
async function runTurn(task: Task, agent: Agent, signal: AbortSignal, parts: RunParts): Promise<Task | null> {
  const turn = await openTurn(parts, task, signal);
  const steps = stepsOf(filing(agent, parts.staging), turn, parts);
  try {
    return await writeDown(steps, task, turn, parts);
  } finally {
    await steps.close();
  }
}

/** Writes what an agent does as it does it, but what the turn has already. */
async function writeDown(steps: Steps<StagedFile>, task: Task, turn: Turn, parts: RunParts): Promise<Task | null> {
  let passOver = turn.written.length;
  let last = task;
  let held = nothing;
  for (;;) {
    const coming = steps.next();
    // Whoever waits for it hears of its failure; nobody may wait any more when the run is lost meanwhile.
    coming.catch(() => undefined);
    // What an agent says in one go is written at once; when it takes its time, nothing waits for it.
    const quick = held === nothing ? await coming : await Promise.race([coming, aTurnLater()]);
    if (quick === null) [last, held] = [await append(last, held, parts), nothing];
    const step = quick ?? (await coming);
    if (step.done) return endTurn(last, held, step.value, turn, parts);
    if (passOver > 0) passOver -= step.value.events.length;
    else held = both(held, step.value);
    if (held.events.length >= heldMax) [last, held] = [await append(last, held, parts), nothing];
  }
}

/** Events that are written in one transaction at most. */
const heldMax = 100;
const nothing: Progress<StagedFile> = { events: [] };

const both = (a: Progress<StagedFile>, b: Progress<StagedFile>): Progress<StagedFile> => ({
  events: [...a.events, ...b.events],
  credits: (a.credits ?? 0) + (b.credits ?? 0),
});

const aTurnLater = (): Promise<null> => new Promise((resolve) => setImmediate(resolve, null));
