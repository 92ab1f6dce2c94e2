import type { Log } from "../core/log.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import type { LiveTexts } from "../core/tasks/live-texts.ts";
import type { Task } from "../core/tasks/task.ts";
import type { TextWriter } from "../core/tasks/text-writer.ts";
import { addUsage } from "../core/usage/price.ts";
import { holdStep, reserve } from "../core/usage/spend.ts";
import type { Agent, Hold, Outcome, Progress, Turn } from "./agent.ts";
import { fileStager, type StagedFile } from "./artifacts.ts";
import { releaseClaim } from "./claims.ts";
import { append, type EndingParts, endSpent, endTurn, noteEnding, type StagedProgress } from "./ending.ts";
import { type ModelCalls, modelCalls } from "./model-calls.ts";
import { agentSteps, RunLost, type Steps } from "./steps.ts";
import { openTurn, type TurnParts } from "./turn.ts";

export interface RunParts
  extends EndingParts,
    Pick<TurnParts, "cipher" | "readFile" | "readTranscript" | "workspaceOf" | "openSkill" | "permissions"> {
  readonly log: Log;
  /** Absent: watchers see no text before its event. */
  readonly texts?: Pick<LiveTexts, "writer">;
  /** The agent of a profile; null when remote workers serve the profile. */
  readonly agentFor: (profile: string) => Agent | null;
}

/**
 * Runs a claimed task: its current turn, and the turns that follow at once because a message has arrived.
 * Resolves when the task has left `running`, or when this process has lost the run and its agent had its time
 * to clean up. The fence rejects later writes of a lost run.
 *
 * @param events those that the task was created with, for the first turn of a new task: they are not read
 * again.
 */
export async function runTask(
  claimed: Task,
  signal: AbortSignal,
  parts: RunParts,
  calls: ModelCalls = modelCalls(new AbortController().signal),
  events?: readonly TaskEvent[],
): Promise<void> {
  try {
    for (let [task, known]: [Task | null, typeof events] = [claimed, events]; task; known = undefined) {
      const agent = parts.agentFor(task.agentProfile);
      task = agent
        ? await runTurn({ task, agent, known }, signal, parts, calls)
        : await leaveToWorkers(task, parts);
    }
  } catch (thrown) {
    noteEnding(parts, claimed, thrown instanceof RunLost ? "lost" : "error");
    if (!(thrown instanceof RunLost)) throw thrown;
  }
}

/**
 * Releases a task without an agent here: a message has changed its profile, or a setting the profile's agent.
 */
async function leaveToWorkers(task: Task, { store, clock }: RunParts): Promise<null> {
  await store.change((tx) => releaseClaim(tx, [task], clock.now()));
  return null;
}

interface NextTurn {
  readonly task: Task;
  readonly agent: Agent;
  /** The events since the last turn, where they need not be read. */
  readonly known: readonly TaskEvent[] | undefined;
}

/** Runs the current turn. Returns the task for its next turn; null without one. */
async function runTurn(
  { task, agent, known }: NextTurn,
  signal: AbortSignal,
  parts: RunParts,
  calls: ModelCalls,
): Promise<Task | null> {
  const { store, clock, ids, prices = {}, budgetStep = 0 } = parts;
  const holds = await holdStep({ store, clock, ids, step: agent.reserves ? 0 : budgetStep }, task);
  if (holds === null) return endSpent(task, parts);
  const opened = await openTurn(parts, task, signal, { events: known ?? null });
  const { id: taskId, fence, lastSeq } = task;
  const live = parts.texts?.writer({
    taskId,
    fence,
    lastSeq: opened.written.length > 0 ? undefined : lastSeq,
  });
  const close = () => live?.close();
  signal.addEventListener("abort", close, { once: true });
  const turn = {
    ...opened,
    ...(live && { live }),
    reserve: calls.guard((atMost) => reserve({ store, clock, ids, prices }, task, atMost, holds)),
  };
  const steps = agentSteps(fileStager(agent, parts.staging), turn, parts);
  try {
    return await writeProgress(steps, task, { turn, live, calls, holds }, parts);
  } catch (thrown) {
    if (thrown instanceof Overdrawn) return await endSpent(thrown.task, parts, undefined, holds);
    throw thrown;
  } finally {
    close();
    signal.removeEventListener("abort", close);
    await steps.close();
  }
}

/**
 * A turn, the texts that watchers see while its agent writes them, its calls of a model, and what it holds
 * until it ends.
 */
interface LiveTurn {
  readonly turn: Turn;
  readonly calls: ModelCalls;
  readonly live: TextWriter | undefined;
  readonly holds: readonly Hold[];
}

/** Writes an agent's progress as it arrives, without the events that the turn already has. */
async function writeProgress(
  steps: Steps<StagedFile>,
  task: Task,
  { turn, live, calls, holds }: LiveTurn,
  parts: RunParts,
): Promise<Task | null> {
  let skip = turn.written.length;
  let last = task;
  let pending = noProgress;
  async function writePending(): Promise<void> {
    [last, pending] = [await write(last, pending, parts), noProgress];
    live?.resume(last.lastSeq);
  }
  for (;;) {
    const next = steps.next();
    // The reader receives its failure. Handle it here too: there is no reader when the run is lost in the
    // meantime.
    next.catch(() => undefined);
    // Steps that arrive within one iteration of the event loop are written together; a slower step delays no
    // write.
    const arrived = pending === noProgress ? await next : await Promise.race([next, nextIteration()]);
    if (arrived === null) await writePending();
    const step = arrived ?? (await next);
    if (step.done)
      return finishTurn(
        last,
        merge(pending, { events: [], ...rowsOf(step.value), settles: holds }),
        step.value,
        turn,
        parts,
      );
    calls.settle(step.value.settles ?? []);
    if (step.value.events.length > 0) live?.pause(step.value.events.map(({ type }) => type));
    if (skip > 0) skip -= step.value.events.length;
    else pending = merge(pending, step.value);
    if (pending.events.length >= pendingMax || step.value.isAwaited) await writePending();
    // The turn has repeated all of its written events.
    else if (pending === noProgress && skip <= 0) live?.resume(last.lastSeq);
  }
}

/** Ends a turn. An abandoned turn continues in another run, from the written events. */
async function finishTurn(
  task: Task,
  done: StagedProgress,
  outcome: Outcome<StagedFile>,
  turn: Turn,
  parts: RunParts,
): Promise<Task | null> {
  if (outcome.kind !== "abandon") return endTurn(task, done, outcome, turn, parts);
  if (done.events.length > 0 || done.rows?.length) await append(task, done, parts);
  noteEnding(parts, task, "released");
  return null;
}

/** The task's usage was written and exceeds a budget. */
class Overdrawn extends Error {
  readonly task: Task;

  constructor(task: Task) {
    super();
    this.task = task;
  }
}

/**
 * Writes progress. @throws Overdrawn when its cost exceeds a budget, Lost when this process has lost the run.
 */
async function write(task: Task, done: Progress<StagedFile>, parts: RunParts): Promise<Task> {
  const after = await append(task, done, parts);
  if (after.overdrawn) throw new Overdrawn(after);
  return after;
}

/** The number of events after which pending progress is written. */
const pendingMax = 100;
const noProgress: Progress<StagedFile> = { events: [] };

const merge = (a: Progress<StagedFile>, b: Progress<StagedFile>): Progress<StagedFile> => ({
  events: [...a.events, ...b.events],
  rows: [...(a.rows ?? []), ...(b.rows ?? [])],
  ...((a.untrusted ?? b.untrusted) && { untrusted: true }),
  ...(b.readSeq && { readSeq: b.readSeq }),
  credits: (a.credits ?? 0) + (b.credits ?? 0),
  ...(b.usage === undefined ? a.usage && { usage: a.usage } : { usage: addUsage(b.usage, a.usage ?? {}) }),
  settles: [...(a.settles ?? []), ...(b.settles ?? [])],
});

const rowsOf = (outcome: Outcome<StagedFile>): Pick<Progress, "rows"> =>
  "rows" in outcome && outcome.rows ? { rows: outcome.rows } : {};

const nextIteration = (): Promise<null> => new Promise((resolve) => setImmediate(resolve, null));
