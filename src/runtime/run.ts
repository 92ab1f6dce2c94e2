import type { Log } from "../core/log.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Usage } from "../core/usage/price.ts";
import { hasNothingLeft, reserve } from "../core/usage/reserve.ts";
import type { Agent, Progress, Turn } from "./agent.ts";
import { filing, type StagedFile } from "./artefacts.ts";
import { giveBack } from "./claims.ts";
import { append, type EndingParts, endSpent, endTurn } from "./ending.ts";
import { Lost, type Steps, stepsOf } from "./steps.ts";
import { openTurn, type TurnParts } from "./turn.ts";

/** What a run needs. */
export interface RunParts extends EndingParts, Pick<TurnParts, "cipher" | "readFile" | "workspaceOf" | "openSkill"> {
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
  const { store, clock, ids, prices = {} } = parts;
  if (await hasNothingLeft(store, task, clock.now())) return endSpent(task, parts);
  const turn = {
    ...(await openTurn(parts, task, signal)),
    reserve: (atMost: Usage) => reserve({ store, clock, ids, prices }, task, atMost),
  };
  const steps = stepsOf(filing(agent, parts.staging), turn, parts);
  try {
    return await writeDown(steps, task, turn, parts);
  } catch (thrown) {
    if (thrown instanceof Overdrawn) return await endSpent(thrown.task, parts);
    throw thrown;
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
    if (quick === null) [last, held] = [await written(last, held, parts), nothing];
    const step = quick ?? (await coming);
    if (step.done) return endTurn(last, held, step.value, turn, parts);
    if (passOver > 0) passOver -= step.value.events.length;
    else held = both(held, step.value);
    if (held.events.length >= heldMax) [last, held] = [await written(last, held, parts), nothing];
  }
}

/** What the task has used was written, and was more than a budget had. */
class Overdrawn extends Error {
  readonly task: Task;

  constructor(task: Task) {
    super();
    this.task = task;
  }
}

/** @throws Overdrawn, Lost */
async function written(task: Task, done: Progress<StagedFile>, parts: RunParts): Promise<Task> {
  const after = await append(task, done, parts);
  if (after.overdrawn) throw new Overdrawn(after);
  return after;
}

/** Events that are written in one transaction at most. */
const heldMax = 100;
const nothing: Progress<StagedFile> = { events: [] };

const both = (a: Progress<StagedFile>, b: Progress<StagedFile>): Progress<StagedFile> => ({
  events: [...a.events, ...b.events],
  credits: (a.credits ?? 0) + (b.credits ?? 0),
  ...(b.usage === undefined ? a.usage && { usage: a.usage } : { usage: sum(b.usage, a.usage) }),
  settles: [...(a.settles ?? []), ...(b.settles ?? [])],
});

const sum = (a: Usage, b?: Usage): Usage => ({
  inputTokens: a.inputTokens + (b?.inputTokens ?? 0),
  outputTokens: a.outputTokens + (b?.outputTokens ?? 0),
  toolCalls: a.toolCalls + (b?.toolCalls ?? 0),
});

const aTurnLater = (): Promise<null> => new Promise((resolve) => setImmediate(resolve, null));
