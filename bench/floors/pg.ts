// The floor on PostgreSQL: node:http and `pg`, with the same prepared statements as ours, as the
// store writes them. They are written once, at the start; a call only puts its ids into them.
import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import type { Tx } from "../../src/core/store.ts";
import { begin } from "../../src/core/tasks/lifecycle.ts";
import { rowsOf } from "../../src/store/rows.ts";
import { type Db, newChange } from "../../src/store/session.ts";
import type { Sql } from "../../src/store/sql.ts";
import { type Asked, newTask } from "./rows.ts";
import { serve } from "./serve.ts";

/** A connection of `pg` or a pool of them. */
interface Queryable {
  query(
    query: string | { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
  ): Promise<{ readonly rows: unknown[] }>;
}
type Pool = Queryable & { connect(): Promise<Queryable & { release(): void }> };

/** The statements of the store's rows, instead of their effect. */
async function recorded(work: (tx: Tx) => Promise<unknown>): Promise<readonly Sql[]> {
  const statements: Sql[] = [];
  const note =
    <T>(answer: T) =>
    async (statement: Sql): Promise<T> => {
      statements.push(statement);
      return answer;
    };
  // Nothing that is recorded here goes by Prisma's models.
  const db = {} as Db;
  await work(rowsOf({ db, dialect: "postgresql", change: newChange(), query: note([]), execute: note(1) }));
  return statements;
}

const some = { task_id: "TASK", account_id: "ACCOUNT", space_id: "SPACE" };
const detail = await recorded(async (tx) => {
  await tx.keys.holder("DIGEST");
  await tx.tasks.find({ accountId: some.account_id, spaceId: some.space_id }, some.task_id);
});
const create = await recorded(async (tx) => {
  await tx.keys.holder("DIGEST");
  await tx.tasks.insert({ ...newTask(some), id: some.task_id }, begin("What is 12 * 4?"));
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

// The adapter has its pool as `client`; its type does not say so. As many connections as each of our two pools.
const adapter = await new PrismaPg({ connectionString: process.env["DATABASE_URL"], max: 10 }).connect();
const pool = (adapter as unknown as { readonly client: Pool }).client;

interface AskedWithKey extends Asked {
  readonly digest: string;
}

async function run(on: Queryable, name: string, { text, values }: Sql, asked: AskedWithKey): Promise<unknown[]> {
  const ids: Readonly<Record<string, string>> = {
    TASK: asked.task_id,
    ACCOUNT: asked.account_id,
    SPACE: asked.space_id,
    DIGEST: asked.digest,
  };
  const bound = values.map((value) => (typeof value === "string" ? (ids[value] ?? value) : value));
  return (await on.query({ name, text, values: bound })).rows;
}

async function readTask(asked: AskedWithKey): Promise<unknown> {
  let rows: unknown[] = [];
  for (const [index, statement] of detail.entries()) rows = await run(pool, `detail${index}`, statement, asked);
  return rows[0];
}

async function createTask(asked: AskedWithKey): Promise<unknown> {
  const named = { ...asked, task_id: randomUUID() };
  const [holder, ...changes] = create;
  if (holder) await run(pool, "detail0", holder, named);
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    for (const [index, statement] of changes.entries()) await run(connection, `create${index}`, statement, named);
    await connection.query("COMMIT");
  } finally {
    connection.release();
  }
  return { task_id: named.task_id };
}

serve<AskedWithKey>({ "/detail": readTask, "/create": createTask });
