import type { NewEvent } from "../../core/tasks/event.ts";
import { progressOf } from "../../core/tasks/latest.ts";
import { waitingNode } from "../../core/tasks/lifecycle.ts";
import type { Advance, Task, TaskChanges, TaskProgress, TaskWritten } from "../../core/tasks/task.ts";
import type { Visibility } from "../../core/visibility.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, join, ProgrammingError, type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";
import { appendEvents } from "./event.ts";
import { deleteMetadata, replaceMetadata } from "./task-metadata.ts";
import { isKept, taskShape } from "./task-row.ts";
import { deleteEntries } from "./task-text.ts";
import { appendTranscript } from "./transcript.ts";
import { hasWebhooks } from "./webhook-event.ts";

const tombstoneShape = tables.task.pick("lastSeq", "fence", "spaceId", "accountId");

/** Whose task it is, for its news. */
export const ownerOf = ({ spaceId, accountId }: Pick<Task, "spaceId" | "accountId">) => ({
  spaceId,
  accountId,
});

/** The columns that every tombstone clears. */
const blank: TaskChanges & Partial<Task & TaskProgress> = {
  outputSchema: null,
  memo: null,
  turnRequest: null,
  allowed: [],
  permissions: [],
  agentProfile: "",
  locale: "",
  references: [],
  clientId: null,
  apiKeyId: null,
  nodeId: null,
  hidden: false,
  credits: 0,
  metadata: {},
  latestStatus: null,
  statusSeq: null,
  planDone: null,
  planTotal: null,
  turnUntil: null,
  importedFrom: null,
  traceparent: null,
};

/**
 * The columns that a team's tombstone keeps for exports, and that a personal space's tombstone clears too.
 */
const blankPersonal: Partial<Task> = {
  title: "",
  type: "standard",
  status: "stopped",
  shareVisibility: "private",
  projectId: null,
  scheduleId: null,
  parentId: null,
  rootId: null,
  depth: 0,
  parentTurn: 0,
  subtasks: 0,
};

/**
 * Makes a task a tombstone (spec/decisions.md 14). Raises its fence, so that its runner
 * can no longer write. A second call changes nothing.
 */
export async function tombstone(session: Session, id: string, now: number, personal: boolean): Promise<void> {
  const { news } = changeOf(session);
  const cleared = tables.task.set(personal ? { ...blank, ...blankPersonal } : blank);
  const row = await tombstoneShape.row(session)(sql`
      UPDATE task SET ${join(cleared)}, fence = fence + 1, updated_at = ${now}, deleted_at = ${now}
    WHERE id = ${id} AND deleted_at IS NULL RETURNING ${tombstoneShape.of("task")}`);
  // The row keeps its status, so without a different one here, waiting subscriptions would see no change.
  if (!row) return;
  await deleteMetadata(session, id);
  await deleteEntries(session, id);
  news.set(id, { taskId: id, ...row, status: "deleted" });
}

const advanced = {
  withoutEvents: taskShape.with({ hasWebhooks: hasWebhooks.alwaysFalse }),
  withEvents: taskShape.with({ hasWebhooks: hasWebhooks.computed }),
};

/**
 * One conditional update locks the row, checks the guard and reserves the numbers and times
 * of the events, so that READ COMMITTED is enough. Then the events are written. Returns
 * null when the guard was false.
 */
export async function advance(session: Session, id: string, step: Advance): Promise<TaskWritten | null> {
  const change = changeOf(session);
  const { events = [] } = step;
  checkMessage(step);
  const shape = events.length > 0 ? advanced.withEvents : advanced.withoutEvents;
  const row = await shape.row(session)(sql`
    UPDATE task SET ${join(changes(step, events))} WHERE ${allOf(guards(id, step.when))} RETURNING ${shape.of("task")}`);
  if (!row) return null;
  const { hasWebhooks, ...task } = row;
  await appendEvents(session, task, events, step.set?.title);
  await appendTranscript(session, task, step.rows ?? []);
  if (step.set?.metadata) await replaceMetadata(session, task, step.set.metadata);
  change.news.set(id, {
    taskId: id,
    lastSeq: task.lastSeq,
    fence: task.fence,
    status: task.status,
    ...ownerOf(task),
    ...(task.readSeq > 0 ? { readSeq: task.readSeq } : {}),
  });
  return { task, isNew: false, events, hasWebhooks };
}

/** `readUpTo` of the row. */
const readSeq = sql`CASE WHEN read_seq > consumed_seq THEN read_seq ELSE consumed_seq END`;

/** Every right-hand side uses the old values of the row. */
export function changes(
  { now, set = {} }: Advance,
  events: readonly NewEvent[],
  times = timesOf(now, set),
): Sql[] {
  const found = [...times, ...tables.task.set(set), ...counters(set, events.length)];
  if (events.length > 0) {
    found.push(sql`last_seq = last_seq + ${events.length}`);
    // Older texts that are not in the search index yet are added by maintenance.
    found.push(
      sql`indexed_seq = CASE WHEN indexed_seq = last_seq THEN last_seq + ${events.length} ELSE indexed_seq END`,
    );
    found.push(
      sql`last_timestamp = CASE WHEN last_timestamp > ${now} THEN last_timestamp ELSE ${now} END + ${events.length}`,
    );
  }
  const { statusAt, ...progress } = progressOf(events);
  found.push(...tables.task.set(progress));
  if (statusAt !== undefined) found.push(sql`status_seq = last_seq + ${statusAt}`);
  if (set.addCredits) found.push(sql`credits = ${creditsAfter(set.addCredits)}`);
  if (set.shareVisibility !== undefined) found.push(sql`shared_at = ${sharedAt(set.shareVisibility, now)}`);
  if (set.shareVisibility !== undefined || set.maxVisibility !== undefined)
    found.push(sql`share_changed_at = ${now}`);
  if (set.addSubtasks) found.push(sql`subtasks = subtasks + ${set.addSubtasks}`);
  if (set.raiseFence) found.push(sql`fence = fence + 1`);
  if (set.toBrowser) found.push(sql`wants_node = ${selectedBrowserNode}`);
  if (set.addsMessage) found.push(sql`message_seq = last_seq + 1`);
  if (set.beginTurn)
    found.push(sql`answered_seq = ${readSeq}`, sql`consumed_seq = last_seq + ${events.length}`);
  if (set.status === "waiting")
    found.push(sql`waiting_since = CASE WHEN status = 'waiting' THEN waiting_since ELSE ${now} END`);
  if (set.turnUntil === undefined) found.push(...turnEnd(now, set));
  if (set.addsMessage || events.some(({ type }) => type === "assistant_message"))
    found.push(sql`last_message_at = ${now}`);
  return found;
}

/**
 * Indexes have `updated_at` and `served_at`. They are written when no process runs the task, so that
 * PostgreSQL writes no index in a run.
 */
function timesOf(now: number, { status, nodeId }: TaskChanges): Sql[] {
  if (status === undefined && nodeId !== null)
    return [
      sql`touched_at = CASE WHEN node_id IS NULL THEN 0 ELSE CAST(${now} AS BIGINT) END`,
      sql`updated_at = CASE WHEN node_id IS NULL THEN ${now} ELSE updated_at END`,
    ];
  return [
    sql`touched_at = 0`,
    sql`updated_at = CASE WHEN touched_at > ${now} THEN touched_at ELSE ${now} END`,
    sql`served_at = CASE WHEN claimed_at > served_at THEN claimed_at ELSE served_at END`,
  ];
}

/** The times of a claim. */
export const claimTimes = (now: number): Sql[] => [sql`touched_at = ${now}`, sql`claimed_at = ${now}`];

/**
 * A claim begins the turn of a waiting task with all its messages; that of a turn in progress counts its
 * claims.
 */
export const claim = (nodeId: string, now: number): readonly Sql[] => [
  ...claimTimes(now),
  sql`node_id = ${nodeId}`,
  sql`fence = fence + 1`,
  sql`claims = claims + 1`,
  sql`idle_claims = CASE WHEN claims = 0 THEN 0 ELSE idle_claims + 1 END`,
  sql`answered_seq = CASE WHEN claims = 0 THEN ${readSeq} ELSE answered_seq END`,
  sql`consumed_seq = CASE WHEN claims = 0 THEN last_seq ELSE consumed_seq END`,
  sql`turn_until = COALESCE(CASE WHEN claims = 0 THEN NULL ELSE turn_until END, ${timeEnd(now)})`,
];

/**
 * A turn has its time from its first run on. The end of a wait, for the user or for subtasks, begins the time
 * again.
 */
function turnEnd(now: number, { status, nodeId, beginTurn }: TaskChanges): Sql[] {
  if ((status !== undefined && status !== "running") || nodeId === waitingNode)
    return [sql`turn_until = NULL`];
  return beginTurn ? [sql`turn_until = ${timeEnd(now)}`] : [];
}

const timeEnd = (
  now: number,
): Sql => sql`${now} + (SELECT CAST(p.time_limit AS BIGINT) * 1000 FROM agent_profile p
  WHERE p.space_id = task.space_id AND p.profile = task.agent_profile)`;

/** The process that holds the task's selected browser, while the browser is online. */
const selectedBrowserNode = sql`(
  SELECT b.node_id FROM task_means m JOIN browser b ON b.id = m.browser_id
  WHERE m.task_id = task.id AND b.account_id = task.account_id AND b.space_id = task.space_id)`;

/** A newly shared task gets the current time. A task that is no longer shared keeps its time. */
const sharedAt = (next: Visibility, now: number): Sql =>
  sql`CASE WHEN share_visibility <> 'private' THEN COALESCE(shared_at, created_at) ELSE ${next === "private" ? sql`shared_at` : now} END`;

/** The wire has 32 bits for credits, so larger sums are stored as the maximum. Refunds are negative. */
const creditsMax = 2 ** 31 - 1;
const creditsAfter = (added: number): Sql =>
  sql`CASE WHEN credits > ${creditsMax - Math.max(0, added)} THEN ${creditsMax} ELSE credits + ${added} END`;

/**
 * The number of claims of the turn, and the number of consecutive claims without events; `claim` counts them.
 * A value that the step sets explicitly is kept. A new turn starts with its first claim.
 * Events show that the claim before them was productive.
 */
function counters({ claims, idleClaims, beginTurn }: TaskChanges, added: number): Sql[] {
  const found: Sql[] = [];
  if (claims === undefined && beginTurn) found.push(sql`claims = 1`);
  if (idleClaims === undefined && (beginTurn || added > 0)) found.push(sql`idle_claims = 0`);
  return found;
}

function guards(id: string, { fence, nodeId, status, consumed }: Advance["when"] = {}): Sql[] {
  const found = [sql`id = ${id}`, isKept];
  if (fence !== undefined) found.push(sql`fence = ${fence}`);
  if (nodeId !== undefined) found.push(nodeId === null ? sql`node_id IS NULL` : sql`node_id = ${nodeId}`);
  if (status !== undefined) found.push(sql`status = ${status}`);
  if (consumed) found.push(sql`message_seq <= ${readSeq}`);
  return found;
}

/** A user_message must be the first event, so that its number is known without a query. */
function checkMessage({ set, events = [] }: Advance): void {
  const [first, ...others] = events.map(({ type }) => type === "user_message");
  if ((first ?? false) !== (set?.addsMessage ?? false) || others.includes(true)) {
    throw new ProgrammingError("a user_message comes first, alone, and with addsMessage");
  }
}
