// The bare claim loop: a row is written, eight loops claim waiting rows and mark them done. Each step is one
// statement of the driver in its own transaction, on the database of DATABASE_URL. POST /run answers when its
// row is done. With CLAIMS, two loops claim up to that many rows by one statement.
import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { connectSqlite, driverOf } from "../../src/store/sqlite-adapter.ts";
import { serve } from "./serve.ts";

/** A loop's operations on the database. */
interface Claims {
  put(id: string): Promise<void>;
  /** Claims the next waiting rows, at most `atOnce`. */
  claim(): Promise<readonly string[]>;
  finish(id: string): Promise<void>;
}

const atOnce = Number(process.env["CLAIMS"] ?? 1);
const loops = atOnce === 1 ? 8 : 2;
const url = process.env["DATABASE_URL"] ?? "";
const table =
  "CREATE TABLE bench_claim (id TEXT PRIMARY KEY, status TEXT NOT NULL, queued_at BIGINT NOT NULL)";
const index = "CREATE INDEX bench_claim_waiting ON bench_claim (queued_at) WHERE status = 'waiting'";
const waitingRows = "SELECT id FROM bench_claim WHERE status = 'waiting' ORDER BY queued_at";

async function onSqlite(): Promise<Claims> {
  const driver = driverOf(await connectSqlite(url.replace(/^file:/, "")));
  driver.exec(`${table}; ${index}`);
  const insert = driver.prepare("INSERT INTO bench_claim VALUES (?, 'waiting', ?)");
  const claim = driver.prepare(
    `UPDATE bench_claim SET status = 'running' WHERE id IN (${waitingRows} LIMIT ${atOnce}) RETURNING id`,
  );
  const finish = driver.prepare("UPDATE bench_claim SET status = 'stopped' WHERE id = ?");
  return {
    put: async (id) => void insert.run(id, Date.now()),
    claim: async () => (claim.all() as { readonly id: string }[]).map(({ id }) => id),
    finish: async (id) => void finish.run(id),
  };
}

async function onPostgresql(): Promise<Claims> {
  const pool = new Pool({ connectionString: url, max: 10 });
  await pool.query(table);
  await pool.query(index);
  const claiming = `UPDATE bench_claim SET status = 'running'
    WHERE id IN (${waitingRows} LIMIT ${atOnce} FOR UPDATE SKIP LOCKED) RETURNING id`;
  return {
    put: async (id) =>
      void (await pool.query({
        name: "put",
        text: "INSERT INTO bench_claim VALUES ($1, 'waiting', $2)",
        values: [id, Date.now()],
      })),
    claim: async () =>
      (await pool.query<{ id: string }>({ name: "claim", text: claiming })).rows.map(({ id }) => id),
    finish: async (id) =>
      void (await pool.query({
        name: "finish",
        text: "UPDATE bench_claim SET status = 'stopped' WHERE id = $1",
        values: [id],
      })),
  };
}

const claims = url.startsWith("file:") ? await onSqlite() : await onPostgresql();
const waiting = new Map<string, (done: { readonly task_id: string }) => void>();
const idle: (() => void)[] = [];

async function end(id: string): Promise<void> {
  await claims.finish(id);
  waiting.get(id)?.({ task_id: id });
  waiting.delete(id);
}

async function loop(): Promise<never> {
  for (;;) {
    const ids = await claims.claim();
    if (ids.length === 0) await new Promise<void>((resolve) => idle.push(resolve));
    else await Promise.all(ids.map(end));
  }
}

for (let n = 0; n < loops; n += 1)
  loop().catch((cause: unknown) => {
    console.error(cause);
    process.exit(1);
  });

serve<object>({
  async "/run"() {
    const id = randomUUID();
    const done = new Promise((resolve) => waiting.set(id, resolve));
    await claims.put(id);
    idle.shift()?.();
    return done;
  },
});
