import { appOf, type Caller, reachesProjects } from "../caller.ts";
import { absent, invalid } from "../failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../page.ts";
import type { Tx } from "../store.ts";
import { type EventWindow, seqOf, type TaskEvent } from "./event.ts";
import type { TaskFilter, TaskView } from "./task.ts";

/** A page as a caller asks for it; an empty cursor is none. */
export interface Wanted {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly cursor: string | undefined;
}

/** A page of a task's events, `afterSeq` excluded; the cursor is bound to all of it but the start. */
export interface WantedMessages extends Wanted {
  readonly verbose: boolean;
  readonly startEventId: string | undefined;
  readonly afterSeq?: number | undefined;
}

/** A page of something; `next` is the cursor of the page after it, if there is one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** Lists of a caller: a cursor is bound to the caller, the filter and the order it was made for. */
export interface Listings {
  /** By creation time (contract/v2.md 8.3). @throws Failure `absent` for a project, to an app without a scope for them. */
  tasks(tx: Tx, caller: Caller, filter: TaskFilter, wanted: Wanted): Promise<Page<TaskView>>;
  /** By number (contract/v2.md 8.8). */
  messages(tx: Tx, caller: Caller, taskId: string, wanted: WantedMessages): Promise<Page<TaskEvent> & { readonly task: TaskView }>;
}

export const listings: Listings = {
  async tasks(tx, caller, filter, { limit, order, cursor }) {
    if (filter.projectId !== undefined && !reachesProjects(caller)) throw absent("project", "project_id");
    const binding = bind(caller, "task.list", { ...filter, order });
    const after = cursor ? decodeCursor(binding, cursor) : undefined;
    const page = { order, limit: limit + 1, ...(after ? { after: { createdAt: after.value, id: after.id } } : {}) };
    const rows = await tx.tasks.list(caller, filter, page);
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { items, next: rows.length > limit && last ? encodeCursor(binding, { value: last.createdAt, id: last.id }) : undefined };
  },

  async messages(tx, caller, taskId, { limit, order, cursor, verbose, startEventId, afterSeq = 0 }) {
    const task = await tx.tasks.find(caller, taskId);
    if (!task) throw absent("task");
    const binding = bind(caller, "task.listMessages", { taskId: task.id, order, verbose, afterSeq });
    const bound = cursor ? boundAt(order, decodeCursor(binding, cursor).value) : startBound(task, order, startEventId);
    // What came after the task was read is not shown: `last_seq` and the list tell of one moment.
    const window = { beforeSeq: task.lastSeq + 1, ...bound, afterSeq: Math.max(afterSeq, bound.afterSeq ?? 0) };
    const rows = await tx.events.list(task.id, { ...window, order, limit: limit + 1, verbose });
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { task, items, next: rows.length > limit && last ? encodeCursor(binding, { value: last.seq, id: task.id }) : undefined };
  },
};

/** Each app has cursors of its own, whatever it may see. */
const bind = (caller: Caller, operation: string, filter: object): CursorBinding => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  clientId: appOf(caller) ?? undefined,
  operation,
  filter,
});

type Bound = Pick<EventWindow, "afterSeq" | "beforeSeq">;

const boundAt = (order: "asc" | "desc", seq: number): Bound => (order === "asc" ? { afterSeq: seq } : { beforeSeq: seq });

/** The first page begins at this event, inclusive, in the order asked for (contract/decisions.md 19b). */
function startBound(task: TaskView, order: "asc" | "desc", startEventId: string | undefined): Bound {
  if (startEventId === undefined || startEventId === "") return {};
  const seq = seqOf(task.id, startEventId);
  if (seq === undefined || seq > task.lastSeq) throw invalid("start_event_id", "is no event of this task");
  return boundAt(order, order === "asc" ? seq - 1 : seq + 1);
}
