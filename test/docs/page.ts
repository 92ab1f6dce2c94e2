import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { needInShell } from "../support/needs.ts";
import { root } from "../support/server-process.ts";

const run = promisify(execFile);

/** A page of the documentation, by its path in the checkout. */
export const readPage = (path: string): string => readFileSync(join(root, path), "utf8");

/** The blocks of code in a language, in order. */
export const blocksIn = (page: string, language: string): readonly string[] =>
  [...page.matchAll(/^```(\w+)(?: [^\n]*)?\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );

/** The blocks of code of one tab of a page (its first line ends with the name of the tab), in order. */
export const tabIn = (page: string, language: string, tab: string): readonly string[] =>
  [...page.matchAll(/^```(\w+) ([^\n]+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, title, text = ""]) =>
    name === language && title === tab ? [text] : [],
  );

/**
 * Checks that the output of a page's code has the texts that its comments promise, in this order and among
 * others.
 */
export function expectPrinted(output: string, code: string): void {
  let rest = output;
  for (const [, text = ""] of code.matchAll(/^(?:\/\/|#) prints (.+)$/gm)) {
    expect(rest, output).toContain(text);
    rest = rest.slice(rest.indexOf(text) + text.length);
  }
}

/**
 * Runs lines in a shell with these variables; returns their output. Skips the test where a tool that they
 * call is missing.
 *
 * @throws Error when one of them fails.
 */
export async function shell(
  lines: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  needInShell(lines);
  return (await run("bash", ["-ec", lines], { env: { ...process.env, ...variables } })).stdout;
}
