import { randomBytes } from "node:crypto";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlQuery,
} from "@prisma/driver-adapter-utils";

/** The IDs of PostgreSQL's one-byte type `"char"`, which its catalogs use, and of `text`. */
const charType = 18;
const textType = 25;

/**
 * An in-memory database for the schema engine. The engine runs complete scripts as
 * one statement, and it queries an index by its name in double quotes, which
 * better-sqlite3's SQLite reads as a column.
 */
export function describableSqlite(): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaBetterSqlite3({ url: ":memory:" });
  const withScripts = (adapter: SqlDriverAdapter): SqlDriverAdapter => {
    const queryRaw = adapter.queryRaw.bind(adapter);
    return Object.assign(adapter, {
      executeRaw: async ({ sql }: SqlQuery) => adapter.executeScript(sql).then(() => 0),
      queryRaw: (query: SqlQuery) =>
        queryRaw({ ...query, sql: query.sql.replace(/ name = "(.*?)"/, " name = '$1'") }),
    });
  };
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => withScripts(await factory.connect()),
    connectToShadowDb: async () => withScripts(await factory.connectToShadowDb()),
  };
}

type ConnectedPostgres = Awaited<ReturnType<PrismaPg["connect"]>>;

/**
 * A PostgreSQL server for the schema engine. The engine reads columns of the
 * type `"char"`, which the driver adapter does not support.
 */
export function describablePostgres(url: string): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(connectionOptions(url));
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => withCharColumns(await factory.connect()),
    connectToShadowDb: () => createShadow(url),
  };
}

/**
 * A temporary database for a comparison. The adapter's implementation drops it while still connected, and
 * with a URL it creates the database but does not connect to it.
 */
async function createShadow(url: string): Promise<SqlDriverAdapter> {
  const database = `shadow_${randomBytes(8).toString("hex")}`;
  const server = await new PrismaPg(connectionOptions(url)).connect();
  await server.executeScript(`CREATE DATABASE ${database}`);
  const shadow = withCharColumns(await new PrismaPg({ ...connectionOptions(url), database }).connect());
  const disconnect = shadow.dispose.bind(shadow);
  return Object.assign(shadow, {
    async dispose() {
      await disconnect();
      await server.executeScript(`DROP DATABASE ${database}`);
      await server.dispose();
    },
  });
}

/**
 * The URL as options, so that the database can be replaced. Idle connections do not keep the process alive.
 */
function connectionOptions(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url);
  const [user, secret, database] = [username, password, pathname.slice(1)].map(decodeURIComponent);
  return {
    host: hostname,
    port: Number(port || 5432),
    user: user ?? "",
    password: secret ?? "",
    database: database ?? "",
    allowExitOnIdle: true,
  };
}

/**
 * Returns columns of the type `"char"` as text, and runs complete scripts: the adapter would cut the text of
 * a function at its semicolons.
 */
function withCharColumns(adapter: ConnectedPostgres): ConnectedPostgres {
  const pool = adapter.underlyingDriver();
  // The driver's `query` has a dozen overloads; the adapter uses the one that returns a promise.
  const query = pool.query.bind(pool) as (
    ...args: unknown[]
  ) => Promise<{ fields: { dataTypeID: number }[] }>;
  const queryAsText = async (...args: unknown[]) => {
    const result = await query(...args);
    for (const field of result.fields) if (field.dataTypeID === charType) field.dataTypeID = textType;
    return result;
  };
  Object.assign(pool, { query: queryAsText });
  return Object.assign(adapter, { executeScript: async (script: string) => void (await query(script)) });
}
