import type { Json, JsonObject } from "../json.ts";
import { visible } from "./visible.ts";

export interface Row {
  /**
   * Where it stands, for instance `input.to[0]`; a member with other characters than letters, digits, `_` and
   * `-` is `["a b"]`.
   */
  readonly path: string;
  /** A text as it is; every other value as JSON: `12`, `true`, `null`, `[]`, `{}`. An empty text is `""`. */
  readonly value: string;
}

/**
 * The one description of what a person approves: a row for every value in the params of a `tool_used` that
 * waits, in their order. Empty lists and objects have a row too, so nothing of the params is left out. Show
 * both members by `visible`.
 *
 * A protocol offers the decision only with all rows in the same view.
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
  if (inside.length === 0)
    rows.push({ path, value: typeof value === "string" && value !== "" ? value : JSON.stringify(value) });
  for (const [at, child] of inside) addRows(rows, at, child);
}

function childrenOf(path: string, value: Json): readonly (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.map((child: Json, at) => [`${path}[${at}]`, child]);
  return Object.entries(value as JsonObject).map(([name, child]) => [memberPath(path, name), child]);
}

const memberName = (name: string): string =>
  /^[\p{L}\p{N}_-]+$/u.test(name) ? name : `[${JSON.stringify(name)}]`;

function memberPath(path: string, name: string): string {
  const member = memberName(name);
  return member.startsWith("[") ? `${path}${member}` : `${path}.${member}`;
}

/** An action as `status_detail` of `task.detail` describes it. */
export interface ShownAct {
  readonly kind: string;
  readonly description: string;
  /** Absent: an older server did not say what the action does. */
  readonly tool?: { description?: string | undefined; params?: JsonObject | undefined } | undefined;
}

/**
 * The longest text of an action with which a protocol offers a decision, in characters: more is not seen in
 * one view.
 */
export const roomMax = 20_000;

/**
 * The whole action as plain text: its descriptions, and `path: value` for each row; null when it is not
 * known. What the agent wrote is indented, so that a text with line breaks cannot look like another row.
 */
export function actText({ kind, description, tool }: ShownAct): string | null {
  if (!tool) return null;
  const texts = [...new Set([description, tool.description ?? ""])].filter((text) => text !== "");
  const rows = rowsOf(tool.params).map(rowText).join("\n");
  return [
    `The agent asks for approval (${visible(kind)}):`,
    ...texts.map(indented),
    ...(rows === "" ? [] : [rows]),
  ].join("\n\n");
}

function rowText({ path, value }: Row): string {
  const [name, text] = [visible(path), visible(value)];
  return text.includes("\n") ? `${name}:\n${indented(value)}` : `${name}: ${text}`;
}

const indented = (text: string): string => visible(text).replaceAll(/^/gm, "  ");
