import { appOf, type Caller, canAccessProjects } from "../accounts/caller.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import {
  type CursorBinding,
  decodeCursor,
  encodeCursor,
  type Page,
  type PageInput,
  pageOf,
} from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { type EventWindow, parseEventId, type TaskEvent } from "./event.ts";
import type { TaskView } from "./task.ts";
import type { TaskOrder } from "./task-page.ts";
import type { TaskCounts, TaskFilter } from "./task-rows.ts";

/** A page of a task's events after `afterSeq`. The cursor is bound to every field except the start. */
export interface MessagesInput extends PageInput {
  readonly verbose: boolean;
  readonly startEventId: string | undefined;
  readonly afterSeq?: number | undefined;
}

/** A page of tasks, by creation time unless `orderBy` says otherwise. */
export interface TasksInput extends PageInput {
  readonly orderBy: TaskOrder;
  /** Also counts the tasks by state. */
  readonly includeCounts: boolean;
}

export interface TasksPage extends Page<TaskView> {
  /** False while a search may miss tasks, because their texts are not indexed yet. */
  readonly isComplete: boolean;
  readonly counts?: TaskCounts;
}

/** Lists of a caller. A cursor is bound to the caller, the filter and the order. */
export interface Listings {
  /**
   * A page may be short although another follows (spec/api.md 8.3).
   *
   * @throws Failure as `checkFilterAccess`; `invalid_argument` for the order of waits without the status
   * `waiting`.
   */
  tasks(tx: Tx, caller: Caller, filter: TaskFilter, input: TasksInput): Promise<TasksPage>;
  /** By number (spec/api.md 8.8). */
  messages(
    tx: Tx,
    caller: Caller,
    taskId: string,
    input: MessagesInput,
  ): Promise<Page<TaskEvent> & { task: TaskView }>;
}

export const listings: Listings = {
  async tasks(tx, caller, filter, { limit, order, orderBy, cursor, includeCounts }) {
    checkFilterAccess(caller, filter);
    if (orderBy === "waitingSince" && (filter.status !== "waiting" || filter.view === "team"))
      throw invalidArgument(
        "order_by",
        "waiting_since needs status=waiting, and cannot be given with view=team",
      );
    const binding = bind(caller, "task.list", {
      ...filter,
      order,
      ...(orderBy === "createdAt" ? {} : { orderBy }),
    });
    const after = cursor ? decodeCursor(binding, cursor) : undefined;
    const page = { orderBy, order, limit, ...(after ? { after: { at: after.value, id: after.id } } : {}) };
    // Before the list: tasks that are indexed between the two are in the list.
    const isComplete = filter.words === undefined || (await tx.tasks.isIndexed(caller, filter));
    const { tasks, next } = await tx.tasks.list(caller, filter, page);
    const counts = includeCounts ? await tx.tasks.countByStatus(caller, filter) : undefined;
    return {
      items: tasks,
      next: next && encodeCursor(binding, { value: next.at, id: next.id }),
      isComplete,
      ...(counts ? { counts } : {}),
    };
  },

  async messages(tx, caller, taskId, { limit, order, cursor, verbose, startEventId, afterSeq = 0 }) {
    const task = await tx.tasks.find(caller, taskId);
    if (!task) throw notFound("task");
    const binding = bind(caller, "task.listMessages", { taskId: task.id, order, verbose, afterSeq });
    const bound = cursor
      ? boundAt(order, decodeCursor(binding, cursor).value)
      : startBound(task, order, startEventId);
    // Omits events newer than the read of the task, so that `last_seq` and the list agree.
    const window = {
      beforeSeq: task.lastSeq + 1,
      ...bound,
      afterSeq: Math.max(afterSeq, bound.afterSeq ?? 0),
    };
    const rows = await tx.events.list(task.id, { ...window, order, limit: limit + 1, verbose });
    return { task, ...pageOf(rows, limit, binding, ({ seq }) => ({ value: seq, id: task.id })) };
  },
};

/**
 * Checks that a caller may use a filter. Only sessions see what is shared with their team (spec/decisions.md
 * 8, 58, 82).
 *
 * @throws Failure `not_found` for a project, when an app has no scope for projects; `permission_denied` for
 * the view of the team without a session, `failed_precondition` for it in a personal space.
 */
export function checkFilterAccess(caller: Caller, { projectId, view }: TaskFilter): void {
  if (projectId !== undefined && !canAccessProjects(caller)) throw notFound("project", "project_id");
  if (view === "team" && caller.credential.kind !== "session")
    throw new Failure("permission_denied", "view=team needs a session");
  if (view === "team" && caller.role === null)
    throw new Failure("failed_precondition", "view=team needs the space of a team");
}

/** Cursors are bound to the app too. */
const bind = (caller: Caller, operation: string, filter: object): CursorBinding => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  clientId: appOf(caller) ?? undefined,
  operation,
  filter,
});

type Bound = Pick<EventWindow, "afterSeq" | "beforeSeq">;

const boundAt = (order: "asc" | "desc", seq: number): Bound =>
  order === "asc" ? { afterSeq: seq } : { beforeSeq: seq };

/** The first page begins at this event, inclusive, in the requested order (spec/decisions.md 19b). */
function startBound(task: TaskView, order: "asc" | "desc", startEventId: string | undefined): Bound {
  if (startEventId === undefined || startEventId === "") return {};
  const seq = parseEventId(task.id, startEventId);
  if (seq === undefined || seq > task.lastSeq)
    throw invalidArgument("start_event_id", "is not an event of this task");
  return boundAt(order, order === "asc" ? seq - 1 : seq + 1);
}
