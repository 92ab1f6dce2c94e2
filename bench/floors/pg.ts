// The floor on PostgreSQL: node:http and `pg`, with the same prepared statements as the store's.
// They are recorded once, at the start; a call only inserts its IDs.
import { randomUUID } from "node:crypto";
import { type ClientBase, Pool } from "pg";
import { systemClock } from "../../src/core/clock.ts";
import type { Tx } from "../../src/core/store.ts";
import { finish, firstEvents } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { type PgQueryable, postgresStatements } from "../../src/store/postgresql-statements.ts";
import { appendEvents } from "../../src/store/rows/event.ts";
import { bossJobs } from "../../src/store/rows/postgresql-jobs.ts";
import { rowsOf } from "../../src/store/rows.ts";
import { newChange, type Session } from "../../src/store/session.ts";
import type { Sql } from "../../src/store/statements.ts";
import { type FloorInput, type FloorPage, newTask, recordColumns } from "./rows.ts";
import { serve } from "./serve.ts";

// As many connections as each of the platform's two pools.
const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });

/** The statements that pg-boss uses once to look up its queues. */
const queues = postgresStatements(pool as unknown as PgQueryable, () => "");

/** Records the statements of the store's rows instead of executing them. */
async function recordStatements(
  work: (tx: Tx, session: Session) => Promise<unknown>,
): Promise<readonly Sql[]> {
  const statements: Sql[] = [];
  const record =
    <T>(answer: T) =>
    async (statement: Sql): Promise<T> => {
      statements.push(statement);
      return answer;
    };
  // The recorded operations do not use Prisma's client.
  const db = () => Promise.reject(new Error("no client here"));
  const statementsOnly = { query: record([]), execute: record(1), write: record(undefined) };
  const session: Session = {
    ...statementsOnly,
    scans: statementsOnly,
    db,
    dialect: "postgresql",
    change: newChange(Date.now()),
    readSegment: async () => [],
  };
  // pg-boss returns the row that it inserted.
  const boss = (of: Session) =>
    bossJobs(queues, systemClock)({ ...of, query: record<never[]>([{ id: "JOB" }] as never[]) });
  await work(rowsOf(session, boss), session);
  return statements;
}

const text = "What is 12 * 4?";
const placeholders = { task_id: "TASK", account_id: "ACCOUNT", space_id: "SPACE" };
const task: Task = { ...newTask(placeholders), id: placeholders.task_id, status: "running" };
const scope = { accountId: placeholders.account_id, spaceId: placeholders.space_id };

const credential = await recordStatements((tx) => tx.keys.holder("DIGEST"));
const find = await recordStatements((tx) => tx.tasks.find(scope, placeholders.task_id));
const create = await recordStatements(async (tx) => {
  await tx.tasks.insert(task, firstEvents(text));
  await tx.jobs.put({ kind: "run", key: placeholders.task_id, runAt: Date.now() });
  await tx.audit.insert({
    id: placeholders.task_id,
    at: Date.now(),
    spaceId: placeholders.space_id,
    accountId: placeholders.account_id,
    credential: "key:bench",
    operation: "task.v2.TaskService/CreateTask",
    requestId: "req_bench",
    address: "127.0.0.1",
    subject: placeholders.task_id,
    before: null,
    after: null,
  });
});
const claim = await recordStatements((tx) =>
  tx.tasks.advance(placeholders.task_id, {
    now: Date.now(),
    when: { fence: 0 },
    set: { nodeId: "bench", raiseFence: true, beginTurn: true },
  }),
);
const turn = await recordStatements((tx) =>
  tx.events.list(placeholders.task_id, {
    afterSeq: 0,
    beforeSeq: 3,
    order: "asc",
    limit: 1000,
    verbose: false,
  }),
);
const { set, events } = finish("48");
const end = await recordStatements(async (tx, session) => {
  await tx.tasks.advance(placeholders.task_id, {
    now: Date.now(),
    when: { fence: 1, consumed: true },
    set,
    events,
  });
  // The same step writes it if it finds its row.
  await appendEvents(session, { ...task, lastSeq: 4 }, events);
});

interface InputWithKey extends FloorInput {
  readonly digest: string;
}

async function run(
  on: Pick<ClientBase, "query">,
  name: string,
  { text, values }: Sql,
  input: InputWithKey,
): Promise<unknown[]> {
  const ids: Readonly<Record<string, string>> = {
    TASK: input.task_id,
    ACCOUNT: input.account_id,
    SPACE: input.space_id,
    DIGEST: input.digest,
  };
  // pg-boss stores the key of its job in JSON.
  const filled = (value: string) => ids[value] ?? value.replace('"TASK"', JSON.stringify(input.task_id));
  const bound = values.map((value) => (typeof value === "string" ? filled(value) : value));
  return (await on.query({ name, text, values: bound })).rows;
}

/** Runs statements sequentially; returns the last one's rows. */
async function runAll(
  on: Pick<ClientBase, "query">,
  name: string,
  statements: readonly Sql[],
  input: InputWithKey,
): Promise<unknown[]> {
  let rows: unknown[] = [];
  for (const [index, statement] of statements.entries())
    rows = await run(on, `${name}${index}`, statement, input);
  return rows;
}

async function change(name: string, statements: readonly Sql[], input: InputWithKey): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    await runAll(connection, name, statements, input);
    await connection.query("COMMIT");
  } finally {
    connection.release();
  }
}

async function readTask(input: InputWithKey): Promise<unknown> {
  await runAll(pool, "credential", credential, input);
  return (await runAll(pool, "find", find, input))[0];
}

async function createTask(input: InputWithKey): Promise<InputWithKey> {
  const created = { ...input, task_id: randomUUID() };
  await runAll(pool, "credential", credential, created);
  await change("create", create, created);
  return created;
}

/** The platform's statements for one task: create, claim, read the turn, end it, and read the task. */
async function runTask(input: InputWithKey): Promise<unknown> {
  const task = await createTask(input);
  await change("claim", claim, task);
  await runAll(pool, "turn", turn, task);
  await change("end", end, task);
  return readTask(task);
}

const present = "FROM task WHERE space_id = $1 AND account_id = $2 AND deleted_at IS NULL";
const page = `SELECT ${recordColumns} FROM (SELECT created_at, id ${present} ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4) s
  JOIN task t ON t.id = s.id ORDER BY s.created_at DESC, s.id DESC`;

/** The two bare queries of a page of an export's tasks: IDs from the index first, then the rows. */
async function readTasks({
  space_id,
  account_id,
  limit,
  offset,
}: InputWithKey & FloorPage): Promise<unknown> {
  const owner = [space_id, account_id];
  const counted = await pool.query({
    name: "count",
    text: `SELECT COUNT(*) AS total ${present}`,
    values: owner,
  });
  const { rows } = await pool.query({ name: "page", text: page, values: [...owner, limit, offset] });
  return { total: Number(counted.rows[0].total), records: rows };
}

serve<InputWithKey & FloorPage>({
  "/detail": readTask,
  "/create": createTask,
  "/run": runTask,
  "/tasks": readTasks,
});
