import type { Session } from "./session.ts";
import { raw, type Sql, type Statement, sql } from "./statements.ts";
import type { TableName } from "./table-use.ts";

type Argument = string | number | boolean | null;

/**
 * Declares a statement that many calls run and whose tables seldom change. On SQLite its rows are kept until one of its tables changes
 * (`read-cache.ts`); on PostgreSQL it always runs. Declare it as a constant of a module.
 *
 * @param tables every table that it reads, in subqueries too. Another one is a ProgrammingError when it runs.
 * @param statement a pure function of its arguments. The statement must not depend on time or chance, and no argument may be a secret.
 */
export function cached<A extends readonly Argument[]>(
  tables: readonly TableName[],
  statement: (...args: A) => Sql,
): (...args: A) => Statement {
  declarations += 1;
  const declaration = declarations;
  return (...args) => new CachedStatement(tables, `${declaration} ${JSON.stringify(args)}`, () => statement(...args));
}

let declarations = 0;

/** Its text is built only if it runs. */
class CachedStatement implements Statement {
  readonly cache: NonNullable<Statement["cache"]>;
  readonly #make: () => Sql;
  #made: Sql | undefined;

  constructor(tables: readonly TableName[], key: string, make: () => Sql) {
    this.cache = { tables, key };
    this.#make = make;
  }

  get #statement(): Sql {
    this.#made ??= this.#make();
    return this.#made;
  }

  get sql(): string {
    return this.#statement.sql;
  }

  get text(): string {
    return this.#statement.text;
  }

  get values(): readonly unknown[] {
    return this.#statement.values;
  }
}

const anyRow = new Map<TableName, () => Statement>();

/** True if a table has no row, which is often known without a statement. False on PostgreSQL, where a statement would have to ask. */
export async function isKnownEmpty({ dialect, query }: Pick<Session, "dialect" | "query">, table: TableName): Promise<boolean> {
  if (dialect === "postgresql") return false;
  const statement = anyRow.get(table) ?? cached([table], () => sql`SELECT 1 FROM ${raw(table)} LIMIT 1`);
  anyRow.set(table, statement);
  return (await query(statement())).length === 0;
}
