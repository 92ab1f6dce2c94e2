import { execFileSync } from "node:child_process";
import { createLinter, loadTextlintrc } from "textlint";
import { proseOf } from "./prose.ts";

const extensions = "md ts mjs proto prisma".split(" ").map((extension) => `*.${extension}`);

/** Files that quote words which are not to be used, and files of others. */
const apart = /^(test\/golden\/|prisma\/migrations\/|CODE_OF_CONDUCT\.md$)/;

/** Every file of the project that holds prose. */
const files = (root: string): readonly string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...extensions], {
    cwd: root,
    encoding: "utf8",
  })
    .trim()
    .split("\n")
    .filter((path) => !apart.test(path));

/**
 * Words and phrases of the project's prose that `words.yml` replaces, as `path:line:column: found => better`.
 * Prose is Markdown, comments, texts of errors and log lines, and names of tests; code in backquotes is not.
 */
export async function unplainWords(root: string, paths = files(root)): Promise<string[]> {
  const linter = createLinter({
    descriptor: await loadTextlintrc({ configFilePath: `${root}/.textlintrc.json` }),
  });
  const found: string[] = [];
  for (const path of paths) {
    const { messages } = await linter.lintText(
      proseOf(root, path),
      path.endsWith(".md") ? path : `${path}.txt`,
    );
    for (const { line, column, message } of messages) found.push(`${path}:${line}:${column}: ${message}`);
  }
  return found;
}
