import { type Caller, lockActiveMember } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { createFileId } from "../files/file.ts";
import type { Ids } from "../ids.ts";
import type { Tx } from "../store.ts";
import type { NewEvent } from "../tasks/event.ts";
import { idleTask } from "../tasks/lifecycle.ts";
import { canonicalLocale } from "../tasks/message.ts";
import { type Metadata, mergeMetadata } from "../tasks/metadata.ts";
import { defaultProfile, type Profiles } from "../tasks/profile.ts";
import { depthMax, rootOf } from "../tasks/subtasks.ts";
import type { Task } from "../tasks/task.ts";
import { type AttachmentCopy, fileIdsOf, keepAttachments } from "./imported-files.ts";
import type { ImportedObject, ImportSource } from "./imported-object.ts";
import { claim, findCopy, noteRepeat } from "./imports.ts";
import { keyOf } from "./source.ts";

/** A task at its source. Times are Unix milliseconds. */
export interface TaskCopy {
  readonly source: ImportSource;
  readonly title: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly agentProfile: string | undefined;
  readonly hidden: boolean;
  readonly metadata: Metadata;
  /** The ids of its project and its parent at the source. */
  readonly projectId: string | undefined;
  readonly parentId: string | undefined;
}

/** An event at its source. Files are apart from its payload. */
export interface EventCopy {
  readonly id: string;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly event: NewEvent;
  readonly attachments: readonly AttachmentCopy[];
}

export interface EventsCopy {
  readonly source: ImportSource;
  /** The number of events before the first one. */
  readonly after: number;
  readonly events: readonly EventCopy[];
  readonly complete: boolean;
}

export interface TaskCopied {
  readonly id: string;
  readonly events: number;
  readonly complete: boolean;
  /** Ids at the source of its files without bytes; empty until it is complete. */
  readonly missingFiles: readonly string[];
}

/** Copies tasks of another server into the caller's account (spec/api.md 8.95). */
export interface ImportedTasks {
  /**
   * @throws Failure `failed_precondition` for a project or a parent that is not imported, and for a parent
   * that is too deep.
   */
  task(tx: Tx, caller: Caller, copy: TaskCopy): Promise<TaskCopied & { created: boolean }>;
  /**
   * Appends events that the task does not have yet. A task that is complete, or deleted, stays as it is.
   *
   * @throws Failure `not_found`, `invalid_argument` for times that do not increase, `failed_precondition` for
   * a gap, and for a task that got an event here.
   */
  events(tx: Tx, caller: Caller, copy: EventsCopy): Promise<TaskCopied>;
}

/** How far the clock of a source may be ahead, in milliseconds. */
const aheadMs = 24 * 3_600_000;
const missingMax = 1_000;

export interface ImportedTasksParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly profiles: Pick<Profiles, "parse">;
}

export function importedTasks({ clock, ids, profiles }: ImportedTasksParts): ImportedTasks {
  return {
    async task(tx, caller, copy) {
      if (copy.updatedAt < copy.createdAt)
        throw invalidArgument("updated_at", "must not be before created_at");
      if (copy.updatedAt > clock.now() + aheadMs) throw invalidArgument("updated_at", futureRule);
      const key = keyOf(caller, "task", copy.source);
      await lockActiveMember(tx, caller);
      const { id, created } = await claim(tx, key, ids.short(), clock.now());
      const object = await requireImported(tx.imports.find(key));
      if (!created) return { ...(await progressOf(tx, object)), ...noteRepeat(tx, id, copy.source) };
      const parent = await parentOf(tx, caller, copy);
      const projectId = await findCopy(
        tx,
        caller,
        { origin: copy.source.origin, id: copy.projectId },
        "project",
      );
      await tx.tasks.insert(
        { ...newTask(id, caller, copy, profiles, clock.now()), ...placeOf(projectId, parent) },
        [],
      );
      if (parent) await tx.tasks.addImportedSubtask(parent.id);
      tx.audit.note({ subject: id, after: { importedFrom: copy.source } });
      return { ...(await progressOf(tx, object)), created };
    },
    async events(tx, caller, { source, after, events, complete }) {
      const key = keyOf(caller, "task", source);
      checkTimes(events, clock.now());
      await lockActiveMember(tx, caller);
      const object = await requireImported(tx.imports.lock(key));
      const task = object.complete ? null : await tx.tasks.lock(caller, object.localId);
      if (task === null) {
        noteRepeat(tx, object.localId, source);
        return progressOf(tx, { ...object, complete: true });
      }
      if (after > object.seq)
        throw new Failure("failed_precondition", `after: the task has ${object.seq} events`, {
          path: "after",
        });
      const added = events.slice(object.seq - after);
      await append(tx, task, { source, object, added, complete }, ids);
      const progress = { seq: object.seq + added.length, complete };
      await tx.imports.update(key, progress);
      tx.audit.note({ subject: task.id, after: { importedFrom: source, events: added.length, complete } });
      return progressOf(tx, { ...object, ...progress });
    },
  };
}

const futureRule = "is more than a day in the future";

/** Files that need bytes matter once the task is complete; those of a deleted task never do. */
async function progressOf(tx: Tx, { localId, seq, complete }: ImportedObject): Promise<TaskCopied> {
  const isThere = complete && (await tx.tasks.byId(localId)) !== null;
  return {
    id: localId,
    events: seq,
    complete,
    missingFiles: isThere ? await tx.imports.listMissingFiles(localId, missingMax) : [],
  };
}

async function requireImported(found: Promise<ImportedObject | null>): Promise<ImportedObject> {
  const object = await found;
  if (object === null) throw notFound("task", "source.id");
  return object;
}

async function parentOf(tx: Tx, caller: Caller, { source, parentId }: TaskCopy): Promise<Task | null> {
  const id = await findCopy(tx, caller, { origin: source.origin, id: parentId }, "task");
  const parent = id === null ? null : await tx.tasks.lock(caller, id);
  if (parent && parent.depth >= depthMax)
    throw new Failure("failed_precondition", `parent_task_id: subtasks are at most ${depthMax} deep`, {
      path: "parent_task_id",
    });
  return parent;
}

function placeOf(projectId: string | null, parent: Task | null): Partial<Task> {
  if (parent)
    return {
      projectId,
      type: "agent_subtask",
      parentId: parent.id,
      rootId: rootOf(parent),
      depth: parent.depth + 1,
    };
  return projectId === null ? {} : { projectId, type: "project" };
}

/** A finished task without events. Its share, its cost and its credentials stay at the source. */
const newTask = (
  id: string,
  caller: Caller,
  copy: TaskCopy,
  profiles: Pick<Profiles, "parse">,
  now: number,
): Task => ({
  ...idleTask(id, caller, copy.createdAt),
  title: copy.title,
  updatedAt: copy.updatedAt,
  agentProfile: profileOf(copy.agentProfile, profiles),
  hidden: copy.hidden,
  locale: canonicalLocale(undefined, caller.locale),
  metadata: mergeMetadata({}, copy.metadata),
  // What its agent has read there is not known here.
  untrusted: true,
  importedFrom: { origin: copy.source.origin, id: copy.source.id, at: now },
});

/** The profile of the source if this server has it, else the default one. */
function profileOf(text: string | undefined, profiles: Pick<Profiles, "parse">): string {
  try {
    return profiles.parse(text, defaultProfile);
  } catch (thrown) {
    if (thrown instanceof Failure) return defaultProfile;
    throw thrown;
  }
}

/** @throws Failure `invalid_argument` for times that do not increase, or are in the future. */
function checkTimes(events: readonly EventCopy[], now: number): void {
  for (const [index, { timestamp }] of events.entries()) {
    const path = `events[${index}].timestamp`;
    const before = events[index - 1]?.timestamp;
    if (before !== undefined && timestamp <= before)
      throw invalidArgument(path, "must be after that of the event before it");
    if (timestamp > now + aheadMs) throw invalidArgument(path, futureRule);
  }
}

interface Appended {
  readonly source: ImportSource;
  readonly object: ImportedObject;
  readonly added: readonly EventCopy[];
  readonly complete: boolean;
}

/** Appends events, and after the last one the end of a turn that has none. */
async function append(
  tx: Tx,
  task: Task,
  { source, object, added, complete }: Appended,
  ids: Pick<Ids, "short">,
): Promise<void> {
  if (task.lastSeq !== object.seq)
    throw new Failure(
      "failed_precondition",
      "the task was continued here before all its events were imported",
    );
  const [first] = added;
  if (first && first.timestamp <= task.lastTimestamp)
    throw invalidArgument(
      "events[0].timestamp",
      `must be after that of the event before it, ${task.lastTimestamp}`,
    );
  const fileIds = fileIdsOf(added, () => createFileId(ids));
  const events = added.map((copy, index) => ({
    ...withFiles(copy, fileIds[index] ?? []),
    timestamp: copy.timestamp,
  }));
  const closing = complete ? await closingOf(tx, task, events) : [];
  await tx.tasks.appendImported(task, [...events, ...closing]);
  await keepAttachments(tx, task, { origin: source.origin, firstSeq: object.seq + 1, added, fileIds });
}

function withFiles({ event, attachments: copies }: EventCopy, ids: readonly string[]): NewEvent {
  if (copies.length === 0 || (event.type !== "user_message" && event.type !== "assistant_message"))
    return event;
  const attachments = copies.map((copy, index) => ({ ...copy, fileId: ids[index] ?? "", bytes: 0 }));
  return { ...event, payload: { ...event.payload, attachments } } as NewEvent;
}

/** The end of a task that had not ended at its source, with a text for people. */
async function closingOf(
  tx: Tx,
  { id, lastTimestamp }: Task,
  added: readonly (NewEvent & { timestamp: number })[],
): Promise<readonly (NewEvent & { timestamp: number })[]> {
  const window = { order: "desc", limit: 1, verbose: true, types: ["status_update"] } as const;
  const latest =
    added.findLast(({ type }) => type === "status_update") ?? (await tx.events.list(id, window))[0];
  const status = latest?.type === "status_update" ? latest.payload.agentStatus : null;
  if (status === "stopped" || status === "error") return [];
  const timestamp = (added.at(-1)?.timestamp ?? lastTimestamp) + 1;
  const brief =
    status === null
      ? "Imported"
      : `Imported while the task was ${status} at its source; it does not continue here`;
  return [{ type: "status_update", payload: { agentStatus: "stopped", brief }, timestamp }];
}
