import { lazy } from "../async/lazy.ts";
import type { StoredRow } from "../core/installation/transfer.ts";
import { type Optional, type Rows, schema } from "../gen/prisma/tables.ts";
import { join, raw, type Sql, type Statement, type Statements, sql, type Value } from "./statements.ts";

/** How a value is read from a driver, and written to it. */
type Kind = "text" | "integer" | "boolean" | "bytes" | "json";

/** A value that a statement computes in addition to the columns of a table. */
export interface Computed<T> {
  readonly kind: Kind;
  readonly value: Sql;
  /** Carries the type; never set. */
  readonly type?: T;
}
type ComputedValues = Readonly<Record<string, Computed<unknown>>>;
type Values<X> = { readonly [M in keyof X]: X[M] extends Computed<infer T> ? T : never };

/** The types of a row's members by name, as parameters of a function. */
type Members<R, F extends readonly (keyof R)[]> = { [I in keyof F]: F[I] extends keyof R ? R[F[I]] : never };

/**
 * The columns that a statement selects or returns, and the type of its rows. Create shapes once, as constants
 * of a module: each compiles its own reader.
 */
export interface Shape<R> {
  /** The columns for SELECT or RETURNING, of the table that the statement calls `name`. */
  of(name: string): Sql;
  /** Runs a statement that returns the columns of this shape. */
  rows(session: Pick<Statements, "query">): (statement: Statement) => Promise<R[]>;
  /** The same for the first row; null when there is none. */
  row(session: Pick<Statements, "query">): (statement: Statement) => Promise<R | null>;
  /** The same for a row that Prisma's client has read; its other members are omitted. */
  fromClient(row: { readonly [M in keyof R]: unknown }): R;
  /** This shape with additional computed values. */
  with<X extends ComputedValues>(computed: X): Shape<R & Values<X>>;
  /** This shape with one member instead of those that it is made from. It is computed when a row is read. */
  derive<M extends string, const F extends readonly (keyof R)[], T>(
    member: M,
    from: F,
    make: (...values: Members<R, F>) => T,
  ): Shape<Omit<R, M | F[number]> & { readonly [N in M]: T }>;
}

export type RowOf<S> = S extends Shape<infer R> ? R : never;

/** A new row: members that may be null or have a default may be omitted. */
export type NewRow<R, O extends keyof R> = Omit<R, O> & { readonly [M in O]?: R[M] | undefined };

/** A table of the models. It is also the shape of all its columns. */
export interface Table<R, O extends keyof R> extends Shape<R> {
  /** A shape of these columns. There is no negative form: a new column is read only where a line names it. */
  pick<M extends keyof R>(...members: readonly M[]): Shape<Pick<R, M>>;
  /** `INSERT INTO … VALUES (…)`. Members that have no column are ignored. */
  insert(row: NewRow<R, O>): Sql;
  /** The same for one or more rows, which must all have the members of the first row. */
  insertAll(rows: readonly NewRow<R, O>[]): Sql;
  /** `a = ?` for each member that is not undefined. */
  set(members: { readonly [M in keyof R]?: R[M] | undefined }): Sql[];
}

const computed =
  <T>(kind: Kind) =>
  (value: Sql): Computed<T> => ({ kind, value });
export const boolean = computed<boolean>("boolean");
export const integer = computed<number>("integer");
export const integerOrNull = computed<number | null>("integer");
export const bytesOrNull = computed<Uint8Array<ArrayBuffer> | null>("bytes");
export const text = <T extends string = string>(value: Sql): Computed<T> => ({ kind: "text", value });
export const textOrNull = <T extends string = string>(value: Sql): Computed<T | null> => ({
  kind: "text",
  value,
});
/** JSON of a type that this program has written. SQL's null is read as JSON's null. */
export const json = <T>(value: Sql): Computed<T> => ({ kind: "json", value });

/** Values of a statement that are not columns: counts, sums. */
export const computedShape = <X extends ComputedValues>(values: X): Shape<Values<X>> =>
  shapeOf({ columns: {}, computed: values, derived: [] });

const counted = computedShape({ count: integer(sql`COUNT(*)`) });

/** The number of rows of `FROM …`. */
export const countRows = async (statements: Pick<Statements, "query">, from: Sql): Promise<number> =>
  (await counted.row(statements)(sql`SELECT ${counted.of("t")} ${from}`))?.count ?? 0;

/** Sorts a few rows. On SQLite an ORDER BY costs more than the rest of a short statement. */
export function newestFirst(
  a: { createdAt: number; id: string },
  b: { createdAt: number; id: string },
): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}

type RawRow = Readonly<Record<string, unknown>>;
type Columns = Readonly<Record<string, readonly [column: string, kind: Kind]>>;

interface Derived {
  readonly member: string;
  readonly from: readonly string[];
  readonly make: (...values: readonly never[]) => unknown;
}

interface Parts {
  readonly columns: Columns;
  readonly computed: ComputedValues;
  readonly derived: readonly Derived[];
}

/**
 * How a driver's value `v` is read. SQLite returns 0 and 1 for booleans; both drivers return integers as
 * numbers.
 */
const readings: Readonly<Record<Kind, string>> = {
  text: "v",
  integer: "v",
  boolean: "v === null ? null : v === true || v === 1",
  json: "v === null ? null : JSON.parse(v)",
  bytes: "v === null ? null : Uint8Array.from(v)",
};

/**
 * Compiles the reader of a shape. A loop over the columns takes longer than SQLite needs for the row. Every
 * name in the code is from the models or from this program.
 */
function readerOf<R>({ columns, computed: values, derived }: Parts): (row: RawRow) => R {
  const value = (column: string, kind: Kind) =>
    readings[kind].replaceAll(/\bv\b/g, `row[${JSON.stringify(column)}]`);
  const members = new Map([
    ...Object.entries(columns).map(([member, [column, kind]]) => [member, value(column, kind)] as const),
    ...Object.entries(values).map(([member, { kind }]) => [member, value(member, kind)] as const),
  ]);
  for (const [index, { member, from }] of derived.entries()) {
    const used = from.map((name) => members.get(name));
    for (const name of from) members.delete(name);
    members.set(member, `make[${index}](${used.join(", ")})`);
  }
  const list = [...members].map(([member, read]) => `${JSON.stringify(member)}: ${read}`);
  return new Function("make", `return (row) => ({ ${list.join(", ")} });`)(derived.map(({ make }) => make));
}

/**
 * The SQL of a list. Without parameters it is one flat text: it is part of nearly every statement, and a text
 * built from pieces is copied piece by piece each time.
 */
function listOf({ columns, computed: values }: Parts, name: string): Sql {
  const named = Object.values(columns).map(([column]) => `${name}.${column}`);
  const computedList = Object.entries(values).map(
    ([member, { value }]) => sql`${value} AS ${raw(`"${member}"`)}`,
  );
  if (computedList.some((each) => each.values.length > 0)) return join([...named.map(raw), ...computedList]);
  return raw([...named, ...computedList.map((each) => each.sql)].join(","));
}

/** The client returns 64-bit integers as bigint. */
const withoutBigInt = (value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);

function shapeOf<R>(parts: Parts): Shape<R> {
  const lists = new Map<string, Sql>();
  const reader = lazy(() => readerOf<R>(parts));
  const columns = Object.entries(parts.columns);
  const rows: Shape<R>["rows"] = (session) => async (statement) => {
    const found = await session.query(statement);
    const read = reader();
    // Only this line gives a row its type: the statement selects the columns that this shape lists.
    for (let index = 0; index < found.length; index += 1) found[index] = read(found[index] as RawRow);
    return found as R[];
  };
  return {
    of(name) {
      const list = lists.get(name) ?? listOf(parts, name);
      lists.set(name, list);
      return list;
    },
    rows,
    row: (session) => async (statement) => (await rows(session)(statement))[0] ?? null,
    fromClient(row) {
      const members: RawRow = row;
      return reader()(
        Object.fromEntries(columns.map(([member, [column]]) => [column, withoutBigInt(members[member])])),
      );
    },
    with: (more) => shapeOf({ ...parts, computed: { ...parts.computed, ...more } }),
    derive: (member, from, make) =>
      shapeOf({ ...parts, derived: [...parts.derived, { member, from: from.map(String), make }] }),
  };
}

/** A value for the drivers. A JSON null is written as SQL's null. */
const toDriver = (kind: Kind, value: unknown): Value =>
  kind === "json" && value !== null ? JSON.stringify(value) : (value as Value);

function tableOf(name: string, columns: Columns): Table<RawRow, never> {
  const entries = Object.entries(columns);
  const names = new Map(entries.map(([member, [column]]) => [member, raw(column)]));
  const shapeWith = (isIncluded: (member: string) => boolean) =>
    shapeOf<never>({
      columns: Object.fromEntries(entries.filter(([member]) => isIncluded(member))),
      computed: {},
      derived: [],
    });
  const insertAll = (rows: readonly RawRow[]): Sql => {
    const used = entries.filter(([member]) => rows[0]?.[member] !== undefined);
    const values = rows.map(
      (row) => sql`(${join(used.map(([member, [, kind]]) => toDriver(kind, row[member] ?? null)))})`,
    );
    return sql`INSERT INTO ${raw(name)} (${raw(used.map(([, [column]]) => column).join(", "))}) VALUES ${join(values)}`;
  };
  return {
    ...shapeOf<RawRow>({ columns, computed: {}, derived: [] }),
    pick: (...members) => shapeWith((member) => members.some((each) => each === member)),
    insert: (row) => insertAll([row]),
    insertAll,
    set(members) {
      const used = Object.entries(members).filter(
        ([member, value]) => value !== undefined && columns[member],
      );
      return used.map(
        ([member, value]) => sql`${names.get(member)} = ${toDriver(columns[member]?.[1] ?? "text", value)}`,
      );
    },
  };
}

type Tables = { readonly [T in keyof Rows]: Table<Rows[T], Extract<Optional[T], keyof Rows[T]>> };

/** Every table of the models. */
export const tables = Object.fromEntries(
  Object.entries(schema).map(([key, { name, columns }]) => [key, tableOf(name, columns)]),
) as unknown as Tables;

/** A table whose rows have no type and whose JSON stays text: for copies of complete rows. */
export interface PlainTable extends Table<StoredRow, never> {
  readonly name: string;
  /** The columns of its primary key, by member. */
  readonly key: readonly (readonly [member: string, column: string])[];
  readonly columns: Columns;
}

/** The tables of the models by their name in the database, each after the tables that it refers to. */
export const plainTables: ReadonlyMap<string, PlainTable> = new Map(
  Object.values(schema).map(
    ({ name, key, columns }: { name: string; key: readonly string[]; columns: Columns }) => {
      const plain = Object.entries(columns).map(
        ([member, [column, kind]]) => [member, [column, kind === "json" ? "text" : kind]] as const,
      );
      const table = tableOf(name, Object.fromEntries(plain)) as Table<StoredRow, never>; // as the kinds say
      return [
        name,
        {
          ...table,
          name,
          columns,
          key: key.map((member) => [member, columns[member]?.[0] ?? member] as const),
        },
      ];
    },
  ),
);
