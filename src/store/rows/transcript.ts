import type { Task } from "../../core/tasks/task.ts";
import { type NewTranscriptRow, rowMax, type TranscriptRows } from "../../core/tasks/transcript.ts";
import { changeOf, type Session } from "../session.ts";
import { ProgrammingError, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { transcript } = tables;

/** The most rows that are read at once: each can have `rowMax` characters. */
const pageMax = 50;

/** Transcripts as rows: read in order, written only with the events of their task (`appendTranscript`). */
export function transcriptRows(session: Session): TranscriptRows {
  return {
    list: (taskId, from) =>
      transcript.rows(session)(sql`
        SELECT ${transcript.of("r")} FROM transcript r WHERE task_id = ${taskId} AND position >= ${from} ORDER BY position LIMIT ${pageMax}`),
    async deleteOfTask(taskId) {
      changeOf(session);
      await session.execute(sql`DELETE FROM transcript WHERE task_id = ${taskId}`);
    },
  };
}

/** Writes rows with the change that sets a task's current `lastSeq`. */
export async function appendTranscript(
  { write }: Session,
  { id: taskId, spaceId, lastSeq }: Pick<Task, "id" | "spaceId" | "lastSeq">,
  added: readonly NewTranscriptRow[],
): Promise<void> {
  if (added.length === 0) return;
  if (added.some(({ parts }) => JSON.stringify(parts).length > rowMax))
    throw new ProgrammingError("a row of a transcript is too long");
  await write(
    transcript.insertAll(added.map((row) => ({ ...row, taskId, spaceId, seq: row.seq ?? lastSeq }))),
  );
}
