import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { sharedCommits } from "../../src/store/shared-commit.ts";
import { sql } from "../../src/store/sql.ts";
import { connectSqlite, driverOf } from "../../src/store/sqlite-adapter.ts";
import { sqliteStatements } from "../../src/store/sqlite-statements.ts";
import type { Statements } from "../../src/store/statements.ts";
import { databaseUrl } from "../support/database.ts";

/** Shared commits over a real file, of which every script is seen, and may be made to fail. */
export interface CommitsRig extends AsyncDisposable {
  readonly scripts: string[];
  /** Does something in a change of its own; resolves when that is durable. */
  readonly change: ReturnType<typeof sharedCommits>;
  /** Called before each script. */
  before: (script: string) => void;
  readonly adapter: SqlDriverAdapter;
  /** What another connection finds. */
  names(): Promise<string[]>;
}

export const put = (statements: Statements, name: string): Promise<number> =>
  statements.execute(sql`INSERT INTO t (name) VALUES (${name})`);

/** @param now by which changes gather in a commit; it stands still unless told otherwise, so that a slow machine parts nobody. */
export async function commitsRig(now = () => 0): Promise<CommitsRig> {
  const database = await databaseUrl("sqlite");
  const path = database.url.replace("file:", "");
  const adapter = await connectSqlite(path, "PRAGMA journal_mode = WAL; CREATE TABLE t (name TEXT)");
  const other = await connectSqlite(path);
  const driver = driverOf(adapter);
  const scripts: string[] = [];
  const script = (text: string): void => {
    scripts.push(text);
    rig.before(text);
    driver.exec(text);
  };
  const rig: CommitsRig = {
    scripts,
    adapter,
    before: () => undefined,
    change: sharedCommits(
      {
        statements: sqliteStatements(driver),
        begin: async () => script("BEGIN IMMEDIATE"),
        control: script,
        get inTransaction() {
          return driver.inTransaction;
        },
      },
      now,
    ),
    names: async () =>
      (await sqliteStatements(driverOf(other)).query<{ name: string }>(sql`SELECT name FROM t ORDER BY name`)).map(({ name }) => name),
    async [Symbol.asyncDispose]() {
      await adapter.dispose();
      await other.dispose();
      await database[Symbol.asyncDispose]();
    },
  };
  return rig;
}
