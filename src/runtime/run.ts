import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Store } from "../core/store.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import { type Ending, fail, finish } from "../core/tasks/lifecycle.ts";
import type { Task } from "../core/tasks/task.ts";
import type { Agent, Outcome } from "./agent.ts";
import { openTurn } from "./turn.ts";

/** What a run needs. */
export interface RunParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The agent behind a profile. */
  readonly agentFor: (profile: string) => Agent;
}

/** The run is no longer ours: somebody else holds the fence, or the task was stopped. */
class Lost extends Error {}

/** The most milliseconds for which an ending waits until the events before it lie in the past. */
const settleMs = 50;
/** How long an agent may take to clean up after its run was aborted. */
const cleanUpMs = 5_000;

/**
 * Runs a claimed task: the turn it is in, and those that follow at once because a
 * message came in meanwhile. Resolves when the task left `running`, or when the run
 * is no longer ours; whatever an old run still writes is refused by its fence.
 */
export async function runTask(claimed: Task, signal: AbortSignal, parts: RunParts): Promise<void> {
  try {
    for (let task: Task | null = claimed; task; ) task = await runTurn(task, signal, parts);
  } catch (thrown) {
    if (!(thrown instanceof Lost) && !signal.aborted) throw thrown;
  }
}

/** The task as its next turn finds it; null when there is none. */
async function runTurn(task: Task, signal: AbortSignal, parts: RunParts): Promise<Task | null> {
  const { turn, written } = await openTurn(parts.store, task, parts.clock, signal);
  const events = parts.agentFor(task.agentProfile)(turn);
  let passOver = written;
  let last = task;
  for (;;) {
    const step = await nextOf(events, signal, parts);
    if (step.done) return end(last, step.value, parts);
    if (passOver > 0) passOver -= step.value.length;
    else last = await append(last, step.value, parts);
  }
}

/** The generator's next step; a fault of the agent is an outcome, an aborted run is `Lost`. */
async function nextOf(events: ReturnType<Agent>, signal: AbortSignal, { clock, log }: RunParts): Promise<IteratorResult<readonly NewEvent[], Outcome>> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(new Lost());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    if (signal.aborted) throw new Lost();
    return await Promise.race([events.next(), aborted.promise]);
  } catch (thrown) {
    if (signal.aborted) {
      await Promise.race([events.return({ kind: "abandon" }).catch(() => undefined), clock.sleep(cleanUpMs)]);
      throw new Lost();
    }
    log("error", "an agent failed", { cause: thrown });
    return { done: true, value: { kind: "fail", errorType: "internal", content: "The agent failed." } };
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function append(task: Task, events: readonly NewEvent[], { store, clock }: RunParts): Promise<Task> {
  const next = await store.change((tx) => tx.tasks.advance(task.id, { now: clock.now(), when: { fence: task.fence }, events }));
  if (!next) throw new Lost();
  return next;
}

/**
 * Leaves `running`, unless a message came in that the turn has not seen: then what
 * was said stands, and the next turn begins with no `stopped` between.
 */
async function end(task: Task, outcome: Outcome, { store, clock }: RunParts): Promise<Task | null> {
  if (outcome.kind === "abandon") return null;
  const ending: Ending = outcome.kind === "finish" ? finish(outcome.content) : fail(outcome.errorType, outcome.content);
  const { fence } = task;
  const ahead = task.lastTimestamp + ending.events.length - clock.now();
  if (ahead > 0) await clock.sleep(Math.min(settleMs, ahead));
  return store.change(async (tx) => {
    const now = clock.now();
    const ended = await tx.tasks.advance(task.id, { now, when: { fence, consumed: true }, set: ending.set, events: ending.events });
    if (ended) return null;
    const next = await tx.tasks.advance(task.id, { now, when: { fence }, set: { beginTurn: true }, events: ending.said });
    if (!next) throw new Lost();
    return next;
  });
}
