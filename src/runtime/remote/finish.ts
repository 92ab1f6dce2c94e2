import { defined } from "../../core/defined.ts";
import { Failure } from "../../core/failure.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ReportedUsage, RunRef, SentOutcome } from "../../core/workers/remote-run.ts";
import { newRun, releaseWorkerRun, workerNode } from "../../core/workers/worker-run.ts";
import { type EndingOutcome, type EndingParts, endSpent, endTurn } from "../ending.ts";
import { scheduleApproval } from "../schedule-approval.ts";
import { checkWait } from "../waits.ts";
import { stagedProgress } from "./append.ts";
import { bindToTool } from "./call-tool.ts";
import { releaseRun } from "./held-run.ts";
import { adoptUploads, findUploads, type UploadParts } from "./uploads.ts";

/**
 * Ends a worker's run whose budget is spent. A message that arrived in the meantime waits for the next run.
 * @throws RunLost
 */
export async function endSpentRun(parts: EndingParts, task: Task, workerId: string): Promise<void> {
  const run = { taskId: task.id, fence: task.fence, workerId };
  async function follow(tx: Tx, next: Task | null): Promise<null> {
    if (next !== null) await releaseWorkerRun(tx, run, parts.clock.now());
    return null;
  }
  await endSpent(task, parts, { lock: releaseRun(run), after: follow });
}

/** The key of an ending's record: no key of a worker begins with a space. */
const endingKey = (fence: number): string => ` ${fence}`;
const nextPrefix = "next ";
const endPrefix = "over ";

export interface EndResult {
  /** The task for its next turn, claimed by the same worker; null without a next turn. */
  readonly next: Task | null;
}

/**
 * Finds the result of an earlier ending of this run. Returns null without one, and when the next turn is no
 * longer the worker's.
 *
 * @throws Failure `already_exists` when the earlier ending has other content.
 */
export async function findEarlierEnding(
  store: Tx,
  workerId: string,
  { taskId, fence }: RunRef,
  digest: string,
): Promise<EndResult | null> {
  const record = await store.workerEvents.findInAnyTurn(taskId, endingKey(fence));
  if (record === null || !record.digest.startsWith(`${workerId} `)) return null;
  const value = record.digest.slice(workerId.length + 1);
  if (!value.endsWith(digest))
    throw new Failure("already_exists", "the run was finished already, with other content");
  if (value.startsWith(endPrefix)) return { next: null };
  const task = await store.tasks.byId(taskId);
  // The next turn has the next fence, unless another worker had the task in between.
  const isNext =
    task !== null &&
    task.fence === fence + 1 &&
    task.status === "running" &&
    task.nodeId === workerNode(workerId);
  return isNext ? { next: task } : null;
}

export interface SentEnding {
  readonly outcome: SentOutcome;
  readonly spent: ReportedUsage;
  readonly digest: string;
  /** True when the worker may run turns of this profile. */
  readonly serves: (profile: string) => boolean;
}

/**
 * Ends the turn: the task leaves `running`, or its next turn begins with a new fence. The same change records
 * the ending, so that a repeated call is recognized. @throws RunLost
 */
export async function finishSent(
  parts: UploadParts,
  task: Task,
  workerId: string,
  { outcome, spent, digest, serves }: SentEnding,
): Promise<EndResult> {
  const { store, clock } = parts;
  const run = { taskId: task.id, fence: task.fence, workerId };
  async function follow(tx: Tx, nextTask: Task | null): Promise<Task | null> {
    const isServed = nextTask !== null && serves(nextTask.agentProfile);
    const next = isServed ? await continueRun(tx, nextTask) : null;
    if (nextTask !== null && !isServed) await releaseWorkerRun(tx, run, clock.now());
    const record = `${workerId} ${isServed ? nextPrefix : endPrefix}${digest}`;
    if (outcome.kind === "fail")
      await tx.workers.recordFailure(
        { workerId, taskId: task.id, kind: "error", at: clock.now() },
        task.fence,
      );
    await tx.workerEvents.record({
      taskId: task.id,
      turn: task.consumedSeq,
      key: endingKey(task.fence),
      seq: 0,
      digest: record,
    });
    return next;
  }
  /** Raises the fence for the next turn, so that late calls for the ended turn fail. */
  async function continueRun(tx: Tx, { id: taskId, fence }: Task): Promise<Task | null> {
    const now = clock.now();
    const next =
      (await tx.tasks.advance(taskId, { now, when: { fence }, set: { raiseFence: true } }))?.task ?? null;
    if (next) await tx.workerRuns.put([newRun({ task: next, workerId }, now)]);
    return next;
  }
  const briefing = task.hasOutputSchema ? await store.tasks.turnInput(task.id) : { outputSchema: null };
  const ending = await outcomeOf(parts, task, workerId, outcome);
  const guard = { lock: releaseRun(run), after: follow, keepArtifact: adoptUploads(clock, workerId) };
  return { next: await endTurn(task, stagedProgress([], spent), ending, briefing, parts, guard) };
}

async function outcomeOf(
  { store, clock }: UploadParts,
  task: Task,
  workerId: string,
  outcome: SentOutcome,
): Promise<EndingOutcome> {
  if (outcome.kind === "confirm" && outcome.action === "connectorAction")
    return { ...outcome, params: await bindToTool(store, task, outcome.params ?? {}) };
  if (outcome.kind === "confirm" && outcome.action === "scheduleCreate") {
    const { params = {}, memo } = outcome;
    return { ...scheduleApproval(params, "confirm.params", clock.now()), ...defined({ memo }) };
  }
  if (outcome.kind === "wait")
    await checkWait(store, task, outcome, { subtasksAt: "wait.task_ids", timeoutAt: "wait.timeout_seconds" });
  if (outcome.kind !== "finish") return outcome;
  const { uploadIds, ...ending } = outcome;
  return { ...ending, files: await findUploads(store, clock.now(), task, workerId, uploadIds) };
}
