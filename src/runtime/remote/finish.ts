import { Failure } from "../../core/failure.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import { giveBackRun } from "../../core/workers/give-back.ts";
import type { RunRef, SentOutcome, Spent } from "../../core/workers/remote-run.ts";
import { workerLeaseMs, workerNode } from "../../core/workers/worker-run.ts";
import type { Outcome } from "../agent.ts";
import type { StagedFile } from "../artefacts.ts";
import { endTurn } from "../ending.ts";
import { progressOf } from "./append.ts";
import { boundToTool } from "./call-tool.ts";
import { leaving, runStore } from "./held-run.ts";
import { adopting, type UploadParts, uploadsOf } from "./uploads.ts";

/** What an ending is kept under: no worker's key begins with a blank. */
const keyOf = (fence: number): string => ` ${fence}`;
const wentOn = "next ";
const over = "over ";

/** What an ending came to. */
export interface Ended {
  /** The task as its next turn finds it, in the same worker's hands; null when there is none. */
  readonly next: Task | null;
}

/**
 * What an ending of this run came to that was there before; null for none.
 *
 * @throws Failure `exists` for another ending, `precondition` where its next turn is not the worker's any more.
 */
export async function endedBefore(store: Tx, workerId: string, { taskId, fence }: RunRef, digest: string): Promise<Ended | null> {
  const kept = await store.workerEvents.anywhere(taskId, keyOf(fence));
  if (kept === null || !kept.digest.startsWith(`${workerId} `)) return null;
  const told = kept.digest.slice(workerId.length + 1);
  if (!told.endsWith(digest)) throw new Failure("exists", "the run was finished already, with other content");
  if (told.startsWith(over)) return { next: null };
  const task = await store.tasks.byId(taskId);
  // The turn that followed has the fence after this one, as long as nobody else had the task.
  const isNext = task !== null && task.fence === fence + 1 && task.status === "running" && task.nodeId === workerNode(workerId);
  return isNext ? { next: task } : null;
}

/** An ending as it was sent. */
export interface SentEnding {
  readonly outcome: SentOutcome;
  readonly spent: Spent;
  readonly digest: string;
  /** Whether the worker may have a turn of this profile. */
  readonly serves: (profile: string) => boolean;
}

/**
 * Ends the turn: the task leaves `running`, or its next turn begins, with a fence of its own.
 * Kept in the same change, so that a repeat is known for one. @throws Lost
 */
export async function finishSent(
  parts: UploadParts,
  task: Task,
  workerId: string,
  { outcome, spent, digest, serves }: SentEnding,
): Promise<Ended> {
  const { store, clock } = parts;
  const run = { taskId: task.id, fence: task.fence, workerId };
  async function follow(tx: Tx, followed: Task | null): Promise<Task | null> {
    const stays = followed !== null && serves(followed.agentProfile);
    const next = stays ? await goOn(tx, followed) : null;
    if (followed !== null && !stays) await giveBackRun(tx, run, clock.now());
    const told = `${workerId} ${stays ? wentOn : over}${digest}`;
    await tx.workerEvents.insert([{ taskId: task.id, turn: task.consumedSeq, key: keyOf(task.fence), seq: 0, digest: told }]);
    return next;
  }
  /** What was sent late for the turn that is over is refused. */
  async function goOn(tx: Tx, { id: taskId, spaceId, fence }: Task): Promise<Task | null> {
    const now = clock.now();
    const next = await tx.tasks.advance(taskId, { now, when: { fence }, set: { raiseFence: true } });
    if (next) await tx.workerRuns.put([{ taskId, spaceId, workerId, fence: next.fence, startedAt: now, leaseUntil: now + workerLeaseMs }]);
    return next;
  }
  const own = { ...parts, store: runStore(store, leaving(run), follow), staging: adopting(parts, workerId) };
  const briefing = task.armed ? await store.tasks.briefing(task.id) : { outputSchema: null };
  const ending = await outcomeOf(parts, task, workerId, outcome);
  return { next: await endTurn(task, progressOf([], spent), ending, briefing, own) };
}

async function outcomeOf({ store, clock }: UploadParts, task: Task, workerId: string, outcome: SentOutcome): Promise<Outcome<StagedFile>> {
  if (outcome.kind === "confirm" && outcome.action === "connectorAction")
    return { ...outcome, params: await boundToTool(store, task, outcome.params ?? {}) };
  if (outcome.kind !== "finish") return outcome;
  const { uploadIds, ...ending } = outcome;
  return { ...ending, files: await uploadsOf(store, clock.now(), task, workerId, uploadIds) };
}
