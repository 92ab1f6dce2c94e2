import type { NewEvent } from "../../core/tasks/event.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { Change } from "../session.ts";
import { type Sql, sql, type Truth, truthOf } from "../sql.ts";

/** Whether anybody may be told of a row of `task`. */
export interface Heard {
  readonly heard: Truth;
}

const active = sql`webhook.deleted_at IS NULL AND webhook.status = 'active'`;
const ofAccount = sql`webhook.account_id = task.account_id AND webhook.space_id = task.space_id AND webhook.client_id IS NULL`;
const ofApp = sql`webhook.client_id = task.client_id AND webhook.space_id = task.space_id`;
const heard = sql`
  (EXISTS (SELECT 1 FROM webhook WHERE ${ofAccount} AND ${active}) OR EXISTS (SELECT 1 FROM webhook WHERE ${ofApp} AND ${active})) AS heard`;
const unheard = sql`FALSE AS heard`;

/** Asked by the statement that writes the task, so that it costs an account without webhooks no other. */
export const heardWith = (events: readonly NewEvent[]): Sql => (events.length > 0 ? heard : unheard);

/** Keeps what was found until somebody asks in the same change: without events nothing is told, nor asked. */
export function noteHeard({ unheard }: Change, taskId: string, row: Heard | undefined): void {
  if (row && truthOf(row.heard)) unheard.delete(taskId);
  else unheard.add(taskId);
}

/** The active webhooks that a task is told to, by id and types. */
export function listening({ accountId, spaceId, clientId }: Pick<Task, "accountId" | "spaceId" | "clientId">): Sql {
  const those = (whose: Sql) => sql`SELECT id, event_types FROM webhook WHERE ${whose} AND ${active}`;
  const own = those(sql`account_id = ${accountId} AND space_id = ${spaceId} AND client_id IS NULL`);
  return clientId === null ? own : sql`${own} UNION ALL ${those(sql`client_id = ${clientId} AND space_id = ${spaceId}`)}`;
}
