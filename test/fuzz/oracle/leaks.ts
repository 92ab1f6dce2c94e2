import type { FuzzAnswer } from "../request.ts";
import { decoded } from "./message.ts";

/** Stands in whatever the run's strangers own, and in no request. */
export const strangersMark = "belongs-to-somebody-else";

/** Stands in whatever the owner's colleagues own, and in no request. */
export const colleaguesMark = "belongs-to-a-colleague";

/** What no answer may hold, with a name for it. */
const secrets: readonly (readonly [what: string, form: RegExp])[] = [
  ["a stack trace", /\n\s*at \S+ \(|\bat (?:async )?[\w.<>]+ \((?:file:|node:|\/)|node:internal/],
  ["a path of the machine", /node_modules|file:\/\/\/|(?:^|[\s"'(])\/(?:home|tmp|work|usr|var|root|Users)\//],
  ["a source file", /\b[\w-]+\.(?:ts|mjs|cjs):\d+/],
  ["the database's name", /prisma|sqlite|postgres|better-sqlite/i],
  ["a statement", /\bSELECT\b.*\bFROM\b|\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE\b.*\bSET\b|constraint failed/s],
  ["a thrown error's name", /\b(?:Type|Range|Reference|Syntax|URI)Error\b/],
  ["somebody else's data", new RegExp(strangersMark)],
  ["a colleague's data", new RegExp(colleaguesMark)],
  ["an API key", /\bsk-[A-Za-z0-9_-]{49}/],
];

/** What an answer tells that is nobody's business, in its head, its body or its trailers. */
export function flawsOfSecrecy({ headers, trailers, body }: FuzzAnswer): readonly string[] {
  const text = [...Object.values(headers), ...Object.values(trailers).map(unescaped), textOf(body, headers["content-encoding"])].join("\n");
  return secrets.filter(([, form]) => form.test(text)).map(([what]) => `tells ${what}`);
}

/** Also the text in a compressed answer; a bad coding is for others to find. */
function textOf(body: Buffer, coding: string | undefined): string {
  try {
    return unescaped(Buffer.from(decoded(body, coding)).toString("latin1"));
  } catch {
    return body.toString("latin1");
  }
}

function unescaped(text: string): string {
  return text.replaceAll("%20", " ").replaceAll("%0A", "\n").replaceAll("%2F", "/").replaceAll("%3A", ":");
}
