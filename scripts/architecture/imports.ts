import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** One import of a file: `import`, `export … from`, `import()`, or a type `import("…").Name`. */
export interface Import {
  /** A path from the root of the checkout, `src/core/failure.ts`, or the name of a package, `node:fs`. */
  readonly target: string;
  /** Only types are imported, so nothing is loaded. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** From the root of the checkout, `src/core/failure.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** Every import in a file of TypeScript, in the order of its forms. @throws when the text does not parse. */
export function importsOf(path: string, text: string): readonly Import[] {
  const { program, module, errors } = parseSync(path, text);
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`);
  const found: Import[] = [];
  const add = (name: string, typeOnly: boolean) => {
    found.push({ target: name.startsWith(".") ? join(dirname(path), name) : name, typeOnly });
  };
  const typesOnly = (entries: readonly { readonly isType: boolean }[]) =>
    entries.length > 0 && entries.every(({ isType }) => isType);
  for (const { moduleRequest, entries } of module.staticImports) add(moduleRequest.value, typesOnly(entries));
  for (const { entries } of module.staticExports) {
    const sources = Map.groupBy(entries, ({ moduleRequest }) => moduleRequest?.value ?? "");
    for (const [name, from] of sources) if (name !== "") add(name, typesOnly(from));
  }
  new Visitor({
    ImportExpression: ({ source }) => {
      if (source.type !== "Literal" || typeof source.value !== "string")
        throw new Error(`${path}: import() of no literal`);
      add(source.value, false);
    },
    TSImportType: ({ source }) => add(source.value, true),
  }).visit(program);
  return found;
}

/** The files of patterns such as `src/**\/*.ts`, without generated code. */
export const sourceFiles = (...patterns: readonly string[]): readonly SourceFile[] =>
  globSync(patterns, { exclude: (name) => name.startsWith("src/gen") }).map((path) => {
    const text = readFileSync(path, "utf8");
    return { path, text, imports: importsOf(path, text) };
  });

/**
 * The files that import each other in a circle: removes those that import none of the rest, or that none of
 * the rest imports, while there are any. Only imports for which `counts` is true count.
 */
export function circles(files: readonly SourceFile[], counts: (one: Import) => boolean): readonly string[] {
  const left = new Map(
    files.map(({ path, imports }) => [path, imports.filter(counts).map(({ target }) => target)]),
  );
  const isOutside = (path: string) =>
    !left.get(path)?.some((target) => left.has(target)) ||
    ![...left.values()].some((targets) => targets.includes(path));
  for (let outside = [""]; outside.length > 0; ) {
    outside = [...left.keys()].filter(isOutside);
    for (const path of outside) left.delete(path);
  }
  return [...left.keys()];
}
