import { invalidArgument } from "../core/failure.ts";
import type { ReadFile } from "../core/files/files.ts";
import type { Tx } from "../core/store.ts";
import { passWait, type Step, waitForSubtasks } from "../core/tasks/lifecycle.ts";
import {
  type EndedWait,
  endBrief,
  hasEnded,
  nextLook,
  reasonOf,
  type SubtaskWait,
  statesOf,
  waitBrief,
  waitedMax,
  waitMsMax,
} from "../core/tasks/subtask-wait.ts";
import { readResult, subtasksMax } from "../core/tasks/subtasks.ts";
import { readUpTo, type Task } from "../core/tasks/task.ts";
import type { Turn } from "./agent.ts";
import type { TurnWait, WaitRequest } from "./agent-subtasks.ts";
import { toAttachedFile } from "./attached-file.ts";

interface WaitParts {
  readonly store: Tx;
  readonly readFile: ReadFile;
}

/**
 * Gives a run the waits of its turn. @param begun the subtasks of this run, of which some are not written so
 * far.
 */
export async function waitsFor(
  { store, readFile }: WaitParts,
  task: Task,
  begun: readonly string[],
): Promise<Pick<Turn, "waits" | "waitFor">> {
  const ended =
    task.lastSeq === task.consumedSeq ? [] : await store.waits.endedAfter(task.id, task.consumedSeq);
  const waits = ended.map((wait) => toTurnWait(store, readFile, wait));
  let calls = 0;
  return {
    waits,
    async waitFor(request, nth = calls) {
      const wait = waits[nth];
      calls = nth + 1;
      if (wait) return { mode: wait.mode, reason: wait.reason, subtasks: await wait.results() };
      await checkWait(store, task, request, { begun });
      return { kind: "wait", ...request };
    },
  };
}

const toTurnWait = (store: Tx, readFile: ReadFile, { mode, reason, ends }: EndedWait): TurnWait => ({
  mode,
  reason,
  results: () =>
    Promise.all(
      ends.map(async (end) => {
        const { attachments, ...result } = await readResult(store, end);
        return { ...result, files: attachments.map((attachment) => toAttachedFile(attachment, readFile)) };
      }),
    ),
});

/** Where the members of a request come from, for error texts. */
interface WaitSource {
  /** Subtasks that may not be written so far. */
  readonly begun?: readonly string[];
  readonly subtasksAt?: string;
  readonly timeoutAt?: string;
}

/**
 * @throws Failure `invalid_argument` for an id that is not a subtask of the task, and for values out of
 * bounds.
 */
export async function checkWait(
  store: Tx,
  task: Pick<Task, "id">,
  { subtasks = [], timeoutMs }: WaitRequest,
  { begun = [], subtasksAt = "subtasks", timeoutAt = "timeoutMs" }: WaitSource,
): Promise<void> {
  if (subtasks.length > waitedMax) throw invalidArgument(subtasksAt, `must have at most ${waitedMax} items`);
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= waitMsMax))
    throw invalidArgument(timeoutAt, "must be above 0 and at most 7 days");
  const found = await store.tasks.listSubtasks(task.id, subtasks);
  const known = new Set([...begun, ...found.map(({ id }) => id)]);
  const unknown = subtasks.findIndex((id) => !known.has(id));
  if (unknown >= 0) throw invalidArgument(`${subtasksAt}[${unknown}]`, "is not a subtask of this task");
}

/**
 * The subtasks of a wait that names none: those that have not ended, and those of this turn whose end no wait
 * has reported.
 */
async function listDefault(tx: Tx, { id, consumedSeq }: Task): Promise<readonly string[]> {
  const waits = await tx.waits.endedAfter(id, consumedSeq);
  const reported = new Set(
    waits.flatMap(({ ends }) => ends.flatMap((end) => (hasEnded(end.status) ? [end.id] : []))),
  );
  return (await tx.tasks.listOfTurn(id, consumedSeq, subtasksMax)).filter((each) => !reported.has(each));
}

/** A wait that begins: the change of its task, and its row. */
export interface OpenedWait {
  readonly step: Step;
  readonly wait: Omit<SubtaskWait, "seq">;
}

/**
 * Opens a wait of a run. It may be over already. A subtask that ends at the same time waits for the row of
 * its parent here: then it is either among the states that are read, or finds the wait. Lock order: the task,
 * its row of parents.
 *
 * @returns null when the run is lost.
 */
export async function openWait(
  tx: Tx,
  { id, fence }: Task,
  request: WaitRequest,
  now: number,
): Promise<OpenedWait | null> {
  const task = (await tx.tasks.advance(id, { now, when: { fence } }))?.task;
  if (!task) return null;
  await tx.parents.lock(task);
  const { mode, timeoutMs } = request;
  const subtasks = [...new Set(request.subtasks ?? (await listDefault(tx, task)))];
  const wait = {
    taskId: id,
    spaceId: task.spaceId,
    mode,
    subtasks,
    until: timeoutMs === undefined ? null : now + timeoutMs,
  };
  const states = statesOf(wait, await tx.tasks.listSubtasks(id, subtasks));
  const reason = reasonOf(wait, states, { now, hasMessage: task.messageSeq > readUpTo(task) });
  if (reason !== null)
    return { step: passWait(endBrief(reason, states)), wait: { ...wait, reason, ends: states } };
  await tx.parents.look(id, nextLook(wait, now));
  return { step: waitForSubtasks(waitBrief(wait)), wait: { ...wait, reason, ends: null } };
}
