import type { Caller } from "../accounts/caller.ts";
import { defined } from "../defined.ts";
import { notFound } from "../failure.ts";
import type { Attachment } from "../files/file.ts";
import type { Tx } from "../store.ts";
import { type EventPayloads, type EventType, eventTypes, type PlanStep, type TaskEvent } from "./event.ts";
import type { SharedTask, TaskStatus } from "./task.ts";

/** The content of an event that visitors see. */
export type SharedContent =
  | {
      readonly kind: "user_message" | "assistant_message";
      readonly content: string;
      readonly attachments: readonly Pick<Attachment, "fileId" | "type" | "filename" | "contentType">[];
    }
  | { readonly kind: "status"; readonly status: TaskStatus }
  | { readonly kind: "plan"; readonly steps: readonly PlanStep[] };

export type SharedEvent = Pick<TaskEvent, "seq" | "timestamp"> & { readonly content: SharedContent };

type Show<T extends EventType> = (payload: EventPayloads[T]) => SharedContent;

const showMessage =
  (kind: "user_message" | "assistant_message") =>
  ({
    content,
    attachments = [],
  }: Pick<EventPayloads["user_message"], "content" | "attachments">): SharedContent => ({
    kind,
    content,
    attachments: attachments.map(({ fileId, type, filename, contentType }) => ({
      fileId,
      type,
      filename,
      contentType,
    })),
  });

/**
 * The members of each type that visitors see, named one by one, so that a new member is hidden; null hides
 * the type.
 */
const shown: { readonly [T in EventType]: Show<T> | null } = {
  user_message: showMessage("user_message"),
  assistant_message: showMessage("assistant_message"),
  status_update: ({ agentStatus }) => ({ kind: "status", status: agentStatus }),
  plan_update: ({ steps }) => ({ kind: "plan", steps: steps.map(showStep) }),
  error_message: null,
  user_stop: null,
  structured_output_result: null,
  tool_used: null,
  new_plan_step: null,
  explanation: null,
};

const showStep = ({ status, title, startedAt, endAt }: PlanStep): PlanStep => ({
  status,
  title,
  ...defined({ startedAt, endAt }),
});

export const sharedTypes: readonly EventType[] = eventTypes.filter((type) => shown[type] !== null);

/** The part of an event that visitors see; null for none of it. */
export function toSharedEvent(event: TaskEvent): SharedEvent | null {
  // Type and payload of an event belong together, which the index does not express.
  const show = shown[event.type] as Show<EventType> | null;
  return show && { seq: event.seq, timestamp: event.timestamp, content: show(event.payload) };
}

/** In the order of the events. */
export interface SharedPage {
  readonly items: readonly SharedEvent[];
  /** More events follow, perhaps only hidden ones. */
  readonly hasMore: boolean;
  /** The number after which the next page, or a watch, continues. */
  readonly nextAfterSeq: number;
}

/**
 * Events that one page examines, hidden ones included: the work of a call without a credential is bounded.
 */
const examinedMax = 5_000;

/**
 * The team whose `team` tasks a caller may open: that of a member's session. A session is identified only
 * while its person is an active member. Null for every other credential, and in a personal space, which has
 * no team.
 */
const teamSpaceOf = ({ credential, role, spaceId }: Caller): string | null =>
  credential.kind === "session" && role !== null ? spaceId : null;

/**
 * Reads a task that this caller may open by its share link; null for any other task, with the same single
 * statement.
 */
export const findSharedTask = (
  tx: Pick<Tx, "tasks">,
  caller: Caller,
  id: string,
): Promise<SharedTask | null> => tx.tasks.findShared(teamSpaceOf(caller), id);

/** @throws Failure `not_found`, the same for a private, a deleted and an unknown task. */
export async function getSharedTask(tx: Pick<Tx, "tasks">, caller: Caller, id: string): Promise<SharedTask> {
  const task = await findSharedTask(tx, caller, id);
  if (!task) throw notFound("task");
  return task;
}

/** Reads a page of events. @throws Failure `not_found` as `getSharedTask`. */
export async function listSharedEvents(
  tx: Pick<Tx, "tasks" | "events">,
  caller: Caller,
  id: string,
  { afterSeq, limit }: { afterSeq: number; limit: number },
): Promise<SharedPage> {
  const { lastSeq } = await getSharedTask(tx, caller, id);
  if (afterSeq >= lastSeq) return { items: [], hasMore: false, nextAfterSeq: afterSeq };
  const end = Math.min(lastSeq, afterSeq + examinedMax);
  const rows = await tx.events.list(id, {
    afterSeq,
    beforeSeq: end + 1,
    order: "asc",
    limit,
    verbose: true,
    types: sharedTypes,
  });
  const nextAfterSeq = rows.length < limit ? end : (rows.at(-1)?.seq ?? end);
  return {
    items: rows.flatMap((row) => toSharedEvent(row) ?? []),
    hasMore: nextAfterSeq < lastSeq,
    nextAfterSeq,
  };
}
