import type { Scope } from "../caller.ts";
import type { Tx } from "../store.ts";
import type { EventWindow, TaskEvent } from "./event.ts";
import type { Task, TaskStatus } from "./task.ts";

/** A task that another refers to, open to be read. */
export interface ReferencedTask {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The number of its newest event. */
  readonly lastSeq: number;
  events(window: EventWindow): Promise<readonly TaskEvent[]>;
}

/** The tasks that a task refers to (contract/v2.md 9.8). */
export interface References {
  readonly ids: readonly string[];
  /** Null for what is not referred to, and what may not be opened, as for what does not exist: access is looked at each time. */
  open(id: string): Promise<ReferencedTask | null>;
}

/** What a task refers to, as its owner sees it; that of an app's task, as the app does. */
export function referencesOf(
  store: Pick<Tx, "tasks" | "events">,
  { references: ids, accountId, spaceId, clientId }: Pick<Task, "references" | "accountId" | "spaceId" | "clientId">,
): References {
  const scope: Scope = { accountId, spaceId, clientId: clientId ?? undefined };
  return {
    ids,
    async open(id) {
      const task = ids.includes(id) ? await store.tasks.find(scope, id) : null;
      return task && openedTask(store, task);
    },
  };
}

/** A task whose access was looked at, to be read. */
export const openedTask = (
  { events }: Pick<Tx, "events">,
  { id, title, status, createdAt, lastSeq }: Pick<Task, "id" | "title" | "status" | "createdAt" | "lastSeq">,
): ReferencedTask => ({ id, title, status, createdAt, lastSeq, events: (window) => events.list(id, window) });
