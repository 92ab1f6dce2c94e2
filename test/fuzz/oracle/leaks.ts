import type { FuzzAnswer } from "../request.ts";
import { decode } from "./message.ts";

/** Part of all data of the run's other accounts, and of no request. */
export const otherAccountsMark = "belongs-to-somebody-else";

/** Part of all data of the owner's colleagues, and of no request. */
export const colleaguesMark = "belongs-to-a-colleague";

/** Part of a task of the owner outside of every project, and of no request. */
export const otherProjectsMark = "belongs-to-no-project";

/** Texts that no answer may contain, each with a name. */
const secrets: readonly (readonly [what: string, form: RegExp])[] = [
  ["a stack trace", /\n\s*at \S+ \(|\bat (?:async )?[\w.<>]+ \((?:file:|node:|\/)|node:internal/],
  ["a path of the machine", /node_modules|file:\/\/\/|(?:^|[\s"'(])\/(?:home|tmp|work|usr|var|root|Users)\//],
  ["a source file", /\b[\w-]+\.(?:ts|mjs|cjs):\d+/],
  ["the database's name", /prisma|sqlite|postgres|better-sqlite/i],
  [
    "a statement",
    /\bSELECT\b.*\bFROM\b|\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE\b.*\bSET\b|constraint failed/s,
  ],
  ["a thrown error's name", /\b(?:Type|Range|Reference|Syntax|URI)Error\b/],
  ["another account's data", new RegExp(otherAccountsMark)],
  ["a colleague's data", new RegExp(colleaguesMark)],
  ["an API key", /\bsk-[A-Za-z0-9_-]{49}/],
];

/** Whether an answer has a text, in its head, its body or its trailers. */
export const reveals = (answer: FuzzAnswer, text: string): boolean => allTextOf(answer).includes(text);

const allTextOf = ({ headers, trailers, body }: FuzzAnswer): string =>
  [
    ...Object.values(headers),
    ...Object.values(trailers).map(unescaped),
    textOf(body, headers["content-encoding"]),
  ].join("\n");

/** Data in an answer that its caller must not see, in its head, its body or its trailers. */
export function leaksOf(answer: FuzzAnswer): readonly string[] {
  const text = allTextOf(answer);
  return secrets.filter(([, form]) => form.test(text)).map(([what]) => `reveals ${what}`);
}

/** Includes the text in a compressed answer; other checks find a bad coding. */
function textOf(body: Buffer, coding: string | undefined): string {
  try {
    return unescaped(Buffer.from(decode(body, coding)).toString("latin1"));
  } catch {
    return body.toString("latin1");
  }
}

function unescaped(text: string): string {
  return text.replaceAll("%20", " ").replaceAll("%0A", "\n").replaceAll("%2F", "/").replaceAll("%3A", ":");
}
