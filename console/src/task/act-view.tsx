import type { JsonObject } from "@bufbuild/protobuf";
import type { ReactNode } from "react";
import { type Row, rowsOf } from "#core/actions/act.ts";
import { visible } from "#core/actions/visible.ts";
import { scrollable, staticParts } from "../ui/static-parts.ts";
import styles from "./act.module.css";
import { inWords, text } from "./act-words.ts";

/** What a card can show whole: more would hold the page. */
const rowsMax = 2_000;
const charactersMax = 300_000;

/** A text of an agent, with what is hidden in it made visible. */
export const shownText = (value: string): string => visible(value, text);

/** The rows of an act; null for more than this page can show whole. */
export function rowsWithin(params: JsonObject | undefined): readonly Row[] | null {
  const rows = rowsOf(params);
  const characters = rows.reduce((sum, { path, value }) => sum + path.length + value.length, 0);
  return rows.length > rowsMax || characters > charactersMax ? null : rows;
}

/** Every row of an act: rows of one object are below its name. */
export function ActView({ rows }: { rows: readonly Row[] }) {
  if (rows.length === 0) return null;
  return <div className={styles.rows}>{staticParts(groupsOf(rows).map(groupOf))}</div>;
}

interface Group {
  /** The path of the object or list; empty for the members of the params. */
  readonly path: string;
  readonly rows: Row[];
}

function groupsOf(rows: readonly Row[]): readonly Group[] {
  const groups: Group[] = [];
  for (const row of rows) {
    const path = ownerOf(row.path);
    const last = groups.at(-1);
    if (last?.path === path) last.rows.push(row);
    else groups.push({ path, rows: [row] });
  }
  return groups;
}

/**
 * The path without its last member: `messages[0]` of `messages[0].to[1]`. A member in quotes belongs to the
 * last one.
 */
const ownerOf = (path: string): string => /^([^"]*)\.[^."]*$/.exec(path.replace(/\[".*$/s, ""))?.[1] ?? "";

/** `messages[0]` as `Messages 1`: people count from one. A member in quotes stays as it is. */
const nameOf = (path: string): string =>
  (shownText(path).match(/\["(?:[^"\\]|\\.)*"\]|\[\d+\]|[^.[\]]+/gsu) ?? [path])
    .map(stepOf)
    .join("")
    .replace(" · ", "");

const stepOf = (step: string): string =>
  step.startsWith('["')
    ? ` · ${step}`
    : step.startsWith("[")
      ? ` ${Number(step.slice(1, -1)) + 1}`
      : ` · ${inWords(step)}`;

const groupOf = ({ path, rows }: Group): ReactNode => (
  <>
    {path !== "" && <h3>{nameOf(path)}</h3>}
    <dl>{staticParts(rows.map((row) => rowOf(row, path)))}</dl>
  </>
);

function rowOf({ path, value }: Row, owner: string): ReactNode {
  const shown = shownText(value);
  const isLong = shown.length > 400 || shown.split("\n").length > 8;
  return (
    <div data-path={path}>
      <dt>{nameOf(owner === "" ? path : path.slice(owner.length + 1))}</dt>
      <dd dir="auto" {...(isLong ? scrollable : {})}>
        {shown}
      </dd>
    </div>
  );
}
