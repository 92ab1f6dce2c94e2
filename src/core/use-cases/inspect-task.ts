import type { Caller } from "../accounts/caller.ts";
import { type CursorBinding, decodeCursor, type Page, type PageInput, pageOf } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import type { TaskView } from "../tasks/task.ts";
import type { CompactionTokens, TranscriptRow } from "../tasks/transcript.ts";
import type { TaskCost } from "../usage/usage.ts";
import { workerOfNode } from "../workers/worker-run.ts";

/** What runs a task, and the id of the process or of the worker's credential. */
export interface Runner {
  readonly kind: "process" | "worker";
  readonly id: string;
}

/** How a task was run. */
export interface TaskInspection extends Page<TaskCost> {
  /** Null while nothing runs the task. */
  readonly runner: Runner | null;
  /** The newest compactions of its conversation with the model, oldest first; empty behind the first page. */
  readonly compactions: readonly TaskCompaction[];
}

/** What its model got less of, with the estimated tokens of a request. */
export interface TaskCompaction extends CompactionTokens {
  readonly kind: "cleared" | "summary";
  /** Unix milliseconds. */
  readonly at: number;
}

/** The most compactions that are shown. */
const compactionsMax = 100;

/**
 * Reads how a task of the caller was run, and a page of its costs, oldest first (spec/api.md 8.84).
 *
 * @param task the task, which the caller may read.
 * @throws Failure `invalid_argument` for a cursor of another list.
 */
export async function inspectTask(
  tx: Tx,
  { accountId, spaceId, clientId }: Caller,
  task: TaskView,
  { limit, cursor }: Pick<PageInput, "limit" | "cursor">,
): Promise<TaskInspection> {
  const binding: CursorBinding = {
    accountId,
    spaceId,
    clientId,
    operation: "task.inspect",
    filter: { taskId: task.id },
  };
  const after = cursor ? decodeCursor(binding, cursor) : undefined;
  const rows = await tx.usage.ofTask(task.id, {
    limit: limit + 1,
    ...(after ? { after: { at: after.value, id: after.id } } : {}),
  });
  const compactions = after ? [] : await tx.transcripts.compactions(task.id, compactionsMax);
  return {
    ...pageOf(rows, limit, binding, ({ at, id }) => ({ value: at, id })),
    runner: runnerOf(task),
    compactions: compactions.flatMap(compactionsIn),
  };
}

const compactionsIn = ({ parts, createdAt }: Pick<TranscriptRow, "parts" | "createdAt">): TaskCompaction[] =>
  parts.flatMap((part) =>
    (part.type === "cleared" || part.type === "summary") && part.tokens
      ? [{ kind: part.type, at: createdAt, ...part.tokens }]
      : [],
  );

function runnerOf({ status, nodeId }: TaskView): Runner | null {
  if (status !== "running" || nodeId === null) return null;
  const worker = workerOfNode(nodeId);
  return worker === null ? { kind: "process", id: nodeId } : { kind: "worker", id: worker };
}
