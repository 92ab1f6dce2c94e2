import {
  type DayRange,
  dayOf,
  dayStart,
  type GroupPage,
  type PeoplePage,
  type RecordPage,
  type UsageFilter,
  type UsageRows,
} from "../../core/usage/usage.ts";
import { changeOf, type Session } from "../session.ts";
import { allOf, direction, empty, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, integerOrNull, tables, text, textOrNull } from "../table.ts";

/** A value of the newest membership of a person `p`. An active one sorts before tombstones. */
const membership = (what: Sql): Sql => sql`
  (SELECT ${what} FROM membership m WHERE m.space_id = p.space_id AND m.account_id = p.account_id
   ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC, m.id LIMIT 1)`;

/** The account's own name is shown after the person's first sign-in to this team (spec/decisions.md 5). */
export const displayName = sql`COALESCE(m.name, (SELECT a.name FROM account a WHERE a.id = m.account_id AND m.signed_in_at IS NOT NULL), m.email)`;

/**
 * The name of a member `p` of a space's team, or else the address; empty for a person who was never a member.
 */
const name = text(sql`COALESCE(${membership(displayName)}, '')`);

const personName = computedShape({ name });
const person = computedShape({
  accountId: text(sql`p.account_id`),
  name,
  email: text(sql`COALESCE(${membership(sql`m.email`)}, '')`),
  tasks: integer(sql`p.tasks`),
  credits: integer(sql`p.credits`),
});

/** Reads the name of a person in a team. */
const readName =
  (session: Session): UsageRows["displayName"] =>
  async ({ accountId, spaceId }) => {
    const row = await personName.row(session)(sql`
      SELECT ${personName.of("p")} FROM (SELECT ${spaceId} AS space_id, ${accountId} AS account_id) p`);
    return row?.name ?? "";
  };

const peopleOf =
  (session: Session): UsageRows["people"] =>
  (spaceId, page) => {
    const { sort, order, limit, after } = page;
    return person.rows(session.scans)(sql`
      WITH ${sums(spaceId, page)}
      SELECT ${person.of("p")}
      FROM person p WHERE ${after ? beyondPerson(sort, order, after) : sql`1 = 1`}
      ORDER BY ${raw(`p.${sort}`)} ${direction(order)}, p.account_id ${direction(order)} LIMIT ${limit}`);
  };

/** `person`: space, account, number of tasks with costs, credits. */
function sums(spaceId: string, { range, accountId, ...filter }: PeoplePage): Sql {
  const theirs = accountId === undefined ? empty : sql`AND account_id = ${accountId}`;
  const entries = allOf([...entriesIn(spaceId, range, filter), sql`kind = 'cost'`]);
  return sql`
    worked (account_id, tasks) AS (
      SELECT account_id, COUNT(DISTINCT task_id) FROM usage_entry WHERE ${entries} ${theirs} GROUP BY account_id
    ),
    spent (account_id, credits) AS (
      SELECT account_id, CAST(SUM(credits) AS BIGINT) FROM ${daysOf(spaceId, range, filter)} d
      WHERE 1 = 1 ${theirs} GROUP BY account_id
    ),
    listed (account_id) AS (
      SELECT account_id FROM membership WHERE space_id = ${spaceId} AND status <> 'removed' ${theirs}
      UNION SELECT account_id FROM worked UNION SELECT account_id FROM spent
    ),
    person (space_id, account_id, tasks, credits) AS (
      SELECT ${spaceId}, s.account_id, COALESCE(worked.tasks, 0), COALESCE(spent.credits, 0) FROM listed s
      LEFT JOIN worked ON worked.account_id = s.account_id LEFT JOIN spent ON spent.account_id = s.account_id
    )`;
}

function beyondPerson(
  sort: PeoplePage["sort"],
  order: PeoplePage["order"],
  { value, id }: NonNullable<PeoplePage["after"]>,
): Sql {
  const column = raw(`p.${sort}`);
  const further = raw(order === "asc" ? ">" : "<");
  return sql`(${column} ${further} ${value} OR (${column} = ${value} AND p.account_id ${further} ${id}))`;
}

const ahead = tables.usageRecord.pick("ahead");
const record = tables.usageRecord
  .pick("id", "taskId", "kind", "credits", "updatedAt")
  .with({ title: textOrNull(sql`CASE WHEN t.deleted_at IS NULL THEN t.title END`) });
const day = tables.usageDay.pick("day").with({ credits: integer(sql`CAST(SUM(d.credits) AS BIGINT)`) });
/** The sums of a task's entries on one day. */
const spentDay = computedShape({
  credits: integer(sql`-SUM(e.credits)`),
  at: integer(sql`MAX(e.at)`),
  accountId: text(sql`MAX(e.account_id)`),
  spaceId: text(sql`MAX(e.space_id)`),
  clientId: textOrNull(sql`MAX(e.client_id)`),
  apiKeyId: textOrNull(sql`MAX(e.api_key_id)`),
  projectId: textOrNull(sql`MAX(e.project_id)`),
  profile: text(sql`MAX(e.profile)`),
});

const taskCost = tables.usageEntry.pick(
  "id",
  "credits",
  "inputTokens",
  "cachedInputTokens",
  "cacheWriteTokens",
  "outputTokens",
  "toolCalls",
  "at",
);

/** The tokens of a task's costs; null without a cost. */
const taskTokens = computedShape({
  inputTokens: integerOrNull(sql`CAST(SUM(e.input_tokens) AS BIGINT)`),
  cachedInputTokens: integer(sql`CAST(COALESCE(SUM(e.cached_input_tokens), 0) AS BIGINT)`),
  outputTokens: integerOrNull(sql`CAST(SUM(e.output_tokens) AS BIGINT)`),
});

/** Usage entries and their sums, as rows. */
export function usageRows(session: Session): UsageRows {
  const { dialect, query, execute } = session;
  const lock = raw(dialect === "postgresql" ? "FOR UPDATE" : "");
  return {
    async prepaid(taskId) {
      changeOf(session);
      const row = await ahead.row(session)(sql`
        SELECT ${ahead.of("usage_record")} FROM usage_record WHERE id = ${taskId} ${lock}`);
      return row?.ahead ?? 0;
    },
    async move({ now, ...moved }) {
      const row = { ...moved, updatedAt: now };
      // A fully refunded record has the kind `refund`. A later cost changes it back to `cost`.
      await execute(sql`${tables.usageRecord.insert(row)}
        ON CONFLICT (id) DO UPDATE SET credits = usage_record.credits + excluded.credits,
          ${moved.ahead === undefined ? empty : sql`ahead = excluded.ahead,`}
          kind = CASE WHEN usage_record.credits + excluded.credits < 0 THEN 'cost' ELSE excluded.kind END,
          updated_at = CASE WHEN usage_record.updated_at > excluded.updated_at THEN usage_record.updated_at ELSE excluded.updated_at END`);
    },
    async insert(entry) {
      await execute(tables.usageEntry.insert(entry));
      const { spaceId, accountId, kind, credits, at } = entry;
      // A grant is not a cost of a day.
      if (kind === "grant" || credits === 0) return;
      await execute(sql`${tables.usageDay.insert({ spaceId, accountId, day: dayOf(at), credits: 0 - credits })}
        ON CONFLICT (space_id, account_id, day) DO UPDATE SET credits = usage_day.credits + excluded.credits`);
    },
    records: ({ accountId, spaceId }, page) =>
      record.rows(session.scans)(sql`
        SELECT ${record.of("r")} FROM usage_record r LEFT JOIN task t ON t.id = r.task_id
        WHERE ${allOf([sql`r.space_id = ${spaceId} AND r.account_id = ${accountId}`, ...recordConditions(page)])}
        ORDER BY r.updated_at DESC, r.id DESC LIMIT ${page.limit}`),
    async spentDays(taskId) {
      changeOf(session);
      await query(sql`SELECT id FROM usage_record WHERE id = ${taskId} ${lock}`);
      // Groups by day: a refund has the time of a cost of its day.
      return spentDay.rows(session)(sql`
        SELECT ${spentDay.of("e")} FROM usage_entry e WHERE task_id = ${taskId}
        GROUP BY e.at / ${raw(String(dayStart(1)))} HAVING SUM(e.credits) < 0 ORDER BY MAX(e.at) DESC`);
    },
    ofTask: (taskId, { limit, after }) =>
      taskCost.rows(session)(sql`
        SELECT ${taskCost.of("e")} FROM usage_entry e
        WHERE e.task_id = ${taskId} AND e.kind <> 'grant' ${after ? sql`AND (e.at, e.id) > (${after.at}, ${after.id})` : empty}
        ORDER BY e.at, e.id LIMIT ${limit}`),
    async tokens(taskId) {
      const row = await taskTokens.row(session)(sql`
        SELECT ${taskTokens.of("e")} FROM usage_entry e WHERE e.task_id = ${taskId} AND e.kind = 'cost'`);
      if (!row) return null;
      const { inputTokens, cachedInputTokens, outputTokens } = row;
      return inputTokens === null || outputTokens === null
        ? null
        : { inputTokens, cachedInputTokens, outputTokens };
    },
    async days(spaceId, accountId, range, filter = {}) {
      const of = accountId === undefined ? empty : sql`AND account_id = ${accountId}`;
      const rows = await day.rows(session.scans)(sql`
        SELECT ${day.of("d")} FROM ${daysOf(spaceId, range, filter)} d WHERE 1 = 1 ${of} GROUP BY day`);
      return new Map(rows.map((each) => [each.day, each.credits]));
    },
    people: peopleOf(session),
    groups: groupsOf(session),
    displayName: readName(session),
  };
}

const beyond = ({ updatedAt, id }: { readonly updatedAt: number; readonly id: string }): Sql =>
  sql`(r.updated_at < ${updatedAt} OR (r.updated_at = ${updatedAt} AND r.id < ${id}))`;

function recordConditions({ from, to, after, ...filter }: RecordPage): Sql[] {
  const ofEntries = ofTasks(filter);
  const tasks =
    ofEntries.length === 0
      ? []
      : [
          sql`r.task_id IN (SELECT e.task_id FROM usage_entry e WHERE ${allOf([sql`e.task_id = r.task_id`, ...ofEntries])})`,
        ];
  return [
    ...(from === undefined ? [] : [sql`r.updated_at >= ${dayStart(from)}`]),
    ...(to === undefined ? [] : [sql`r.updated_at < ${dayStart(to + 1)}`]),
    ...tasks,
    ...(after ? [beyond(after)] : []),
  ];
}

const ofTasks = ({ projectId, clientId, apiKeyId }: UsageFilter): Sql[] => [
  ...(projectId === undefined ? [] : [sql`project_id = ${projectId}`]),
  ...(clientId === undefined ? [] : [sql`client_id = ${clientId}`]),
  ...(apiKeyId === undefined ? [] : [sql`api_key_id = ${apiKeyId}`]),
];

const entriesIn = (spaceId: string, { from, to }: DayRange, filter: UsageFilter): Sql[] => [
  sql`space_id = ${spaceId}`,
  sql`at >= ${dayStart(from)}`,
  sql`at < ${dayStart(to + 1)}`,
  ...ofTasks(filter),
];

/** Rows of account, day and credits in a range: the stored sums, or those of the filtered entries. */
function daysOf(spaceId: string, range: DayRange, filter: UsageFilter): Sql {
  if (ofTasks(filter).length === 0)
    return sql`(SELECT account_id, day, credits FROM usage_day WHERE space_id = ${spaceId} AND day >= ${range.from} AND day <= ${range.to})`;
  return sql`(
    SELECT account_id, at / ${raw(String(dayStart(1)))} AS day, -credits AS credits FROM usage_entry
    WHERE ${allOf([...entriesIn(spaceId, range, filter), sql`kind <> 'grant'`])})`;
}

const groupColumns = { project: "project_id", app: "client_id", key: "api_key_id" } as const;
/** The present name of a group `g`. */
const groupNames = {
  project: sql`(SELECT p.name FROM project p WHERE p.id = g.id AND p.deleted_at IS NULL)`,
  app: sql`(SELECT a.name FROM oauth_app a WHERE a.client_id = g.id AND a.deleted_at IS NULL)`,
  key: sql`(SELECT k.name FROM api_key k WHERE k.id = g.id)`,
} as const;

/** The credits of a space in a range, by project, app or key. */
const groupsOf =
  (session: Session): UsageRows["groups"] =>
  (spaceId, { group, range, accountId, limit, after }: GroupPage) => {
    const usage = computedShape({
      id: text(sql`g.id`),
      name: text(sql`COALESCE(${groupNames[group]}, '')`),
      tasks: integer(sql`g.tasks`),
      credits: integer(sql`g.credits`),
    });
    const entries = [
      ...entriesIn(spaceId, range, {}),
      sql`kind <> 'grant'`,
      ...(accountId === undefined ? [] : [sql`account_id = ${accountId}`]),
    ];
    return usage.rows(session.scans)(sql`
      SELECT ${usage.of("g")} FROM (
        SELECT COALESCE(${raw(groupColumns[group])}, '') AS id, CAST(-SUM(credits) AS BIGINT) AS credits,
          COUNT(DISTINCT CASE WHEN kind = 'cost' THEN task_id END) AS tasks
        FROM usage_entry WHERE ${allOf(entries)} GROUP BY 1) g
      WHERE ${after ? sql`(g.credits < ${after.value} OR (g.credits = ${after.value} AND g.id > ${after.id}))` : sql`1 = 1`}
      ORDER BY g.credits DESC, g.id LIMIT ${limit}`);
  };
