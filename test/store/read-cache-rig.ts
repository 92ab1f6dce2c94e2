import { cached } from "../../src/store/cached.ts";
import { createReadCache, type OnCached, type ReadCache } from "../../src/store/read-cache.ts";
import { connectSqlite, driverOf, type SqliteConnection, sqliteStatements } from "../../src/store/sqlite-adapter.ts";
import { raw, type Statement, type Statements, sql } from "../../src/store/statements.ts";
import type { TableName } from "../../src/store/table-use.ts";
import { databaseUrl } from "../support/database.ts";

/** The tables are the rig's, not those of the models. */
const named = (...names: readonly string[]) => names as readonly TableName[];

/** Statements over every combination of the tables. */
export const reads: readonly ((id: string) => Statement)[] = [
  cached(named("parent"), (id: string) => sql`SELECT note, bytes FROM parent WHERE id = ${id}`),
  cached(named("child"), (id: string) => sql`SELECT id FROM child WHERE parent_id = ${id} ORDER BY id`),
  cached(
    named("parent", "child"),
    (id: string) => sql`SELECT c.id, p.note FROM parent p LEFT JOIN child c ON c.parent_id = p.id WHERE p.id = ${id} ORDER BY c.id`,
  ),
  cached(named("line"), () => sql`SELECT COUNT(*) AS n FROM line`),
];

/** Writes that reach the tables directly, by a cascade and by a trigger. */
export const writes: readonly ((id: string) => string)[] = [
  (id) => `INSERT INTO parent VALUES ('${id}', 0, x'00') ON CONFLICT (id) DO UPDATE SET note = note + 1`,
  (id) => `UPDATE parent SET note = note + 1 WHERE id = '${id}'`,
  (id) => `DELETE FROM parent WHERE id = '${id}'`,
  (id) => `INSERT INTO child SELECT lower(hex(randomblob(4))), id FROM parent WHERE id = '${id}'`,
  () => "DELETE FROM child",
  () => "DELETE FROM line",
];

/** A cache over a writing and a reading connection to one file, and a third connection as that of another process. */
export interface ReadCacheRig extends AsyncDisposable {
  readonly cache: ReadCache;
  readonly writer: SqliteConnection;
  readonly reader: SqliteConnection;
  readonly other: SqliteConnection;
  /** Statements of the writer and the reader, answered from the cache. */
  readonly cachedOn: Readonly<Record<"writer" | "reader", Statements>>;
  /** The statements that reached the database. */
  readonly sent: string[];
  begin(): void;
  write(text: string): Promise<unknown>;
}

export async function readCacheRig(onCached?: OnCached): Promise<ReadCacheRig> {
  const database = await databaseUrl("sqlite");
  const path = database.url.replace("file:", "");
  const adapters = [
    await connectSqlite(path, `PRAGMA journal_mode = WAL; ${tables}`),
    await connectSqlite(path),
    await connectSqlite(path),
  ];
  const [writer, reader, other] = adapters.map(driverOf) as [SqliteConnection, SqliteConnection, SqliteConnection];
  for (const driver of [writer, other]) driver.exec("PRAGMA synchronous = OFF");
  const cache = createReadCache(writer, onCached);
  const sent: string[] = [];
  const onStatement = (text: string) => void sent.push(text);
  const cachedOn = { writer: cache.on(writer, onStatement), reader: cache.on(reader, onStatement) };
  return {
    ...{ cache, writer, reader, other, cachedOn, sent },
    begin() {
      writer.exec("BEGIN IMMEDIATE");
      cache.began();
    },
    write: (text) => cachedOn.writer.execute(sql`${raw(text)}`),
    async [Symbol.asyncDispose]() {
      for (const adapter of adapters.toReversed()) await adapter.dispose();
      await database[Symbol.asyncDispose]();
    },
  };
}

const tables = `
  CREATE TABLE parent (id TEXT PRIMARY KEY, note INTEGER, bytes BLOB);
  CREATE TABLE child (id TEXT PRIMARY KEY, parent_id TEXT REFERENCES parent (id) ON DELETE CASCADE);
  CREATE TABLE line (id TEXT);
  CREATE TRIGGER noted AFTER UPDATE OF note ON parent BEGIN INSERT INTO line VALUES (new.id); END;`;

/** What a connection answers without a cache. */
export const storedOn = (connection: SqliteConnection, statement: Statement): Promise<unknown[]> =>
  sqliteStatements(connection).query(statement);
