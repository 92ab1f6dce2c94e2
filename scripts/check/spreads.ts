import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/**
 * Spreads of a literal, `...{ a, b }`, each with path and line: its members can be members of the object
 * itself.
 */
export function spreadLiterals(root: string): readonly string[] {
  const paths = globSync("{src,cli,console/src,packages/client/src,scripts}/**/*.{ts,tsx}", { cwd: root });
  return paths
    .filter((path) => !/^src\/gen|generated|\.vitepress/.test(path))
    .toSorted()
    .flatMap((path) => spreadsOf(path, readFileSync(join(root, path), "utf8")));
}

function spreadsOf(path: string, text: string): readonly string[] {
  const found: string[] = [];
  new Visitor({
    SpreadElement({ argument, start }) {
      const { type } = argument;
      const isLiteral =
        (type === "ObjectExpression" && argument.properties.length > 0) ||
        (type === "ArrayExpression" && argument.elements.length > 0);
      if (isLiteral)
        found.push(
          `${path}:${text.slice(0, start).split("\n").length}: a spread of a literal; write its members without it`,
        );
    },
  }).visit(parseSync(path, text).program);
  return found;
}
