import type { Json, JsonObject } from "../json.ts";

/** One value of an action's params. */
export interface Row {
  /** Where it stands, for instance `input.to[0]`; a member with other characters than letters, digits, `_` and `-` is `["a b"]`. */
  readonly path: string;
  /** A text as it is; every other value as JSON: `12`, `true`, `null`, `[]`, `{}`. An empty text is `""`. */
  readonly value: string;
}

/**
 * The one description of what a person approves: a row for every value in the params of a `tool_used` that waits, in their
 * order. Empty lists and objects have a row too, so nothing of the params is left out. Show both members by `visible`.
 *
 * A door offers the decision only with all rows in the same view.
 *
 * @param params absent and empty: no rows.
 */
export function rowsOf(params: JsonObject | undefined): readonly Row[] {
  const rows: Row[] = [];
  for (const [name, value] of Object.entries(params ?? {})) addRows(rows, memberName(name), value);
  return rows;
}

function addRows(rows: Row[], path: string, value: Json): void {
  const inside = childrenOf(path, value);
  if (inside.length === 0) rows.push({ path, value: typeof value === "string" && value !== "" ? value : JSON.stringify(value) });
  for (const [at, child] of inside) addRows(rows, at, child);
}

function childrenOf(path: string, value: Json): readonly (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.map((child: Json, at) => [`${path}[${at}]`, child]);
  return Object.entries(value as JsonObject).map(([name, child]) => [memberPath(path, name), child]);
}

const memberName = (name: string): string => (/^[\p{L}\p{N}_-]+$/u.test(name) ? name : `[${JSON.stringify(name)}]`);

function memberPath(path: string, name: string): string {
  const member = memberName(name);
  return member.startsWith("[") ? `${path}${member}` : `${path}.${member}`;
}
