import type { schema } from "../gen/prisma/tables.ts";
import type { SqliteConnection } from "./sqlite-adapter.ts";

/** The name of a table of the models in the database. */
export type TableName = (typeof schema)[keyof typeof schema]["name"];

/** The tables that a statement reads and writes, by name. */
export interface TableUse {
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
}

/** Determines which tables statements use. */
export interface TableUses {
  /** @param parameters the number of the statement's parameters. */
  of(sql: string, parameters: number): TableUse;
  /** Must be called when another process may have changed the schema. */
  forget(): void;
}

/** The maximum number of statements whose tables are kept, and of characters of each. */
const keptMax = 1_000;
const textMax = 4_000;

/** A table or an index, as SQLite lists them. Virtual tables have no page. */
interface SchemaRow {
  readonly rootpage: number;
  readonly name: string;
  readonly tbl_name: string;
}

/** An instruction of SQLite's program for a statement. */
interface Instruction {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
}

/** The parameter with the first page of a table or an index, by instruction. */
const reading = { OpenRead: "p2", ReopenIdx: "p2" } as const;
const writing = { OpenWrite: "p2", Clear: "p1" } as const;

/**
 * Finds the tables of a statement in SQLite's own program for it (EXPLAIN), which includes triggers and the actions of foreign keys.
 * It does not find writes to virtual tables.
 */
export function tableUses(driver: Pick<SqliteConnection, "prepare">): TableUses {
  const kept = new Map<string, TableUse>();
  let tables: ReturnType<typeof readSchema> | undefined;
  const rows = (sql: string, values: readonly null[] = []) =>
    driver
      .prepare(sql)
      .safeIntegers(false)
      .all(...values);

  function readSchema() {
    const all = rows("SELECT rootpage, name, tbl_name FROM sqlite_schema WHERE type IN ('table', 'index')") as readonly SchemaRow[];
    return {
      byPage: new Map(all.map(({ rootpage, tbl_name }) => [rootpage, tbl_name])),
      virtual: all.filter(({ rootpage }) => rootpage === 0).map(({ name }) => name),
    };
  }

  function explain(sql: string, parameters: number): TableUse {
    tables ??= readSchema();
    const { byPage, virtual } = tables;
    const program = rows(`EXPLAIN ${sql}`, new Array<null>(parameters).fill(null)) as readonly Instruction[];
    const found = (pages: Readonly<Record<string, "p1" | "p2">>): readonly string[] =>
      program.flatMap((instruction) => {
        const page = pages[instruction.opcode];
        // A page of no table or index belongs to the schema: the statement may change every table.
        return page === undefined ? [] : (byPage.get(instruction[page]) ?? [...byPage.values()]);
      });
    return { reads: new Set([...found(reading), ...virtual.filter((name) => sql.includes(name))]), writes: new Set(found(writing)) };
  }

  function keep(sql: string, use: TableUse): TableUse {
    if (kept.size >= keptMax) kept.clear();
    if (sql.length <= textMax) kept.set(sql, use);
    return use;
  }

  return {
    of(sql, parameters) {
      const known = kept.get(sql);
      if (known) return known;
      const short = withoutRepetition(sql);
      const removed = countParameters(sql) - countParameters(short);
      return keep(sql, kept.get(short) ?? keep(short, explain(short, parameters - removed)));
    },
    forget() {
      kept.clear();
      tables = undefined;
    },
  };
}

/** One row of VALUES and one value of IN use the same tables as many: the program for many is long. */
const withoutRepetition = (sql: string): string => sql.replace(/(\([?, ]+\))(?:, ?\1)+/g, "$1").replace(/\bIN \(\?(?:, ?\?)+\)/g, "IN (?)");

const countParameters = (sql: string): number => sql.split("?").length;
