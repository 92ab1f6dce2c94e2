// The floor on PostgreSQL: node:http and `pg`, with the same prepared statements as ours, as the
// store writes them. They are written once, at the start; a call only puts its ids into them.
import { randomUUID } from "node:crypto";
import { type ClientBase, Pool } from "pg";
import { systemClock } from "../../src/core/clock.ts";
import type { Tx } from "../../src/core/store.ts";
import { begin, finish } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { bossJobs } from "../../src/store/postgresql-jobs.ts";
import { type PgQueryable, postgresStatements } from "../../src/store/postgresql-statements.ts";
import { appendEvents } from "../../src/store/rows/event.ts";
import { rowsOf } from "../../src/store/rows.ts";
import { type Db, newChange, type Session } from "../../src/store/session.ts";
import type { Sql } from "../../src/store/sql.ts";
import { type Asked, type AskedPage, newTask, recordColumns } from "./rows.ts";
import { serve } from "./serve.ts";

// As many connections as each of our two pools.
const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });

/** Where pg-boss looks its queues up, once. */
const queues = postgresStatements(pool as unknown as PgQueryable, () => "");

/** The statements of the store's rows, instead of their effect. */
async function recorded(work: (tx: Tx, session: Session) => Promise<unknown>): Promise<readonly Sql[]> {
  const statements: Sql[] = [];
  const note =
    <T>(answer: T) =>
    async (statement: Sql): Promise<T> => {
      statements.push(statement);
      return answer;
    };
  // Nothing that is recorded here goes by Prisma's models.
  const db = {} as Db;
  const session: Session = { db, dialect: "postgresql", change: newChange(Date.now()), query: note([]), execute: note(1) };
  // pg-boss answers the row that it has put.
  const boss = (of: Session) => bossJobs(queues, systemClock)({ ...of, query: note<never[]>([{ id: "JOB" }] as never[]) });
  await work(rowsOf(session, boss), session);
  return statements;
}

const text = "What is 12 * 4?";
const some = { task_id: "TASK", account_id: "ACCOUNT", space_id: "SPACE" };
const task: Task = { ...newTask(some), id: some.task_id, status: "running" };
const scope = { accountId: some.account_id, spaceId: some.space_id };

const credential = await recorded((tx) => tx.keys.holder("DIGEST"));
const find = await recorded((tx) => tx.tasks.find(scope, some.task_id));
const create = await recorded(async (tx) => {
  await tx.tasks.insert(task, begin(text));
  await tx.jobs.put({ kind: "run", key: some.task_id, runAt: Date.now() });
  await tx.audit.insert({
    id: some.task_id,
    at: Date.now(),
    spaceId: some.space_id,
    accountId: some.account_id,
    credential: "key:bench",
    operation: "task.v2.TaskService/CreateTask",
    requestId: "req_bench",
    address: "127.0.0.1",
    subject: some.task_id,
    before: null,
    after: null,
  });
});
const claim = await recorded((tx) =>
  tx.tasks.advance(some.task_id, { now: Date.now(), when: { fence: 0 }, set: { nodeId: "bench", raiseFence: true, beginTurn: true } }),
);
const turn = await recorded((tx) => tx.events.list(some.task_id, { afterSeq: 0, beforeSeq: 3, order: "asc", limit: 1000, verbose: false }));
const { set, events } = finish("48");
const end = await recorded(async (tx, session) => {
  await tx.tasks.advance(some.task_id, { now: Date.now(), when: { fence: 1, consumed: true }, set, events });
  // Written by the same step where it finds its row.
  await appendEvents(session, { ...task, lastSeq: 4 }, events);
});

interface AskedWithKey extends Asked {
  readonly digest: string;
}

async function run(on: Pick<ClientBase, "query">, name: string, { text, values }: Sql, asked: AskedWithKey): Promise<unknown[]> {
  const ids: Readonly<Record<string, string>> = {
    TASK: asked.task_id,
    ACCOUNT: asked.account_id,
    SPACE: asked.space_id,
    DIGEST: asked.digest,
  };
  // pg-boss has the key of its job within JSON.
  const filled = (value: string) => ids[value] ?? value.replace('"TASK"', JSON.stringify(asked.task_id));
  const bound = values.map((value) => (typeof value === "string" ? filled(value) : value));
  return (await on.query({ name, text, values: bound })).rows;
}

/** Statements one after the other; answers the last one's rows. */
async function runAll(on: Pick<ClientBase, "query">, name: string, statements: readonly Sql[], asked: AskedWithKey): Promise<unknown[]> {
  let rows: unknown[] = [];
  for (const [index, statement] of statements.entries()) rows = await run(on, `${name}${index}`, statement, asked);
  return rows;
}

async function change(name: string, statements: readonly Sql[], asked: AskedWithKey): Promise<void> {
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    await runAll(connection, name, statements, asked);
    await connection.query("COMMIT");
  } finally {
    connection.release();
  }
}

async function readTask(asked: AskedWithKey): Promise<unknown> {
  await runAll(pool, "credential", credential, asked);
  return (await runAll(pool, "find", find, asked))[0];
}

async function createTask(asked: AskedWithKey): Promise<AskedWithKey> {
  const named = { ...asked, task_id: randomUUID() };
  await runAll(pool, "credential", credential, named);
  await change("create", create, named);
  return named;
}

/** As ours with one task alone: created, claimed, its turn read and ended, and read once more. */
async function runTask(asked: AskedWithKey): Promise<unknown> {
  const named = await createTask(asked);
  await change("claim", claim, named);
  await runAll(pool, "turn", turn, named);
  await change("end", end, named);
  return readTask(named);
}

const present = "FROM task WHERE space_id = $1 AND account_id = $2 AND deleted_at IS NULL";
const page = `SELECT ${recordColumns} FROM (SELECT created_at, id ${present} ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4) s
  JOIN task t ON t.id = s.id ORDER BY s.created_at DESC, s.id DESC`;

/** The two bare queries of a page of an export's tasks: ids from the index first, the rows after. */
async function readTasks({ space_id, account_id, limit, offset }: AskedWithKey & AskedPage): Promise<unknown> {
  const whose = [space_id, account_id];
  const counted = await pool.query({ name: "count", text: `SELECT COUNT(*) AS total ${present}`, values: whose });
  const { rows } = await pool.query({ name: "page", text: page, values: [...whose, limit, offset] });
  return { total: Number(counted.rows[0].total), records: rows };
}

serve<AskedWithKey & AskedPage>({ "/detail": readTask, "/create": createTask, "/run": runTask, "/tasks": readTasks });
