import type { NewEvent } from "../../core/tasks/event.ts";
import type { Advance, Task, TaskChanges } from "../../core/tasks/task.ts";
import type { Visibility } from "../../core/visibility.ts";
import { Misuse } from "../misuse.ts";
import { changeOf, type Session } from "../session.ts";
import { all, assignments, join, type Sql, sql } from "../sql.ts";
import { appendEvents } from "./event.ts";
import { type TaskRow, taskColumnNames, taskColumns, taskOf } from "./task-row.ts";
import { type Heard, heardWith, noteHeard } from "./webhook-audience.ts";

/**
 * One guarded update takes the row's lock, checks the guard and reserves the events'
 * numbers and times, so that READ COMMITTED is enough; then the events are written.
 * Null when the guard did not hold.
 */
export async function advance(session: Session, id: string, step: Advance): Promise<Task | null> {
  const change = changeOf(session);
  const { events = [] } = step;
  checkMessage(step);
  const [row] = await session.query<TaskRow & Heard>(sql`
    UPDATE task SET ${join(changes(step, events))} WHERE ${all(guards(id, step.when))}
    RETURNING ${taskColumnNames("task")}, ${heardWith(events)}`);
  if (!row) return null;
  const task = taskOf(row);
  await appendEvents(session, task, events);
  noteHeard(change, id, row);
  change.news.set(id, { taskId: id, lastSeq: task.lastSeq, fence: task.fence, status: task.status });
  return task;
}

/** Every right-hand side sees the row as it was before. */
function changes({ now, set = {} }: Advance, events: readonly NewEvent[]): Sql[] {
  const found = [sql`updated_at = ${now}`, ...assignments(taskColumns(set)), ...counters(set, events.length)];
  if (events.length > 0) {
    found.push(sql`last_seq = last_seq + ${events.length}`);
    found.push(sql`last_timestamp = CASE WHEN last_timestamp > ${now} THEN last_timestamp ELSE ${now} END + ${events.length}`);
  }
  if (set.addCredits) found.push(sql`credits = ${raised(set.addCredits)}`);
  if (set.shareVisibility !== undefined) found.push(sql`shared_at = ${sharedAt(set.shareVisibility, now)}`);
  if (set.shareVisibility !== undefined || set.maxVisibility !== undefined) found.push(sql`share_changed_at = ${now}`);
  if (set.raiseFence) found.push(sql`fence = fence + 1`);
  if (set.toBrowser) found.push(sql`wants_node = ${holder}`);
  if (set.addsMessage) found.push(sql`message_seq = last_seq + 1`);
  if (set.beginTurn) found.push(sql`answered_seq = consumed_seq`, sql`consumed_seq = last_seq + ${events.length}`);
  if (set.addsMessage || events.some(({ type }) => type === "assistant_message")) found.push(sql`last_message_at = ${now}`);
  return found;
}

/** The process that holds the browser which the task's user has selected for it, while it is online. */
const holder = sql`(
  SELECT b.node_id FROM task_means m JOIN browser b ON b.id = m.browser_id
  WHERE m.task_id = task.id AND b.account_id = task.account_id AND b.space_id = task.space_id)`;

/** A task that is shared anew is so from now on; one that is withdrawn keeps the time. */
const sharedAt = (next: Visibility, now: number): Sql =>
  sql`CASE WHEN share_visibility <> 'private' THEN COALESCE(shared_at, created_at) ELSE ${next === "private" ? sql`shared_at` : now} END`;

/** The wire has 32 bits for them: what is beyond counts as the most there is. What is given back is below 0. */
const creditsMax = 2 ** 31 - 1;
const raised = (added: number): Sql =>
  sql`CASE WHEN credits > ${creditsMax - Math.max(0, added)} THEN ${creditsMax} ELSE credits + ${added} END`;

/**
 * How often the turn was claimed, and how often in a row to no avail. What a step
 * sets outright stands; a turn that begins counts its first claim anew; events show
 * that the claim before them was of use.
 */
function counters({ claims, idleClaims, beginTurn, addClaim }: TaskChanges, added: number): Sql[] {
  const found: Sql[] = [];
  if (claims === undefined && beginTurn) found.push(sql`claims = 1`);
  else if (claims === undefined && addClaim) found.push(sql`claims = claims + 1`);
  if (idleClaims !== undefined) return found;
  if (beginTurn || (added > 0 && !addClaim)) found.push(sql`idle_claims = 0`);
  else if (addClaim) found.push(sql`idle_claims = idle_claims + 1`);
  return found;
}

function guards(id: string, { fence, nodeId, status, consumed }: Advance["when"] = {}): Sql[] {
  const found = [sql`id = ${id}`, sql`deleted_at IS NULL`];
  if (fence !== undefined) found.push(sql`fence = ${fence}`);
  if (nodeId !== undefined) found.push(nodeId === null ? sql`node_id IS NULL` : sql`node_id = ${nodeId}`);
  if (status !== undefined) found.push(sql`status = ${status}`);
  if (consumed) found.push(sql`message_seq <= consumed_seq`);
  return found;
}

/** The number of the newest user_message is known without a query because it comes first. */
function checkMessage({ set, events = [] }: Advance): void {
  const [first, ...others] = events.map(({ type }) => type === "user_message");
  if ((first ?? false) !== (set?.addsMessage ?? false) || others.includes(true)) {
    throw new Misuse("a user_message comes first, alone, and with addsMessage");
  }
}
