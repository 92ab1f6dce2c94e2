import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/** Which files import each file of a checkout. */
export type Importers = ReadonlyMap<string, readonly string[]>;

/**
 * The test files that import a file, nearest first: by the number of imports between, and by the words that
 * their paths have in common with the place.
 *
 * @param path of the file, within the checkout.
 * @param within the function that changes, and its guarantee.
 */
export function testsOf(path: string, within: string, importers: Importers): readonly string[] {
  const distances = new Map([[path, 0]]);
  for (const [file, distance] of distances)
    for (const importer of importers.get(file) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  const alike = (test: string): number =>
    common(stemsOf(dirname(path)), stemsOf(dirname(test))) +
    3 * common(stemsOf(`${basename(path)} ${within}`), stemsOf(test));
  return [...distances]
    .filter(([file]) => file.endsWith(".test.ts"))
    .map(([file, distance]) => ({ file, rank: distance - alike(file) }))
    .toSorted((a, b) => a.rank - b.rank || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file);
}

/** `watches.ts` and `watch-list.test.ts` have one in common. */
const stemsOf = (path: string): readonly string[] =>
  path
    .split(/[/. -]|(?=[A-Z])/)
    .filter((word) => word !== "ts" && word !== "test")
    .map((word) => word.toLowerCase().slice(0, 5));
const common = (some: readonly string[], others: readonly string[]): number =>
  others.filter((word) => some.includes(word)).length;

/**
 * Threads that a file starts by `new URL("./x.ts", import.meta.url)` count as imports. @param folder the
 * checkout.
 */
export function readImporters(folder: string): Importers {
  const importers = new Map<string, string[]>();
  const files = globSync("{src,test,cli,bench,scripts,packages}/**/*.ts", {
    cwd: folder,
    exclude: (name) => /^src\/gen|node_modules$/.test(name),
  });
  for (const file of files)
    for (const imported of importsOf(file, readFileSync(join(folder, file), "utf8")))
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
  return importers;
}

function importsOf(file: string, text: string): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module;
  const names = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
    ...[...text.matchAll(/new URL\("(\.[^"]+\.ts)"/g)].map(([, name = ""]) => name),
  ];
  return names.flatMap((name) => {
    if (name.startsWith("#core/")) return [`src/core/${name.slice("#core/".length)}`];
    return name.startsWith(".") ? [normalize(join(dirname(file), name))] : [];
  });
}
