import type { Tool } from "../tool.ts";
import { head } from "../tool.ts";
import { createTool, errorResult, pathSchema, successResult } from "./create-tool.ts";
import { missingFile } from "./workspace.ts";

/** The most bytes of a file that is edited. */
const bytesMax = 10 * 1024 ** 2;

interface Input {
  readonly path: string;
  readonly old: string;
  readonly new: string;
  readonly all?: boolean;
}

/** Replaces a text in a file of the workspace. */
export const edit: Tool = createTool<Input>({
  name: "edit",
  description:
    "Replaces a text in a file: `old` exactly as it is there, which must be there once unless `all` is true.",
  properties: {
    path: pathSchema,
    old: { type: "string", minLength: 1, maxLength: 100_000 },
    new: { type: "string", maxLength: 250_000 },
    all: { type: "boolean" },
  },
  required: ["path", "old", "new"],
  writes: ({ path }) => path,
  // A second time it would fail, or replace what it has inserted.
  repeats: false,
  brief: ({ path }) => `Edit ${path}`,
  async use({ path, old, new: replacement, all = false }, { turn: { workspace }, begin }) {
    const file = await workspace.find(path);
    if (!file) return missingFile(workspace, path);
    if (file.bytes > bytesMax) return errorResult(`The file is too large: at most ${bytesMax} bytes.`);
    const text = decode(Buffer.concat(await Array.fromAsync(workspace.read(path))));
    if (text === null) return errorResult("The file is not text in UTF-8.");
    const endings = text.includes("\r\n") ? ["\n", "\r\n"] : ["\n"];
    const found = [old, ...endings.map((end) => withEnds(old, end))].find((each) => text.includes(each));
    if (found === undefined) return errorResult(`\`old\` is not in the file. ${nearestLines(text, old)}`);
    const parts = text.split(found);
    if (parts.length > 2 && !all) return errorResult(ambiguous(parts));
    const next = parts.join(withEnds(replacement, lineEnd(text, found)));
    if (next === text) return errorResult("`old` and `new` are the same.");
    await begin();
    const { bytes } = await workspace.write(path, [Buffer.from(next)]);
    return successResult({ path: file.path, replaced: parts.length - 1, bytes });
  },
});

function decode(bytes: Uint8Array): string | null {
  try {
    // A byte order mark stays.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

const withEnds = (text: string, end: string): string => text.replaceAll(/\r?\n/g, end);

/** The line end of the replaced text, or else of the file. */
const lineEnd = (text: string, found: string): string =>
  (found.includes("\n") ? found : text).includes("\r\n") ? "\r\n" : "\n";

/** Says where a text is. @param parts what is between its places. */
function ambiguous(parts: readonly string[]): string {
  let line = 1;
  const lines = parts.slice(0, 6).map((part) => {
    line += part.split("\n").length - 1;
    return line;
  });
  const more = parts.length > 6 ? ", …" : "";
  return `\`old\` is in the file ${parts.length - 1} times, from lines ${lines.slice(0, -1).join(", ")}${more}. Give more of the text around it, or set \`all\`.`;
}

/** The most lines that are compared and shown, and the most characters of each. */
const comparedMax = 5_000;
const shownMax = 12;
const lineMax = 200;

/** The part of the file that is most like a text, with the numbers of its lines. */
function nearestLines(text: string, old: string): string {
  const lines = text.split(/\r?\n/);
  const wanted = old.split(/\r?\n/);
  const first = wanted.findIndex((line) => line.trim() !== "");
  const likeness = likenessTo(wanted[first] ?? "");
  let best = { at: 0, likeness: 0 };
  for (const [at, line] of lines.slice(0, comparedMax).entries()) {
    const one = likeness(line);
    if (one > best.likeness) best = { at, likeness: one };
  }
  if (best.likeness < 0.3) return "No line is like its first one: read the file.";
  const from = Math.max(0, best.at - first - 1);
  const shown = lines.slice(from, from + Math.min(shownMax, wanted.length + 2));
  return [
    `The nearest lines are ${from + 1} to ${from + shown.length}:`,
    ...shown.map((line) => head(line, lineMax)),
  ].join("\n");
}

/** How many of their pairs of characters two lines share, from 0 to 1. */
function likenessTo(wanted: string): (line: string) => number {
  const pairs = pairsOf(wanted);
  return (line) => {
    const others = pairsOf(line);
    let shared = 0;
    for (const pair of others) if (pairs.has(pair)) shared += 1;
    return (2 * shared) / Math.max(1, pairs.size + others.size);
  };
}

function pairsOf(line: string): ReadonlySet<string> {
  const text = head(line.trim(), lineMax);
  return new Set(Array.from({ length: text.length }, (_, at) => text.slice(at, at + 2)));
}
