import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";

/** Classes of errors that every JavaScript program has. */
const builtIn = new Set([
  "AggregateError",
  "DOMException",
  "Error",
  "RangeError",
  "SyntaxError",
  "TypeError",
]);
/**
 * What can stand after a doc comment that describes nothing: the end of a block, another comment, or an empty
 * line.
 */
const nothing = /^\s*([})\]]|\/\*|\/\/(?! biome-ignore)|$)|^[ \t]*\n[ \t]*\n/;
/** The first comment of a file describes the file, with an empty line after it. */
const isFirst = (text: string, start: number): boolean => /^(#!.*\s*)?$/.test(text.slice(0, start));

/** A class that a file declares or imports. */
const declared = /\bclass (\w+)|^import (?:\w+|\{([^}]+)\}) from/gm;

interface Source {
  readonly path: string;
  readonly text: string;
}

function faultsOf({ path, text }: Source, classes: ReadonlySet<string>): readonly string[] {
  return parseSync(path, text).comments.flatMap(({ type, value, start, end }) => {
    if (type !== "Block" || !value.startsWith("*")) return [];
    const line = text.slice(0, start).split("\n").length;
    const orphan =
      nothing.test(text.slice(end)) && !isFirst(text, start)
        ? [`${path}:${line}: a doc comment without a declaration`]
        : [];
    const thrown = [...value.matchAll(/@throws \{?([A-Z]\w+)/g)].map(([, name = ""]) => name);
    const unknown = thrown.filter((name) => !classes.has(name) && !builtIn.has(name));
    return [...orphan, ...unknown.map((name) => `${path}:${line}: @throws ${name}: there is no such class`)];
  });
}

/** Doc comments that describe nothing or name a class that does not exist, each with path and line. */
export function faultyComments(root: string): readonly string[] {
  const paths = globSync("{src,cli,conformance,console/src,packages/client/src}/**/*.{ts,tsx}", {
    cwd: root,
  });
  const sources = paths
    .filter((path) => !/^src\/gen|generated/.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const classes = new Set(
    sources.flatMap(({ text }) =>
      [...text.matchAll(declared)].flatMap(([, ...names]) =>
        names.flatMap((list) => list?.match(/\w+/g) ?? []),
      ),
    ),
  );
  return sources.flatMap((source) => faultsOf(source, classes)).toSorted();
}
