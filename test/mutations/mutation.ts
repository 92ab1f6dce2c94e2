import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { parse } from "yaml";

/** A change of `src` that breaks one guarantee. */
export interface Mutation {
  /** Its guarantee and its number among those of the guarantee, from 1. */
  readonly name: string;
  /** The function, method or constant whose text has `old` once. No path: files move. */
  readonly in: string;
  readonly old: string;
  readonly new: string;
}

/** Where a mutation changes a file. */
export interface Place {
  readonly path: string;
  /** The index of `old` in the file. */
  readonly at: number;
}

const root = join(import.meta.dirname, "../..");

/** All mutations of `list.yml`, in its order. */
export function readMutations(): readonly Mutation[] {
  const list = parse(readFileSync(join(import.meta.dirname, "list.yml"), "utf8")) as Record<string, Omit<Mutation, "name">[]>; // written by us
  return Object.entries(list).flatMap(([guarantee, rows]) => rows.map((row, nth) => ({ name: `${guarantee} ${nth + 1}`, ...row })));
}

interface Source {
  readonly path: string;
  readonly text: string;
}

/** The files of `src` that are not generated. */
export const readSources = (): readonly Source[] =>
  globSync("src/**/*.ts", { cwd: root, exclude: (name) => name === "src/gen" }).map((path) => ({
    path,
    text: readFileSync(join(root, path), "utf8"),
  }));

/** @throws Error that says how many places the mutation has, if it has not one. */
export function placeOf({ name, in: wanted, old }: Mutation, sources: readonly Source[]): Place {
  const places = sources
    .filter(({ text }) => text.includes(old))
    .flatMap(({ path, text }) =>
      spansOf(path, text)
        .filter((span) => span.name === wanted)
        .flatMap(({ start, end }) => indexesOf(text.slice(start, end), old).map((index) => ({ path, at: start + index }))),
    );
  const distinct = new Map(places.map((place) => [`${place.path} ${place.at}`, place]));
  const [place] = distinct.values();
  if (place !== undefined && distinct.size === 1) return place;
  throw new Error(`${name}: ${wanted} has its old text ${distinct.size} times in src, not once: correct test/mutations/list.yml`);
}

function indexesOf(text: string, part: string): readonly number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}

interface Span {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

interface Named {
  readonly start: number;
  readonly end: number;
  readonly id?: unknown;
  readonly key?: unknown;
}

/** The functions, methods, members and constants of a file. */
export function spansOf(path: string, text: string): readonly Span[] {
  const spans: Span[] = [];
  const add = ({ start, end, id, key }: Named): void => {
    const named = (id ?? key) as { readonly name?: unknown } | null | undefined;
    if (typeof named?.name === "string") spans.push({ name: named.name, start, end });
  };
  const visitor = new Visitor({ FunctionDeclaration: add, VariableDeclarator: add, MethodDefinition: add, Property: add });
  visitor.visit(parseSync(path, text).program);
  return spans;
}
