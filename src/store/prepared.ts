import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";

/** A prepared statement of better-sqlite3, as far as the driver adapter uses it. */
interface Statement {
  readonly reader: boolean;
  columns(): unknown;
  raw(): Statement;
  all(...values: readonly unknown[]): unknown;
  run(...values: readonly unknown[]): unknown;
}

interface Connection {
  prepare(sql: string): Statement;
}

/** So many are kept; statements with lists come in many lengths. */
const keptMax = 300;

/**
 * Keeps a connection's statements prepared: the adapter prepares each one anew, which
 * costs as much as running it. The adapter binds, then runs, in one go, so one
 * statement serves all who use its text.
 */
export function keepPrepared(adapter: SqlDriverAdapter): void {
  // The adapter has its connection as `client`; its type does not say so.
  const { client } = adapter as unknown as { readonly client: Connection };
  const prepare = client.prepare.bind(client);
  const kept = new Map<string, Bindable>();
  client.prepare = (sql) => {
    const known = kept.get(sql) ?? new Bindable(prepare(sql));
    // The one used last goes to the end, and the first one out is the one not used for longest.
    kept.delete(sql);
    kept.set(sql, known);
    const [oldest] = kept.size > keptMax ? kept.keys() : [];
    if (oldest !== undefined) kept.delete(oldest);
    return known;
  };
}

/** A statement whose values can be bound again; the driver's own takes them once for all. */
class Bindable implements Statement {
  readonly #statement: Statement;
  #values: readonly unknown[] = [];

  constructor(statement: Statement) {
    this.#statement = statement;
  }

  get reader(): boolean {
    return this.#statement.reader;
  }

  bind(values: readonly unknown[]): this {
    this.#values = values;
    return this;
  }

  columns(): unknown {
    return this.#statement.columns();
  }

  raw(): this {
    this.#statement.raw();
    return this;
  }

  all(): unknown {
    return this.#statement.all(...this.#values);
  }

  run(): unknown {
    return this.#statement.run(...this.#values);
  }
}
