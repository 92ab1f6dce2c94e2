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
  /** Where `old` begins in the file, and where it ends. */
  readonly at: number;
  readonly end: number;
}

const root = join(import.meta.dirname, "../..");

/** All mutations of `list.yml`, in its order. */
export function readMutations(): readonly Mutation[] {
  const list = parse(readFileSync(join(import.meta.dirname, "list.yml"), "utf8")) as Record<
    string,
    Omit<Mutation, "name">[]
  >; // written by us
  return Object.entries(list).flatMap(([guarantee, rows]) =>
    rows.map((row, nth) => ({ name: `${guarantee} ${nth + 1}`, ...row })),
  );
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly squeezed: Squeezed;
}

/** A text without what a formatter decides, and the index of each of its characters in the original. */
interface Squeezed {
  readonly text: string;
  readonly at: readonly number[];
}

/** The files of `src` that are not generated. */
export const readSources = (): readonly Source[] =>
  globSync("src/**/*.ts", { cwd: root, exclude: (name) => name === "src/gen" }).map((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return { path, text, squeezed: squeeze(text) };
  });

/**
 * Finds the place of a mutation, in any layout: line breaks, spaces and commas before a bracket do not count.
 *
 * @throws Error that says how many places the mutation has, if it has not one.
 */
export function placeOf({ name, in: wanted, old }: Mutation, sources: readonly Source[]): Place {
  const part = squeeze(old).text;
  const places = sources.flatMap(({ path, text, squeezed }) => {
    if (!squeezed.text.includes(part)) return [];
    const spans = spansOf(path, text).filter((span) => span.name === wanted);
    return indexesOf(squeezed.text, part).flatMap((index) => {
      const [at, end] = [squeezed.at[index] ?? 0, (squeezed.at[index + part.length - 1] ?? 0) + 1];
      return spans.some((span) => span.start <= at && end <= span.end) ? [{ path, at, end }] : [];
    });
  });
  const [place] = places;
  if (place !== undefined && places.length === 1) return place;
  throw new Error(
    `${name}: ${wanted} has its old text ${places.length} times in src, not once: correct test/mutations/list.yml`,
  );
}

function squeeze(text: string): Squeezed {
  const at = [...text.matchAll(/\s+|,(?=\s*[)\]}])|(\S)/g)].flatMap(({ index, 1: letter }) =>
    letter === undefined ? [] : [index],
  );
  return { text: at.map((index) => text[index]).join(""), at };
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
  const visitor = new Visitor({
    FunctionDeclaration: add,
    VariableDeclarator: add,
    MethodDefinition: add,
    Property: add,
  });
  visitor.visit(parseSync(path, text).program);
  return spans;
}
