import type { Scope } from "../../core/accounts/caller.ts";
import { defaultAgent } from "../../core/agents/agent.ts";
import type { TaskStatus, TaskView } from "../../core/tasks/task.ts";
import type { TaskOrder, TaskPage, TaskPosition } from "../../core/tasks/task-page.ts";
import type { TaskCounts, TaskFilter, TaskList } from "../../core/tasks/task-rows.ts";
import type { Session } from "../session.ts";
import { allOf, type Dialect, direction, empty, inTexts, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, text } from "../table.ts";
import { hasPair, tasksWithPair } from "./task-metadata.ts";
import { begun, byChange, changedAt, inProjects, taskViewShape, visible, visibleToTeam } from "./task-row.ts";
import { hasWord, tasksWithWord } from "./task-text.ts";

/** The most tasks that are found by one condition and then sorted. */
const candidatesMax = 1_000;
/** The rows that are examined in the order of the list: first a few, which fill most pages. */
const examinedMax = 5_000;
const windows = [200, examinedMax] as const;

type Scans = Session["scans"];

/** A condition that the index of the list's order does not serve. */
interface Condition {
  readonly where: Sql;
  /** A statement of the ids of all tasks that meet it, if an index serves it. */
  readonly ids?: Sql;
}

interface Plan {
  /** Conditions that the index of the order serves, with the owner. */
  readonly served: readonly Sql[];
  /** Those for the time of the order, which has two columns ({@link byChange}). */
  readonly ranges: (at: Sql) => readonly Sql[];
  /** Whose tasks they are. */
  readonly owner: { readonly spaceId: string; readonly accountId?: string };
  readonly others: readonly Condition[];
}

/**
 * Lists tasks at a cost that does not depend on their number, in one of three ways:
 * 1. One index serves the order and every condition.
 * 2. At most 1,000 tasks meet one of the other conditions: these are sorted. LIMIT keeps the databases from
 *    reading the index of the order until enough of them are found.
 * 3. At most 5,000 rows are examined in the order of the list. The page may be short then, and the next one
 *    begins after them.
 * The last two read many rows for one page, so they are scans.
 */
export async function listTasks(
  session: Session,
  scope: Scope,
  filter: TaskFilter,
  page: TaskPage,
): Promise<TaskList> {
  if (filter.words?.length === 0) return { tasks: [] };
  const plan = planOf(session.dialect, scope, filter, page.orderBy);
  const ids = await findCandidates(session.scans, plan.others);
  if (ids?.length === 0) return { tasks: [] };
  if (ids === null && plan.others.length > 0) return walk(session.scans, plan, page);
  const isByChange = page.orderBy === "updatedAt";
  if (ids === null && isByChange)
    return toList(await select(session, inOrder(plan, page, page.limit + 1), [], page), page);
  const from = ids
    ? sql`(SELECT t.* FROM task t WHERE t.id ${inTexts(session.dialect, ids)} LIMIT ${candidatesMax}) t`
    : sql`task t`;
  const conditions = [examined(plan, page, columns[page.orderBy]), ...plan.others.map(({ where }) => where)];
  return toList(await select(ids ? session.scans : session, from, conditions, page), page);
}

/** The tasks of a list that have these ids, at most 100: each is examined for all conditions. */
export async function listTasksOf(
  session: Session,
  scope: Scope,
  filter: TaskFilter,
  ids: readonly string[],
): Promise<readonly TaskView[]> {
  if (ids.length === 0 || filter.words?.length === 0) return [];
  const { served, ranges, others } = planOf(session.dialect, scope, filter, "updatedAt");
  const seen = filter.view === "team" ? visibleToTeam(scope.spaceId) : visible(scope);
  const conditions = [
    seen,
    begun,
    sql`t.id ${inTexts(session.dialect, ids)}`,
    ...served,
    ...ranges(changedAt),
    ...others.map(({ where }) => where),
  ];
  return select(session, sql`task t`, conditions, { orderBy: "updatedAt", order: "asc", limit: ids.length });
}

const statusCount = computedShape({
  status: text<TaskStatus>(sql`c.status`),
  examined: integer(sql`c.examined`),
  met: integer(sql`c.met`),
});

/** The states that are counted for tasks of any age: few tasks are in them, and people ask for them. */
const living: readonly TaskStatus[] = ["waiting", "running"];

/**
 * Counts the tasks of a list by state: among the candidates of a condition, or among the newest tasks. Then
 * the index of states finds all tasks in those that have not ended, at most 5,000 in each.
 */
export async function countByStatus(
  session: Session,
  scope: Scope,
  { status, statuses, ...filter }: TaskFilter,
): Promise<TaskCounts> {
  const byStatus = { running: 0, waiting: 0, stopped: 0, error: 0 };
  if (filter.words?.length === 0) return { byStatus, isComplete: true };
  const plan = planOf(session.dialect, scope, filter, "createdAt");
  const ids = await findCandidates(session.scans, plan.others);
  if (ids?.length === 0) return { byStatus, isComplete: true };
  const chosen = ids && { ...plan, served: [sql`t.id ${inTexts(session.dialect, ids)}`, ...plan.served] };
  const rows = await statusCount.rows(session.scans)(countOf(chosen ?? plan));
  const isComplete = rows.reduce((sum, row) => sum + row.examined, 0) < examinedMax;
  if (!isComplete && filter.view !== "team") {
    const parts = living.map((each) =>
      countOf(planOf(session.dialect, scope, { ...filter, status: each }, "waitingSince")),
    );
    rows.push(...(await statusCount.rows(session.scans)(join(parts, " UNION ALL "))));
  }
  for (const row of rows) byStatus[row.status] = row.met;
  return { byStatus, isComplete };
}

/**
 * Counts the newest tasks of a plan by state: those that were examined, and those that meet all conditions.
 */
const countOf = ({ served, ranges, others }: Plan): Sql => sql`SELECT ${statusCount.of("c")} FROM (
  SELECT t.status, COUNT(*) AS examined, COUNT(CASE WHEN ${allOf(others.map(({ where }) => where))} THEN 1 END) AS met
  FROM (SELECT t.* FROM task t WHERE ${allOf([begun, ...served, ...ranges(columns.createdAt)])} ${sorted(columns.createdAt, "desc", examinedMax)}) t
  GROUP BY t.status) c`;

/**
 * The index of an order serves the owner, the times of this order and, for the creation time, one more
 * condition. The order of waits is that of an index for one state.
 */
function planOf(dialect: Dialect, scope: Scope, filter: TaskFilter, orderBy: TaskOrder): Plan {
  if (filter.view === "team") return teamPlan(dialect, scope, filter, orderBy);
  const owned = visible({ accountId: scope.accountId, spaceId: scope.spaceId });
  const { status, ...ofAnyState } = filter;
  const equal = equalities(dialect, scope, orderBy === "waitingSince" ? ofAnyState : filter).map(
    ({ where, owner }) => ({
      where,
      owner,
      ids: sql`SELECT t.id FROM task t WHERE ${owner} AND ${where}`,
    }),
  );
  const first = orderBy === "createdAt" ? equal.slice(0, 1) : [];
  const pairs = Object.entries(filter.metadata ?? {}).map((pair) => ({
    where: hasPair(pair),
    ids: tasksWithPair(scope, pair),
  }));
  const words = (filter.words ?? []).map((word) => ({
    where: hasWord(dialect, scope, word),
    ids: tasksWithWord(dialect, scope, word, candidatesMax + 1),
  }));
  // The tasks of an agent are its subtasks, except for one.
  const kinds = kindOf(filter);
  const isServed =
    filter.type === "agent_subtask" &&
    filter.agentId !== undefined &&
    filter.projectId === undefined &&
    first.length > 0;
  const limit = scope.within && inProjects(scope.within);
  const unindexed = [
    ...times.filter((at) => at !== orderBy).flatMap((at) => ranges(filter, at)),
    ...(isServed ? [] : kinds),
  ];
  return {
    served: [
      first[0]?.owner ?? owned,
      ...first.map(({ where }) => where),
      ...(isServed ? kinds : []),
      // As text: SQLite compares a parameter with no condition of an index.
      ...(orderBy === "waitingSince" ? [raw(`t.status = '${status}'`)] : []),
    ],
    ranges: (at) => ranges(filter, orderBy, at),
    owner: { spaceId: scope.spaceId, accountId: scope.accountId },
    others: [
      ...(limit
        ? [
            {
              where: limit,
              ids: sql`SELECT t.id FROM task t WHERE ${checkedOwner(dialect, scope)} AND ${limit}`,
            },
          ]
        : []),
      ...words,
      ...pairs,
      ...equal.slice(first.length),
      ...statesOf(filter, owned),
      ...unindexed.map((where) => ({ where })),
    ],
  };
}

/**
 * The tasks of a team. Candidates of a condition would include private tasks of others, so all other
 * conditions are examined in the order of the list: private tasks have no effect on the length of a page.
 */
function teamPlan(dialect: Dialect, { spaceId }: Scope, filter: TaskFilter, orderBy: TaskOrder): Plan {
  const { creatorId, status, statuses = [], words = [] } = filter;
  const others = ranges(filter, orderBy === "createdAt" ? "updatedAt" : "createdAt");
  if (status !== undefined) others.push(sql`t.status = ${status}`);
  if (statuses.length > 0) others.push(sql`t.status IN (${join([...statuses])})`);
  if (creatorId !== undefined) {
    others.push(
      sql`t.account_id = ${creatorId}`,
      ...words.map((word) => hasWord(dialect, { accountId: creatorId, spaceId }, word)),
    );
  }
  return {
    served: [visibleToTeam(spaceId)],
    ranges: (at) => ranges(filter, orderBy, at),
    owner: { spaceId },
    others: others.map((where) => ({ where })),
  };
}

/** A condition of one value, with the condition of the owner next to it. */
interface Equality {
  readonly where: Sql;
  readonly owner: Sql;
}

/** The index of a parent, a project or an agent does not have the owner, that of a status or an app does. */
function equalities(
  dialect: Dialect,
  scope: Scope,
  { projectId, agentId, parentId, createdByApp, status }: TaskFilter,
): readonly Equality[] {
  const found: Equality[] = [];
  const owned = visible({ accountId: scope.accountId, spaceId: scope.spaceId });
  const checked = checkedOwner(dialect, scope);
  if (parentId !== undefined) found.push({ where: sql`t.parent_id = ${parentId}`, owner: checked });
  if (projectId !== undefined) found.push({ where: sql`t.project_id = ${projectId}`, owner: checked });
  if (agentId === defaultAgent)
    found.push({
      where: sql`t.agent_id = (SELECT id FROM agent WHERE ${isDefaultOf(scope)})`,
      owner: checked,
    });
  else if (agentId !== undefined) found.push({ where: sql`t.agent_id = ${agentId}`, owner: checked });
  if (status !== undefined) found.push({ where: sql`t.status = ${status}`, owner: owned });
  for (const clientId of [createdByApp, scope.clientId])
    if (clientId !== undefined) found.push({ where: sql`t.client_id = ${clientId}`, owner: owned });
  return found;
}

/**
 * The owner, as a condition for which SQLite uses no index: without statistics it would prefer the index of
 * all tasks of the owner.
 */
const checkedOwner = (dialect: Dialect, { accountId, spaceId }: Scope): Sql =>
  dialect === "sqlite"
    ? sql`+t.space_id = ${spaceId} AND +t.account_id = ${accountId} AND t.deleted_at IS NULL`
    : visible({ accountId, spaceId });

function statesOf({ statuses = [] }: TaskFilter, owned: Sql): readonly Condition[] {
  if (statuses.length === 0) return [];
  const where = sql`t.status IN (${join([...statuses])})`;
  return [{ where, ids: sql`SELECT t.id FROM task t WHERE ${owned} AND ${where}` }];
}

/** The default agent of an account in a space. */
export const isDefaultOf = ({ accountId, spaceId }: Scope): Sql =>
  sql`space_id = ${spaceId} AND account_id = ${accountId} AND is_default`;

function kindOf({ type }: TaskFilter): readonly Sql[] {
  if (type === undefined) return [];
  return [type === "standard" ? sql`t.type = 'standard' AND t.agent_id IS NULL` : sql`t.type = ${type}`];
}

const columns: Readonly<Record<TaskOrder, Sql>> = {
  createdAt: sql`t.created_at`,
  updatedAt: changedAt,
  waitingSince: sql`t.waiting_since`,
};

const times = ["createdAt", "updatedAt"] as const;

function ranges(filter: TaskFilter, order: TaskOrder, at = columns[order]): Sql[] {
  if (order === "waitingSince") return [];
  const [after, before] =
    order === "createdAt"
      ? [filter.createdAfter, filter.createdBefore]
      : [filter.updatedAfter, filter.updatedBefore];
  const found: Sql[] = [];
  if (after !== undefined) found.push(sql`${at} > ${after}`);
  if (before !== undefined) found.push(sql`${at} < ${before}`);
  return found;
}

const candidate = computedShape({ nth: integer(sql`c.nth`), id: text(sql`c.id`) });

/**
 * The ids of the tasks that meet every condition which at most 1,000 tasks meet; null when there is no such
 * condition.
 */
async function findCandidates(
  scans: Scans,
  conditions: readonly Condition[],
): Promise<readonly string[] | null> {
  const searches = conditions.flatMap(({ ids }) => ids ?? []);
  if (searches.length === 0) return null;
  const parts = searches.map(
    (ids, nth) => sql`SELECT ${raw(String(nth))} AS nth, f.id FROM (${ids} LIMIT ${candidatesMax + 1}) f`,
  );
  const rows = await candidate.rows(scans)(
    sql`SELECT ${candidate.of("c")} FROM (${join(parts, " UNION ALL ")}) c`,
  );
  const found = searches
    .map((_, nth) => rows.filter((row) => row.nth === nth))
    .filter(({ length }) => length <= candidatesMax);
  const [smallest, ...rest] = found.map((part) => new Set(part.map(({ id }) => id)));
  return smallest ? [...smallest].filter((id) => rest.every((set) => set.has(id))) : null;
}

/** Examines rows in the order of the list until the page is full or the largest window ends. */
async function walk(scans: Scans, plan: Plan, page: TaskPage): Promise<TaskList> {
  const conditions = plan.others.map(({ where }) => where);
  let tasks: readonly TaskView[] = [];
  let next: TaskPosition | undefined;
  for (const size of windows) {
    const window = sql`(SELECT t.* FROM ${inOrder(plan, page, size)} ${sorted(columns[page.orderBy], page.order, size)}) t`;
    tasks = await select(scans, window, conditions, page);
    if (tasks.length > page.limit) return toList(tasks, page);
    next = await lastExamined(scans, window, page, size);
    if (!next) return { tasks };
  }
  return next ? { tasks, next } : { tasks };
}

const places = {
  createdAt: computedShape({ at: integer(columns.createdAt), id: text(sql`t.id`) }),
  updatedAt: computedShape({ at: integer(columns.updatedAt), id: text(sql`t.id`) }),
  waitingSince: computedShape({ at: integer(columns.waitingSince), id: text(sql`t.id`) }),
};

/** The last row of a full window; undefined when the list ends inside of it. */
async function lastExamined(
  scans: Scans,
  window: Sql,
  { orderBy, order }: TaskPage,
  size: number,
): Promise<TaskPosition | undefined> {
  const place = places[orderBy];
  const row = await place.row(scans)(sql`
    SELECT ${place.of("t")} FROM ${window} ${sorted(columns[orderBy], order, 1)} OFFSET ${size - 1}`);
  return row ?? undefined;
}

/** One task more than the page has, which shows whether another page follows. */
const select = (
  connection: Scans,
  from: Sql,
  conditions: readonly Sql[],
  page: TaskPage,
): Promise<readonly TaskView[]> =>
  taskViewShape.rows(connection)(
    sql`SELECT ${taskViewShape.of("t")} FROM ${from} ${conditions.length === 0 ? empty : sql`WHERE ${allOf(conditions)}`}
      ${sorted(columns[page.orderBy], page.order, page.limit + 1)}`,
  );

/** The conditions that the index of the order serves, for this time. */
const examined = ({ served, ranges: timed }: Plan, page: TaskPage, at: Sql): Sql =>
  allOf([begun, ...served, ...timed(at), ...beyond(page, at)]);

/** The first tasks of the list as `t`, and perhaps more, by the index of the order. */
function inOrder(plan: Plan, page: TaskPage, limit: number): Sql {
  const order = (at: Sql) => sorted(at, page.order, limit);
  const where = (at: Sql) => examined(plan, page, at);
  if (page.orderBy === "updatedAt") return byChange(plan.owner, where, order);
  const at = columns[page.orderBy];
  return sql`(SELECT t.* FROM task t WHERE ${where(at)} ${order(at)}) t`;
}

const sorted = (at: Sql, order: TaskPage["order"], limit: number): Sql =>
  sql`ORDER BY ${at} ${direction(order)}, t.id ${direction(order)} LIMIT ${limit}`;

function beyond({ order, after }: TaskPage, at: Sql): readonly Sql[] {
  if (!after) return [];
  return [sql`(${at}, t.id) ${order === "asc" ? sql`>` : sql`<`} (${after.at}, ${after.id})`];
}

function toList(found: readonly TaskView[], { limit, orderBy }: TaskPage): TaskList {
  const tasks = found.slice(0, limit);
  const last = tasks.at(-1);
  return found.length > limit && last ? { tasks, next: { at: last[orderBy], id: last.id } } : { tasks };
}
