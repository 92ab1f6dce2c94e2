import type { SqlDriverAdapter, SqlDriverAdapterFactory } from "@prisma/driver-adapter-utils";
import type { Prisma, PrismaClient } from "../gen/prisma/sqlite/client.ts";
import type { Dialect } from "./statements.ts";

/**
 * Prisma's client of SQLite or PostgreSQL: the store uses what both have, because both are generated from the
 * same models.
 */
export type Client = PrismaClient;
/** The part of the client that rows use. */
export type Db = Prisma.TransactionClient;

const modules: Readonly<Record<Dialect, () => Promise<unknown>>> = {
  sqlite: () => import("../gen/prisma/sqlite/client.ts"),
  postgresql: () => import("../gen/prisma/postgresql/client.ts"),
};

/**
 * Prisma's client on an open connection, made on first use: a process that never uses it saves its memory
 * (about 50 MB) and the time to load it (about 0.3 s).
 */
export function clientOn(dialect: Dialect, adapter: SqlDriverAdapter): () => Promise<Client> {
  let made: Promise<Client> | undefined;
  const make = async (): Promise<Client> => {
    const { PrismaClient } = (await modules[dialect]()) as typeof import("../gen/prisma/sqlite/client.ts");
    // Errors are logged with their cause, so Prisma does not have to look up the caller's source lines for
    // each statement.
    const client = new PrismaClient({ adapter: factoryOf(adapter), errorFormat: "minimal" });
    await client.$connect();
    return client;
  };
  return () =>
    (made ??= make().catch((thrown: unknown) => {
      // The next use retries.
      made = undefined;
      throw thrown;
    }));
}

/** The client uses a connection that is already open and that its owner closes. */
const factoryOf = (adapter: SqlDriverAdapter): SqlDriverAdapterFactory => ({
  provider: adapter.provider,
  adapterName: adapter.adapterName,
  connect: async () => adapter,
});
