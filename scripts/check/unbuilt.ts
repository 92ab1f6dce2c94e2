import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Excluded: the pipeline, which declares and handles `unbuilt`, and generated code. */
const excluded = /^src\/(pipeline|gen)\//;

/** The source lines that use the handler `unbuilt`, each with path and line number. */
export function unbuiltMethods(project: string): string[] {
  const paths = globSync("src/**/*.ts", { cwd: project }).filter((path) => !excluded.test(path));
  return paths.toSorted().flatMap((path) => {
    const lines = readFileSync(join(project, path), "utf8").split("\n");
    return lines.flatMap((line, i) =>
      /^(?!import\b).*\bunbuilt\b/.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [],
    );
  });
}
