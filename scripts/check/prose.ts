import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { titlesOf } from "./titles.ts";

type Span = readonly [start: number, end: number];

/**
 * Files whose literals are not prose: SQL, prompts for models, and content of the wire that does not change.
 */
const texts =
  /^src\/(store\/rows|runtime\/agents\/(model\/(prompt|tools)|offline)|core\/actions\/kind|protocols\/scim\/discovery|pipeline\/limit)/;

/**
 * The comments of a TypeScript file and its sentences: literals that hold a space. Of tests only the titles
 * count, because other literals are data.
 */
function spansOfCode(path: string, text: string): readonly Span[] {
  const { comments, program } = parseSync(path, text);
  const spans: Span[] = comments.map(({ start, end }) => [start, end]);
  const add = (start: number, end: number) => {
    if (/\s/.test(text.slice(start, end))) spans.push([start, end]);
  };
  const isTest = path.startsWith("test/");
  const isProse = !isTest && !texts.test(path);
  new Visitor({
    Literal: ({ value, start, end }) => {
      if (isProse && typeof value === "string") add(start, end);
    },
    TemplateElement: ({ start, end }) => {
      // Without its backquotes, which would make it code.
      if (isProse) add(start + 1, end - 1);
    },
  }).visit(program);
  if (isTest) for (const { start, end } of titlesOf(path, text)) add(start, end);
  return spans;
}

/** The comments of a proto or Prisma file. */
const spansOfComments = (text: string): readonly Span[] =>
  [...text.matchAll(/(?<=^|\s)\/\/.*$/gm)].map(({ index, 0: comment }) => [index, index + comment.length]);

/** A text in which all but the spans are spaces, so that lines and columns stay. */
function blankedOutside(text: string, spans: readonly Span[]): string {
  const blank = (from: number, to: number) => text.slice(from, to).replace(/[^\n]/g, " ");
  let at = 0;
  let kept = "";
  for (const [start, end] of spans.toSorted(([a], [b]) => a - b)) {
    if (start < at) continue;
    kept +=
      blank(at, start) + text.slice(start, end).replaceAll(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
    at = end;
  }
  return kept + blank(at, text.length);
}

/**
 * The prose of a file for a linter of texts, with lines and columns as in the file: Markdown as it is, of
 * code its comments and sentences.
 */
export function proseOf(root: string, path: string): string {
  const text = readFileSync(join(root, path), "utf8");
  const extension = extname(path);
  if (extension === ".md") return text;
  return blankedOutside(
    text,
    extension === ".ts" || extension === ".mjs" ? spansOfCode(path, text) : spansOfComments(text),
  );
}
