import type { Scope } from "../../core/accounts/caller.ts";
import { defaultAgent } from "../../core/agents/agent.ts";
import type { TaskFilter, TaskList, TaskOrder, TaskPage, TaskPosition, TaskView } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { allOf, direction, inTexts, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, text } from "../table.ts";
import { tasksWithPair } from "./task-metadata.ts";
import { begun, taskViewShape, visible } from "./task-row.ts";

/** The most tasks that are found by one condition and then sorted. */
const candidatesMax = 1_000;
/** The rows that are examined in the order of the list: first a few, which fill most pages. */
const windows = [200, 5_000] as const;

/** A condition that the index of the list's order does not serve. */
interface Condition {
  readonly where: Sql;
  /** A statement of the ids of all tasks that meet it, if an index serves it. */
  readonly ids?: Sql;
}

interface Plan {
  /** Conditions that the index of the order serves, with the owner. */
  readonly served: readonly Sql[];
  readonly others: readonly Condition[];
}

/**
 * Lists tasks at a cost that does not depend on their number, in one of three ways:
 * 1. One index serves the order and every condition.
 * 2. At most 1,000 tasks meet one of the other conditions: these are sorted.
 * 3. At most 5,000 rows are examined in the order of the list. The page may be short then, and the next one begins after them.
 */
export async function listTasks(session: Session, scope: Scope, filter: TaskFilter, page: TaskPage): Promise<TaskList> {
  const plan = planOf(scope, filter, page.orderBy);
  const ids = await findCandidates(session, plan.others);
  if (ids?.length === 0) return { tasks: [] };
  if (ids === null && plan.others.length > 0) return walk(session, plan, page);
  const found = [...(ids ? [sql`t.id ${inTexts(session.dialect, ids)}`] : []), ...plan.others.map(({ where }) => where)];
  return toList(await select(session, sql`task t`, [visible(scope), begun, ...plan.served, ...found, ...beyond(page)], page), page);
}

/** The index of an order serves the owner, the times of this order and, for the creation time, one more condition. */
function planOf(scope: Scope, filter: TaskFilter, orderBy: TaskOrder): Plan {
  const owned = visible({ accountId: scope.accountId, spaceId: scope.spaceId });
  const equal = equalities(scope, filter).map((where) => ({ where, ids: sql`SELECT t.id FROM task t WHERE ${owned} AND ${where}` }));
  const first = orderBy === "createdAt" ? equal.slice(0, 1) : [];
  const pairs = Object.entries(filter.metadata ?? {}).map((pair) => {
    const ids = tasksWithPair(scope, pair);
    return { where: sql`t.id IN (${ids})`, ids };
  });
  // The tasks of an agent are its subtasks, except for one.
  const kinds = kindOf(filter);
  const isServed = filter.type === "agent_subtask" && filter.agentId !== undefined && filter.projectId === undefined && first.length > 0;
  const unindexed = [...ranges(filter, orderBy === "createdAt" ? "updatedAt" : "createdAt"), ...(isServed ? [] : kinds)];
  return {
    served: [owned, ...first.map(({ where }) => where), ...ranges(filter, orderBy), ...(isServed ? kinds : [])],
    others: [...pairs, ...equal.slice(first.length), ...unindexed.map((where) => ({ where }))],
  };
}

function equalities(scope: Scope, { projectId, agentId, status }: TaskFilter): readonly Sql[] {
  const found: Sql[] = [];
  if (projectId !== undefined) found.push(sql`t.project_id = ${projectId}`);
  if (agentId === defaultAgent) found.push(sql`t.agent_id = (SELECT id FROM agent WHERE ${isDefaultOf(scope)})`);
  else if (agentId !== undefined) found.push(sql`t.agent_id = ${agentId}`);
  if (status !== undefined) found.push(sql`t.status = ${status}`);
  if (scope.clientId !== undefined) found.push(sql`t.client_id = ${scope.clientId}`);
  return found;
}

/** The default agent of an account in a space. */
export const isDefaultOf = ({ accountId, spaceId }: Scope): Sql => sql`space_id = ${spaceId} AND account_id = ${accountId} AND is_default`;

function kindOf({ type }: TaskFilter): readonly Sql[] {
  if (type === undefined) return [];
  return [type === "standard" ? sql`t.type = 'standard' AND t.agent_id IS NULL` : sql`t.type = ${type}`];
}

const columns: Readonly<Record<TaskOrder, Sql>> = { createdAt: sql`t.created_at`, updatedAt: sql`t.updated_at` };

function ranges(filter: TaskFilter, at: TaskOrder): readonly Sql[] {
  const [after, before] = at === "createdAt" ? [filter.createdAfter, filter.createdBefore] : [filter.updatedAfter, filter.updatedBefore];
  const found: Sql[] = [];
  if (after !== undefined) found.push(sql`${columns[at]} > ${after}`);
  if (before !== undefined) found.push(sql`${columns[at]} < ${before}`);
  return found;
}

const candidate = computedShape({ nth: integer(sql`c.nth`), id: text(sql`c.id`) });

/** The ids of the tasks that meet every condition which at most 1,000 tasks meet; null when there is no such condition. */
async function findCandidates(session: Session, conditions: readonly Condition[]): Promise<readonly string[] | null> {
  const searches = conditions.flatMap(({ ids }) => ids ?? []);
  if (searches.length === 0) return null;
  const parts = searches.map((ids, nth) => sql`SELECT ${raw(String(nth))} AS nth, f.id FROM (${ids} LIMIT ${candidatesMax + 1}) f`);
  const rows = await candidate.rows(session)(sql`SELECT ${candidate.of("c")} FROM (${join(parts, " UNION ALL ")}) c`);
  const sets = searches.map((_, nth) => new Set(rows.flatMap((row) => (row.nth === nth ? row.id : []))));
  const [smallest, ...rest] = sets.filter(({ size }) => size <= candidatesMax);
  return smallest ? [...smallest].filter((id) => rest.every((set) => set.has(id))) : null;
}

/** Examines rows in the order of the list until the page is full or the largest window ends. */
async function walk(session: Session, { served, others }: Plan, page: TaskPage): Promise<TaskList> {
  const examined = [begun, ...served, ...beyond(page)];
  const conditions = others.map(({ where }) => where);
  let tasks: readonly TaskView[] = [];
  let next: TaskPosition | undefined;
  for (const size of windows) {
    tasks = await select(session, sql`(SELECT t.* FROM task t WHERE ${allOf(examined)} ${sorted(page, size)}) t`, conditions, page);
    if (tasks.length > page.limit) return toList(tasks, page);
    next = await lastExamined(session, examined, page, size);
    if (!next) return { tasks };
  }
  return next ? { tasks, next } : { tasks };
}

const places = {
  createdAt: computedShape({ at: integer(columns.createdAt), id: text(sql`t.id`) }),
  updatedAt: computedShape({ at: integer(columns.updatedAt), id: text(sql`t.id`) }),
};

/** The last row of a full window; undefined when the list ends inside of it. */
async function lastExamined(session: Session, examined: readonly Sql[], page: TaskPage, size: number): Promise<TaskPosition | undefined> {
  const place = places[page.orderBy];
  const row = await place.row(session)(sql`
    SELECT ${place.of("t")} FROM task t WHERE ${allOf(examined)} ${sorted(page, 1)} OFFSET ${size - 1}`);
  return row ?? undefined;
}

/** One task more than the page has, which shows whether another page follows. */
const select = (session: Session, from: Sql, conditions: readonly Sql[], page: TaskPage): Promise<readonly TaskView[]> =>
  taskViewShape.rows(session)(sql`SELECT ${taskViewShape.of("t")} FROM ${from} WHERE ${allOf(conditions)} ${sorted(page, page.limit + 1)}`);

const sorted = ({ orderBy, order }: TaskPage, limit: number): Sql =>
  sql`ORDER BY ${columns[orderBy]} ${direction(order)}, t.id ${direction(order)} LIMIT ${limit}`;

function beyond({ orderBy, order, after }: TaskPage): readonly Sql[] {
  if (!after) return [];
  return [sql`(${columns[orderBy]}, t.id) ${order === "asc" ? sql`>` : sql`<`} (${after.at}, ${after.id})`];
}

function toList(found: readonly TaskView[], { limit, orderBy }: TaskPage): TaskList {
  const tasks = found.slice(0, limit);
  const last = tasks.at(-1);
  return found.length > limit && last ? { tasks, next: { at: last[orderBy], id: last.id } } : { tasks };
}
