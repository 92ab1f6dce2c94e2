import { appOf, type Caller, canAccessProjects } from "../accounts/caller.ts";
import { invalidArgument, notFound } from "../failure.ts";
import { type CursorBinding, decodeCursor, encodeCursor, type Page, type PageInput } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { type EventWindow, parseEventId, type TaskEvent } from "./event.ts";
import type { TaskFilter, TaskOrder, TaskView } from "./task.ts";

/** A page of a task's events after `afterSeq`. The cursor is bound to every field except the start. */
export interface MessagesInput extends PageInput {
  readonly verbose: boolean;
  readonly startEventId: string | undefined;
  readonly afterSeq?: number | undefined;
}

/** A page of tasks, by creation time unless `orderBy` says otherwise. */
export interface TasksInput extends PageInput {
  readonly orderBy: TaskOrder;
}

/** A page of tasks. */
export interface TasksPage extends Page<TaskView> {
  /** False while a search may miss tasks, because their texts are not indexed yet. */
  readonly isComplete: boolean;
}

/** Lists of a caller. A cursor is bound to the caller, the filter and the order. */
export interface Listings {
  /** A page may be short although another follows (spec/api.md 8.3). @throws Failure `not_found` for a project, when an app has no scope for projects. */
  tasks(tx: Tx, caller: Caller, filter: TaskFilter, input: TasksInput): Promise<TasksPage>;
  /** By number (spec/api.md 8.8). */
  messages(tx: Tx, caller: Caller, taskId: string, input: MessagesInput): Promise<Page<TaskEvent> & { readonly task: TaskView }>;
}

export const listings: Listings = {
  async tasks(tx, caller, filter, { limit, order, orderBy, cursor }) {
    if (filter.projectId !== undefined && !canAccessProjects(caller)) throw notFound("project", "project_id");
    const binding = bind(caller, "task.list", { ...filter, order, ...(orderBy === "createdAt" ? {} : { orderBy }) });
    const after = cursor ? decodeCursor(binding, cursor) : undefined;
    const page = { orderBy, order, limit, ...(after ? { after: { at: after.value, id: after.id } } : {}) };
    // Before the list: tasks that are indexed between the two are in the list.
    const isComplete = filter.words === undefined || (await tx.tasks.isIndexed(caller));
    const { tasks: items, next } = await tx.tasks.list(caller, filter, page);
    return { items, next: next && encodeCursor(binding, { value: next.at, id: next.id }), isComplete };
  },

  async messages(tx, caller, taskId, { limit, order, cursor, verbose, startEventId, afterSeq = 0 }) {
    const task = await tx.tasks.find(caller, taskId);
    if (!task) throw notFound("task");
    const binding = bind(caller, "task.listMessages", { taskId: task.id, order, verbose, afterSeq });
    const bound = cursor ? boundAt(order, decodeCursor(binding, cursor).value) : startBound(task, order, startEventId);
    // Omits events newer than the read of the task, so that `last_seq` and the list agree.
    const window = { beforeSeq: task.lastSeq + 1, ...bound, afterSeq: Math.max(afterSeq, bound.afterSeq ?? 0) };
    const rows = await tx.events.list(task.id, { ...window, order, limit: limit + 1, verbose });
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    return { task, items, next: rows.length > limit && last ? encodeCursor(binding, { value: last.seq, id: task.id }) : undefined };
  },
};

/** Cursors are bound to the app too. */
const bind = (caller: Caller, operation: string, filter: object): CursorBinding => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  clientId: appOf(caller) ?? undefined,
  operation,
  filter,
});

type Bound = Pick<EventWindow, "afterSeq" | "beforeSeq">;

const boundAt = (order: "asc" | "desc", seq: number): Bound => (order === "asc" ? { afterSeq: seq } : { beforeSeq: seq });

/** The first page begins at this event, inclusive, in the requested order (spec/decisions.md 19b). */
function startBound(task: TaskView, order: "asc" | "desc", startEventId: string | undefined): Bound {
  if (startEventId === undefined || startEventId === "") return {};
  const seq = parseEventId(task.id, startEventId);
  if (seq === undefined || seq > task.lastSeq) throw invalidArgument("start_event_id", "is not an event of this task");
  return boundAt(order, order === "asc" ? seq - 1 : seq + 1);
}
