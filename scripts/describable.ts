import { randomBytes } from "node:crypto";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory, SqlQuery } from "@prisma/driver-adapter-utils";

/** PostgreSQL's type `"char"`, of one byte, which its catalogues use; and `text`. */
const charType = 18;
const textType = 25;

/**
 * A database in memory that the schema engine can use: it runs whole scripts as if
 * they were one statement, and asks for an index by its name in double quotes, which
 * better-sqlite3's SQLite takes for a column.
 */
export function describableSqlite(): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaBetterSqlite3({ url: ":memory:" });
  const scripted = (adapter: SqlDriverAdapter): SqlDriverAdapter => {
    const queryRaw = adapter.queryRaw.bind(adapter);
    return Object.assign(adapter, {
      executeRaw: async ({ sql }: SqlQuery) => adapter.executeScript(sql).then(() => 0),
      queryRaw: (query: SqlQuery) => queryRaw({ ...query, sql: query.sql.replace(/ name = "(.*?)"/, " name = '$1'") }),
    });
  };
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => scripted(await factory.connect()),
    connectToShadowDb: async () => scripted(await factory.connectToShadowDb()),
  };
}

type ConnectedPostgres = Awaited<ReturnType<PrismaPg["connect"]>>;

/**
 * A PostgreSQL server that the schema engine can read: it asks for columns of the
 * type `"char"`, which the driver adapter as it is refuses to give out.
 */
export function describablePostgres(url: string): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(partsOf(url));
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => readable(await factory.connect()),
    connectToShadowDb: () => shadowOf(url),
  };
}

/** A database for the length of a comparison. The adapter's own way drops it before it has left it, and with a URL makes it but does not enter it. */
async function shadowOf(url: string): Promise<SqlDriverAdapter> {
  const database = `shadow_${randomBytes(8).toString("hex")}`;
  const server = await new PrismaPg(partsOf(url)).connect();
  await server.executeScript(`CREATE DATABASE ${database}`);
  const shadow = readable(await new PrismaPg({ ...partsOf(url), database }).connect());
  const leave = shadow.dispose.bind(shadow);
  return Object.assign(shadow, {
    async dispose() {
      await leave();
      await server.executeScript(`DROP DATABASE ${database}`);
      await server.dispose();
    },
  });
}

/** The URL in parts, of which one can be exchanged. Idle connections do not keep the process alive. */
function partsOf(url: string) {
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

/** Gives columns of the type `"char"` out as text. */
function readable(adapter: ConnectedPostgres): ConnectedPostgres {
  const pool = adapter.underlyingDriver();
  // The driver's `query` has a dozen overloads; the adapter uses the one that answers with a promise.
  const query = pool.query.bind(pool) as (...asked: unknown[]) => Promise<{ fields: { dataTypeID: number }[] }>;
  const told = async (...asked: unknown[]) => {
    const result = await query(...asked);
    for (const field of result.fields) if (field.dataTypeID === charType) field.dataTypeID = textType;
    return result;
  };
  Object.assign(pool, { query: told });
  return adapter;
}
