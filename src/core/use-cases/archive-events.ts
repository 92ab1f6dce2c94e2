import { Readable } from "node:stream";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Staging } from "../files/staging.ts";
import { uploadAbandoned } from "../files/writer.ts";
import type { Random } from "../ids.ts";
import type { AgedTask } from "../retention/retention.ts";
import type { Store, Tx } from "../store.ts";
import { type TaskEvent, verboseTypes } from "../tasks/event.ts";
import type { EventSegment, ReadSegment } from "../tasks/segment.ts";
import { packSegment } from "../tasks/segment-file.ts";

export interface ArchiveParts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  readonly staging: Pick<Staging, "stage" | "discard">;
  readonly cipher: Pick<Cipher, "seal">;
  readonly random: Random;
  readonly readSegment: ReadSegment;
}

/** Bytes of payloads of a task that are worth a file. */
const bytesMin = 4 * 1024;
const tasksMax = 50;
/** The longest file: one event may have more than a segment may. Compression and encryption add little. */
const fileMax = 64 * 1024 * 1024;

/**
 * Moves the events of ended tasks to files. It can be interrupted at any point, and run by several processes
 * at once.
 */
export async function archiveTasks(
  parts: ArchiveParts,
  tasks: AsyncIterable<AgedTask>,
  signal: AbortSignal,
): Promise<void> {
  let batch: AgedTask[] = [];
  for await (const task of tasks) {
    batch.push(task);
    if (batch.length < tasksMax) continue;
    await archiveBatch(parts, batch, signal);
    batch = [];
  }
  await archiveBatch(parts, batch, signal);
}

async function archiveBatch(
  parts: ArchiveParts,
  batch: readonly AgedTask[],
  signal: AbortSignal,
): Promise<void> {
  if (batch.length === 0) return;
  const ids = batch.map(({ id }) => id);
  const found = await parts.store.segments.findArchivable(ids, bytesMin);
  for (const task of batch) if (found.has(task.id)) await archiveTask(parts, task, signal);
}

async function archiveTask(parts: ArchiveParts, task: AgedTask, signal: AbortSignal): Promise<void> {
  for (let isMoved = true; isMoved && !signal.aborted; ) {
    const events = await parts.store.segments.nextRows(task.id);
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return;
    const range = { taskId: task.id, spaceId: task.spaceId, firstSeq: first.seq, lastSeq: last.seq };
    isMoved = await writeSegment(parts, range, events, signal, async (tx, segment) => {
      if (!(await isUnchanged(tx, task))) return false;
      return tx.segments.insert(segment);
    });
  }
}

/** Whether a task is as it was found. Its row stays locked until the change ends. */
const isUnchanged = async (tx: Tx, task: AgedTask): Promise<boolean> =>
  (await tx.retention.lockTasks([task])).length === 1;

/** Removes what only `verbose` shows from the files of a task: they are written again without it. */
export async function removeVerbose(parts: ArchiveParts, task: AgedTask, signal: AbortSignal): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined && !signal.aborted; ) {
    const [segment]: readonly EventSegment[] = await parts.store.segments.list(task.id, after, 1);
    if (segment !== undefined) await thin(parts, task, segment, signal);
    after = segment?.firstSeq;
  }
}

async function thin(
  parts: ArchiveParts,
  task: AgedTask,
  segment: EventSegment,
  signal: AbortSignal,
): Promise<void> {
  const events = await parts.readSegment(segment);
  const left = events.filter(({ type }) => !verboseTypes.has(type));
  if (left.length === events.length) return;
  const replace = async (tx: Tx, by: EventSegment | null) =>
    (await isUnchanged(tx, task)) && tx.segments.replace(segment, by);
  if (left.length === 0) await parts.store.change((tx) => replace(tx, null));
  else await writeSegment(parts, segment, left, signal, replace);
}

/**
 * Writes the file of a segment, then its row with `keep`. A file without a row is deleted: by this process,
 * or by the sweep of files when this process ends before.
 *
 * @returns what `keep` returns: false when the task has changed.
 */
async function writeSegment(
  { store, clock, staging, ...sealing }: ArchiveParts,
  range: Pick<EventSegment, "taskId" | "spaceId" | "firstSeq" | "lastSeq">,
  events: readonly TaskEvent[],
  signal: AbortSignal,
  keep: (tx: Tx, segment: EventSegment) => Promise<boolean>,
): Promise<boolean> {
  const { segment, file } = await packSegment(sealing, range, events);
  const staged = await staging.stage(Readable.from([file]), { accountId: null, max: fileMax, signal });
  const { blobId, sha256 } = staged;
  let isKept = false;
  try {
    isKept = await store.change(async (tx) => {
      if (!(await keep(tx, { ...segment, blobId, sha256, createdAt: clock.now() }))) return false;
      // Thrown, so that nothing of the change stays.
      if (!(await tx.blobs.keep(blobId))) throw uploadAbandoned();
      return true;
    });
    return isKept;
  } finally {
    if (!isKept) await staging.discard(staged);
  }
}
