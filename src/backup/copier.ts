import { migrationsOf } from "../store/migrate.ts";
import type { Dialect } from "../store/statements.ts";
import type { DatabaseCopier, Environment } from "./copy.ts";

/** The copier of a database. Each loads only its own driver. */
export const copierOf = async (dialect: Dialect, env: Environment): Promise<DatabaseCopier> =>
  dialect === "sqlite"
    ? (await import("./copy-sqlite.ts")).sqliteCopier
    : (await import("./copy-postgresql.ts")).postgresCopier(env);

/** Whether this release can use a database with this latest migration. */
export const isKnownMigration = (dialect: Dialect, name: string): boolean =>
  migrationsOf(dialect).some((each) => each.name === name);
