import { uploadAbandoned } from "../../core/files/writer.ts";
import type { Task } from "../../core/tasks/task.ts";
import { type NewTranscriptRow, rowMax, type TranscriptRows } from "../../core/tasks/transcript.ts";
import { changeOf, type Session } from "../session.ts";
import { ProgrammingError, type Sql, sql } from "../statements.ts";
import { computedShape, tables, textOrNull } from "../table.ts";
import { blobRows } from "./blob.ts";

const { transcript } = tables;
const compaction = transcript.pick("parts", "createdAt");
const blobIds = computedShape({ blobId: textOrNull(sql`blob_id`) });

/** The most rows that are read at once: each can have `rowMax` bytes. */
const pageMax = 50;

/** Transcripts as rows: read in order, written only with the events of their task (`appendTranscript`). */
export function transcriptRows(session: Session): TranscriptRows {
  return {
    list: (taskId, from) =>
      transcript.rows(session)(sql`
        SELECT ${transcript.of("r")} FROM transcript r WHERE task_id = ${taskId} AND position >= ${from} ORDER BY position LIMIT ${pageMax}`),
    compactions: async (taskId, max) =>
      (
        await compaction.rows(session)(sql`
        SELECT ${compaction.of("r")} FROM transcript r WHERE task_id = ${taskId} AND role = 'compaction' ORDER BY position DESC LIMIT ${max}`)
      ).toReversed(),
    deleteOfTask: (taskId) => deleteTranscripts(session, sql`= ${taskId}`),
  };
}

/** @param taskIds what their ids are: a condition without its column. */
export async function deleteTranscripts(session: Session, taskIds: Sql): Promise<void> {
  changeOf(session);
  const deleted = await blobIds.rows(session)(sql`
    DELETE FROM transcript WHERE task_id ${taskIds} RETURNING ${blobIds.of("transcript")}`);
  await blobRows(session).drop(deleted.flatMap(({ blobId }) => blobId ?? []));
}

/** Writes rows with the change that sets a task's current `lastSeq`, and keeps their bytes in the storage. */
export async function appendTranscript(
  session: Session,
  { id: taskId, spaceId, lastSeq }: Pick<Task, "id" | "spaceId" | "lastSeq">,
  added: readonly NewTranscriptRow[],
): Promise<void> {
  if (added.length === 0) return;
  if (added.some(({ parts }) => Buffer.byteLength(JSON.stringify(parts)) > rowMax))
    throw new ProgrammingError("a row of a transcript is too long");
  for (const { blobId } of added)
    if (blobId && !(await blobRows(session).keep(blobId))) throw uploadAbandoned();
  await session.write(
    transcript.insertAll(
      added.map((row) => ({ blobId: null, ...row, taskId, spaceId, seq: row.seq ?? lastSeq })),
    ),
  );
}
