import type { ProcessKeyRows, SealedRows, ValueKey } from "../../core/processes/key-rotation.ts";
import { schema } from "../../gen/prisma/tables.ts";
import type { Session } from "../session.ts";
import { allOf, empty, join, ProgrammingError, raw, type Sql, sql } from "../statements.ts";
import { bytesOrNull, computedShape, json, tables } from "../table.ts";
import { type SealedColumn, sealedColumns } from "./sealed-columns.ts";

/** The names of a column in SQL. */
function compile({ table, member, key, context }: SealedColumn) {
  const { name, columns } = schema[table];
  const columnOf = (of: string): Sql => {
    const found = Object.entries(columns).find(([each]) => each === of)?.[1][0];
    if (found === undefined) throw new ProgrammingError(`${table} has no column ${of}`);
    return raw(found);
  };
  const keys = key.map(columnOf);
  const value = columnOf(member);
  return {
    name: `${table}.${member}`,
    table: raw(`"${name}"`),
    keys,
    value,
    context: (values: ValueKey): string => context(...values),
  };
}

const compiled = new Map(sealedColumns.map(compile).map((each) => [each.name, each]));

function columnOf(name: string) {
  const found = compiled.get(name);
  if (found === undefined) throw new ProgrammingError(`${name} is no encrypted column`);
  return found;
}

export function sealedRows(session: Session): SealedRows {
  const array = raw(session.dialect === "sqlite" ? "json_array" : "json_build_array");
  return {
    listColumns: () => [...compiled.keys()],
    async page(name, after, max) {
      const { table, keys, value, context } = columnOf(name);
      const list = sql`CAST(${array}(${join(keys)}) AS TEXT)`;
      const shape = computedShape({ key: json<ValueKey>(list), sealed: bytesOrNull(value) });
      const later = after === null ? empty : sql`AND (${join(keys)}) > (${join([...after])})`;
      const rows = await shape.rows(session.scans)(sql`
        SELECT ${shape.of("v")} FROM ${table} v WHERE ${value} IS NOT NULL ${later} ORDER BY ${join(keys)} LIMIT ${max}`);
      return rows.flatMap(({ key, sealed }) =>
        sealed === null ? [] : [{ key, sealed, context: context(key) }],
      );
    },
    async replace(name, { key, sealed: before }, sealed) {
      const { table, keys, value } = columnOf(name);
      const isRow = allOf(keys.map((each, index) => sql`${each} = ${key[index]}`));
      return (
        (await session.execute(
          sql`UPDATE ${table} SET ${value} = ${sealed} WHERE ${isRow} AND ${value} = ${before}`,
        )) === 1
      );
    },
  };
}

const { processKeys } = tables;

export function processKeyRows(session: Session): ProcessKeyRows {
  const { execute } = session;
  return {
    async put(process) {
      await execute(sql`
        ${processKeys.insert(process)} ON CONFLICT (id) DO UPDATE
        SET keys = excluded.keys, renewed_at = excluded.renewed_at, memory_bytes = excluded.memory_bytes`);
    },
    async remove(id) {
      await execute(sql`DELETE FROM process_keys WHERE id = ${id}`);
    },
    async purge(before) {
      await execute(sql`DELETE FROM process_keys WHERE renewed_at < ${before}`);
    },
    list: (after) =>
      processKeys.rows(session)(
        sql`SELECT ${processKeys.of("p")} FROM process_keys p WHERE renewed_at > ${after} ORDER BY id`,
      ),
  };
}
