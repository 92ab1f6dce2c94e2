import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { groupCommit } from "../../src/store/group-commit.ts";
import { connectSqlite, driverOf, sqliteStatements } from "../../src/store/sqlite-adapter.ts";
import { type Statements, sql } from "../../src/store/statements.ts";
import { computedShape, text } from "../../src/store/table.ts";
import { databaseUrl } from "../support/database.ts";

const named = computedShape({ name: text(sql`name`) });

/** Group commits on a real file; every script is recorded, and can be made to fail. */
export interface CommitsRig extends AsyncDisposable {
  readonly scripts: string[];
  /** Runs work in a separate change; resolves when it is durable. */
  readonly change: ReturnType<typeof groupCommit>;
  /** Called before each script. */
  before: (script: string) => void;
  readonly adapter: SqlDriverAdapter;
  /** The rows that another connection reads. */
  names(): Promise<string[]>;
}

export const put = (statements: Statements, name: string): Promise<number> =>
  statements.execute(sql`INSERT INTO t (name) VALUES (${name})`);

/**
 * @param now the clock that bounds a group; by default it does not advance, so that a slow machine splits no
 * group.
 */
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
    change: groupCommit(
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
      (await named.rows(sqliteStatements(driverOf(other)))(sql`SELECT name FROM t ORDER BY name`)).map(
        ({ name }) => name,
      ),
    async [Symbol.asyncDispose]() {
      await adapter.dispose();
      await other.dispose();
      await database[Symbol.asyncDispose]();
    },
  };
  return rig;
}
