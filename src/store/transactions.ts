import { AsyncLocalStorage } from "node:async_hooks";
import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQueryable, Transaction } from "@prisma/driver-adapter-utils";
import { Misuse } from "./misuse.ts";
import type { Statements } from "./statements.ts";

/** Runs work in a transaction of its own: all of it is durable when the promise resolves, or none of it. */
export type Transact = <T>(work: (statements: Statements) => Promise<T>) => Promise<T>;

/** The transaction that the present work belongs to, for what Prisma does in it. */
interface Present {
  readonly queries: SqlQueryable;
  open: boolean;
}

/** Leads Prisma's own statements to the transaction that their caller is in. */
export interface PresentTransaction {
  /** Runs work in a transaction; what it leaves behind reaches no later one. */
  run<T>(queries: SqlQueryable, work: () => Promise<T>): Promise<T>;
  /** An adapter for a client that writes: it works in the present transaction, and nowhere else. */
  adapter(outside: SqlDriverAdapter): SqlDriverAdapter;
}

export function presentTransaction(): PresentTransaction {
  const storage = new AsyncLocalStorage<Present>();

  function present(): SqlQueryable {
    const found = storage.getStore();
    if (!found?.open) throw new Misuse("the change is over, or never began");
    return found.queries;
  }

  return {
    async run(queries, work) {
      const here: Present = { queries, open: true };
      try {
        return await storage.run(here, work);
      } finally {
        here.open = false;
      }
    },
    adapter: (outside) => ({
      provider: outside.provider,
      adapterName: outside.adapterName,
      queryRaw: (query) => present().queryRaw(query),
      executeRaw: (query) => present().executeRaw(query),
      executeScript: (script) => outside.executeScript(script),
      // What Prisma would have as a transaction is part of the one that is open.
      startTransaction: async () => within(present()),
      getConnectionInfo: () => outside.getConnectionInfo?.() ?? { supportsRelationJoins: false },
      dispose: () => outside.dispose(),
    }),
  };
}

const within = (queries: SqlQueryable): Transaction => ({
  provider: queries.provider,
  adapterName: queries.adapterName,
  queryRaw: (query) => queries.queryRaw(query),
  executeRaw: (query) => queries.executeRaw(query),
  options: { usePhantomQuery: true },
  commit: async () => undefined,
  rollback: async () => undefined,
});

/** A client of Prisma's on what is open already. */
export const factoryOf = (adapter: SqlDriverAdapter): SqlDriverAdapterFactory => ({
  provider: adapter.provider,
  adapterName: adapter.adapterName,
  connect: async () => adapter,
});
