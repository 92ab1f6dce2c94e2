import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import { keyOf } from "../src/store/rows/task-text.ts";
import type { Installed, Owner } from "./installed.ts";

/** A database with tasks; the owner of its key has a thousand of them. */
export interface Seeded extends Installed {
  readonly taskIds: readonly string[];
  /** One of these tasks, with as many events as the database has tasks. */
  readonly longTaskId: string;
}

/** The tasks of every account, unless all tasks belong to one account. */
export const tasksEach = 1_000;
/** IDs are numbered; the newest task has the highest number. */
const idOf = (number: number): string => `seed${String(number).padStart(18, "0")}`;

/**
 * Fills a database in transactions of one statement: `rows` tasks, round-robin over the
 * accounts, so that no account's rows are adjacent, and one task with `rows` events.
 */
export async function seed(installed: Installed, rows: number, each = tasksEach): Promise<Seeded> {
  const { databaseUrl, owner } = installed;
  const accounts = rows / each;
  const taskIds = Array.from({ length: each }, (_, index) => idOf(index * accounts));
  const [longTaskId = ""] = taskIds;
  const onSqlite = databaseUrl.startsWith("file:");
  const adapter = await (onSqlite
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl })
  ).connect();
  try {
    for (const statement of [
      // Only while filling: servers set FULL themselves.
      ...(onSqlite ? ["PRAGMA synchronous = OFF"] : []),
      tasks(owner, rows, accounts),
      events(owner, longTaskId, rows),
      `UPDATE task SET last_seq = ${rows}, indexed_seq = ${rows}, message_seq = ${rows}, answered_seq = ${rows}, consumed_seq = ${rows} WHERE id = '${longTaskId}'`,
      // The temporary server does not vacuum in the background as a real one does; SQLite never does.
      onSqlite ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM ANALYZE task, task_event",
    ])
      await adapter.executeScript(statement);
  } finally {
    await adapter.dispose();
  }
  return { ...installed, taskIds, longTaskId };
}

/**
 * Fills a database with tasks of its owner, each with `eventsEach` events of about 400 bytes, as input for
 * an export. Returns the ID of one of the tasks.
 */
export async function seedOwnerTasks(
  { databaseUrl, owner }: Installed,
  rows: number,
  eventsEach: number,
): Promise<string> {
  const onSqlite = databaseUrl.startsWith("file:");
  const adapter = await (onSqlite
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl })
  ).connect();
  try {
    for (const statement of [
      ...(onSqlite ? ["PRAGMA synchronous = OFF"] : []),
      tasks(owner, rows, 1),
      work(
        owner,
        rows,
        eventsEach,
        onSqlite ? "hex(randomblob(60))" : "md5(CAST(random() AS TEXT)) || md5(CAST(random() AS TEXT))",
      ),
      `UPDATE task SET last_seq = ${eventsEach}, indexed_seq = ${eventsEach} WHERE type = 'standard'`,
      onSqlite ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM ANALYZE task, task_event",
    ])
      await adapter.executeScript(statement);
  } finally {
    await adapter.dispose();
  }
  return idOf(0);
}

/** The tasks of `seedFilters` that have the same rare status, project, pair or word. */
export const rareTasks = 500;

/**
 * Fills a database with tasks of its owner that filters find: `rare` with one status, project, pair and word,
 * and all or half of the tasks with another one of each.
 *
 * @param rare divides `rows`.
 */
export async function seedFilters(
  { databaseUrl, owner }: Installed,
  rows: number,
  rare = rareTasks,
): Promise<void> {
  const onSqlite = databaseUrl.startsWith("file:");
  const adapter = await (onSqlite
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl })
  ).connect();
  const { spaceId, accountId } = owner;
  const every = rows / rare;
  const isRare = `i % ${every} = 3`;
  const of = { task_id: id, space_id: `'${spaceId}'`, account_id: `'${accountId}'` };
  const key = keyOf({ spaceId, accountId });
  const found = ["common", "what", "is", "the", "price"].map((word) => `'${key}${word}'`);
  const words = [
    ...found,
    `'${key}' || CASE WHEN ${isRare} THEN 'rare' ELSE 'other' || CAST(i % 1000 AS TEXT) END`,
  ].join(" || ' ' || ");
  try {
    for (const statement of [
      ...(onSqlite ? ["PRAGMA synchronous = OFF"] : []),
      tasks(owner, rows, 1, {
        status: `CASE WHEN ${isRare} THEN 'waiting' ELSE 'stopped' END`,
        project_id: `CASE WHEN ${isRare} THEN 'rare' WHEN i % 2 = 0 THEN 'common' END`,
        updated_at: `${begin} + (CAST(i AS BIGINT) * 7919) % 60000013`,
      }),
      insert(
        "task_metadata",
        { ...of, key: "'colour'", value: "CASE WHEN i % 2 = 0 THEN 'red' ELSE 'blue' END" },
        rows,
      ),
      insert(
        "task_metadata",
        { ...of, key: "'ticket'", value: `CASE WHEN ${isRare} THEN 'rare' ELSE CAST(i / 10 AS TEXT) END` },
        rows,
      ),
      insert(
        "task_text",
        { ...of, seq: "0", words: onSqlite ? `' ' || ${words} || ' '` : `CAST(${words} AS tsvector)` },
        rows,
      ),
      onSqlite ? "PRAGMA wal_checkpoint(TRUNCATE)" : "VACUUM ANALYZE",
    ])
      await adapter.executeScript(statement);
  } finally {
    await adapter.dispose();
  }
}

/** A part of the numbers that tasks have. */
export interface Range {
  readonly first: number;
  readonly rows: number;
}

/**
 * Adds tasks with these numbers, each with a title in the search index and `eventsEach` events. They belong
 * to the owner and to `accounts - 1` others in turn, and were created in the order of their numbers from
 * `from` on, `stepMs` apart.
 */
export async function seedMore(
  { databaseUrl, owner }: Installed,
  {
    range,
    eventsEach,
    accounts,
    from,
    stepMs,
  }: { range: Range; eventsEach: number; accounts: number; from: number; stepMs: number },
): Promise<void> {
  const onSqlite = databaseUrl.startsWith("file:");
  const adapter = await (onSqlite
    ? new PrismaBetterSqlite3({ url: databaseUrl })
    : new PrismaPg({ connectionString: databaseUrl })
  ).connect();
  const time = (task: string) => `${from} + (CAST(${task} AS BIGINT) - ${range.first}) * ${stepMs}`;
  const last = {
    last_seq: String(eventsEach),
    indexed_seq: String(eventsEach),
    message_seq: "1",
    answered_seq: "1",
    consumed_seq: "1",
  };
  const at = {
    created_at: time("i"),
    updated_at: time("i"),
    last_message_at: time("i"),
    last_timestamp: time("i"),
    queued_at: time("i"),
  };
  const account = accountOf(owner, accounts);
  const words = `' ' || CAST(i AS TEXT) || 'price '`;
  const text = { task_id: id, space_id: `'${owner.spaceId}'`, account_id: account, seq: "0" };
  try {
    for (const statement of [
      tasks(owner, range, accounts, { ...at, ...last }),
      insert("task_text", { ...text, words: onSqlite ? words : `CAST(${words} AS tsvector)` }, range),
      work(
        owner,
        range,
        eventsEach,
        onSqlite ? "hex(randomblob(60))" : "md5(CAST(random() AS TEXT)) || md5(CAST(random() AS TEXT))",
        {
          timestamp: time(`(i / ${eventsEach})`),
        },
      ),
    ])
      await adapter.executeScript(statement);
  } finally {
    await adapter.dispose();
  }
}

const numbers = ({ first, rows }: Range): string =>
  `WITH RECURSIVE n (i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + rows - 1})`;
const accountOf = ({ accountId }: Owner, accounts: number): string =>
  `CASE WHEN i % ${accounts} = 0 THEN '${accountId}' ELSE 'account-' || CAST(i % ${accounts} AS TEXT) END`;
const id = "'seed' || substr(CAST(1000000000000000000 + i AS TEXT), 2)";
/** The time of the first task; the next ones follow, all in the past. */
const begin = 1_700_000_000_000;

function tasks(
  owner: Owner,
  rows: number | Range,
  accounts: number,
  members: Readonly<Record<string, string>> = {},
): string {
  const time = `${begin} + i * 60`;
  const values: Readonly<Record<string, string>> = {
    id,
    account_id: accountOf(owner, accounts),
    space_id: `'${owner.spaceId}'`,
    api_key_id: `'${owner.keyId}'`,
    type: "'standard'",
    title: "'What is 12 * 4?'",
    status: "'stopped'",
    share_visibility: "'private'",
    hidden: "FALSE",
    agent_profile: "'manus-1.6'",
    locale: "'en'",
    interactive: "FALSE",
    task_references: "'[]'",
    credits: "0",
    created_at: time,
    updated_at: time,
    last_message_at: time,
    last_seq: "0",
    indexed_seq: "0",
    texts_behind: "FALSE",
    last_timestamp: time,
    message_seq: "0",
    answered_seq: "0",
    consumed_seq: "0",
    fence: "1",
    claims: "1",
    idle_claims: "0",
    queued_at: time,
    ...members,
  };
  return insert("task", values, rows);
}

const events = ({ spaceId }: Owner, taskId: string, rows: number): string =>
  insert(
    "task_event",
    {
      task_id: `'${taskId}'`,
      seq: "i + 1",
      space_id: `'${spaceId}'`,
      type: "CASE WHEN i % 2 = 0 THEN 'user_message' ELSE 'assistant_message' END",
      timestamp: `${begin} + i`,
      payload: `CASE WHEN i % 2 = 0 THEN '{"content":"What is 12 * 4?","messageType":"text"}' ELSE '{"content":"12 * 4 = 48","deliveryKind":"result"}' END`,
    },
    rows,
  );

/** Typical events of a task: mostly results of tools. */
const work = (
  { spaceId }: Owner,
  tasksWith: number | Range,
  each: number,
  noise: string,
  members: Readonly<Record<string, string>> = {},
): string => {
  const { first, rows } = rangeOf(tasksWith);
  const text = `'Looked up the figures of the third quarter, which are ' || ${noise} || ', and wrote them down for the summary.'`;
  return insert(
    "task_event",
    {
      task_id: id.replace(/\bi\b/, `(i / ${each})`),
      seq: `i % ${each} + 1`,
      space_id: `'${spaceId}'`,
      type: `CASE i % ${each} WHEN 0 THEN 'user_message' WHEN ${each - 1} THEN 'assistant_message' ELSE CASE i % 2 WHEN 0 THEN 'tool_used' ELSE 'explanation' END END`,
      timestamp: `${begin} + i`,
      payload: `CASE i % ${each} WHEN 0 THEN '{"content":"' || ${text} || '","messageType":"text"}'
        WHEN ${each - 1} THEN '{"content":"' || ${text} || '","deliveryKind":"result"}'
        ELSE CASE i % 2 WHEN 0 THEN '{"tool":"search","actionId":"a1","status":"success","brief":"' || ${text} || '","params":{"query":"third quarter","limit":10},"result":{"hits":[1,2,3]}}'
        ELSE '{"content":"' || ${text} || '"}' END END`,
      ...members,
    },
    { first: first * each, rows: rows * each },
  );
};

const rangeOf = (rows: number | Range): Range => (typeof rows === "number" ? { first: 0, rows } : rows);

function insert(table: string, values: Readonly<Record<string, string>>, rows: number | Range): string {
  return `INSERT INTO ${table} (${Object.keys(values).join(", ")}) ${numbers(rangeOf(rows))} SELECT ${Object.values(values).join(", ")} FROM n`;
}
