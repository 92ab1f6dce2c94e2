import type { ArchiveQuery, ArchiveRows, PackedTask } from "../../core/exports/archive-rows.ts";
import type { Attachment, StoredFile } from "../../core/files/file.ts";
import type { JsonObject } from "../../core/json.ts";
import type { PermissionRule } from "../../core/permissions/rule.ts";
import type { TaskEvent } from "../../core/tasks/event.ts";
import type { ReadTranscript, TranscriptRow } from "../../core/tasks/transcript.ts";
import type { Writers } from "./json.ts";
import { entryName } from "./zip.ts";

/** The number of tasks per page. */
const tasksMax = 100;

/** A file in a task's events; `kept` is null once its row no longer exists. */
export interface SessionFile {
  readonly taskId: string;
  readonly attachment: Attachment;
  readonly kept: StoredFile | null;
}

/** The tasks that an archive packs, oldest first. */
export async function* tasksOf(
  rows: ArchiveRows,
  selection: ArchiveQuery,
): AsyncGenerator<readonly PackedTask[]> {
  for (let after: PackedTask | null = null; ; ) {
    const page: readonly PackedTask[] = await rows.tasks(selection, after, tasksMax);
    if (page.length > 0) yield page;
    if (page.length < tasksMax) return;
    after = page.at(-1) ?? null;
  }
}

/** A task with its events, in order. */
export interface Session {
  readonly task: PackedTask;
  readonly events: AsyncIterable<TaskEvent> | Iterable<TaskEvent>;
}

/** The tasks of a page with their events: those of small tasks are read together. */
export async function* sessionsOf(rows: ArchiveRows, page: readonly PackedTask[]): AsyncGenerator<Session> {
  let together: ReadonlyMap<string, readonly TaskEvent[] | null> = new Map();
  for (const [index, task] of page.entries()) {
    if (!together.has(task.id)) together = await rows.eventsTogether(page.slice(index));
    yield { task, events: together.get(task.id) ?? eventsOf(task, rows.events) };
  }
}

/** A task's record with its events (`session_info.json`), in parts. */
export async function* sessionRow(
  { task, events }: Session,
  writers: Writers,
  withFiles: boolean,
): AsyncGenerator<string> {
  const record = writers.record(task);
  const labels =
    Object.keys(task.metadata).length === 0 ? "" : `,"metadata":${JSON.stringify(task.metadata)}`;
  const turn = task.turnRequest === null ? "" : `,"turn":${JSON.stringify(task.turnRequest)}`;
  const rules =
    task.permissions.length === 0 ? "" : `,"permissions":${JSON.stringify(task.permissions.map(ruleRow))}`;
  yield `${record.slice(0, -1)}${labels}${turn}${rules},"events":[`;
  let comma = "";
  for await (const event of events) {
    yield comma + writers.event(event, (fileId) => (withFiles ? entryOf(event, fileId) : ""));
    comma = ",";
  }
  yield "]}";
}

const ruleRow = ({ eachTime, ...rule }: PermissionRule): JsonObject => ({ ...rule, each_time: eachTime });

/** What the model of a task was given and has answered (`transcript.jsonl`): a JSON object in each line. */
export async function* transcriptLines(
  read: ReadTranscript,
  { id }: Pick<PackedTask, "id">,
): AsyncGenerator<string> {
  for await (const { image, ...row } of read(id)) {
    const data = image && { image: Buffer.from(await image()).toString("base64") };
    yield `${JSON.stringify({ ...transcriptRow(row), ...data })}\n`;
  }
}

const transcriptRow = ({
  taskId,
  position,
  turn,
  seq,
  role,
  parts,
  model,
  activeMs,
  credits,
  createdAt,
  ...row
}: TranscriptRow) => ({
  session_uid: taskId,
  position,
  turn,
  seq,
  role,
  parts,
  model,
  input_tokens: row.inputTokens,
  cached_tokens: row.cachedTokens,
  output_tokens: row.outputTokens,
  active_ms: activeMs,
  credits,
  created_at: new Date(createdAt).toISOString(),
});

/** The files of a page's tasks, each once for each task. */
export async function* filesOf(rows: ArchiveRows, tasks: readonly PackedTask[]): AsyncGenerator<SessionFile> {
  const attached = await rows.tasksWithFiles(tasks.map(({ id }) => id));
  for (const task of tasks.filter(({ id }) => attached.has(id))) {
    const seen = new Set<string>();
    for await (const event of eventsOf(task, rows.eventsWithFiles)) {
      const fresh = attachmentsOf(event).filter(({ fileId }) => !seen.has(fileId) && seen.add(fileId));
      const kept = new Map(
        (await rows.files(fresh.map(({ fileId }) => fileId))).map((file) => [file.id, file]),
      );
      for (const attachment of fresh)
        yield { taskId: task.id, attachment, kept: kept.get(attachment.fileId) ?? null };
    }
  }
}

async function* eventsOf(
  { id, lastSeq }: PackedTask,
  read: ArchiveRows["events"],
): AsyncGenerator<TaskEvent> {
  for (let seq = 0; seq < lastSeq; ) {
    const page = await read(id, seq, lastSeq);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}

const attachmentsOf = (event: TaskEvent): readonly Attachment[] =>
  event.type === "user_message" || event.type === "assistant_message"
    ? (event.payload.attachments ?? [])
    : [];

function entryOf(event: TaskEvent, fileId: string): string {
  const attachment = attachmentsOf(event).find((one) => one.fileId === fileId);
  return attachment ? entryName(event.taskId, attachment) : "";
}
