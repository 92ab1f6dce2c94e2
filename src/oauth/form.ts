import { isUtf8 } from "node:buffer";
import { invalidRequest } from "./failure.ts";

/** The parameters of a request: none is empty, none stands twice (RFC 6749 3.2). */
export type Form = ReadonlyMap<string, string>;

/**
 * Reads a body, JSON or form-encoded (contract/oauth.md 5.1). Empty counts as omitted.
 *
 * @throws OAuthFailure `invalid_request` for another type, a parameter that stands twice, or one that is no text.
 */
export function readForm(contentType: string | undefined, bytes: Uint8Array): Form {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json" && type !== "application/x-www-form-urlencoded")
    throw invalidRequest("the body must be application/x-www-form-urlencoded or application/json");
  if (!isUtf8(bytes)) throw invalidRequest("the body is not valid UTF-8");
  const text = Buffer.from(bytes).toString("utf8");
  return single(type === "application/json" ? membersOf(text) : [...new URLSearchParams(text)]);
}

type Pair = readonly [name: string, value: string];

function single(pairs: readonly Pair[]): Form {
  const names = new Set(pairs.map(([name]) => name));
  if (names.size < pairs.length) throw invalidRequest("a parameter stands more than once");
  return new Map(pairs.filter(([, value]) => value !== ""));
}

/** A member in quotes that is a name, or the beginning of what is nested. */
const marks = /"((?:[^"\\]|\\.)*)"[ \t\r\n]*(:?)|[{[]/g;

/** JSON.parse keeps the last of several members of one name: so names are counted in the text, which it has found sound. */
function membersOf(text: string): Pair[] {
  const body = objectIn(text);
  const found = [...text.matchAll(marks)];
  if (found.filter(([mark]) => mark === "{" || mark === "[").length > 1) throw invalidRequest("parameters must be text");
  const names = found.filter(([, , colon]) => colon === ":").map(([, name]) => JSON.parse(`"${name}"`) as string); // a string's inside
  return names.flatMap((name): Pair[] => {
    const value = body.get(name);
    if (value === null) return [];
    if (typeof value !== "string") throw invalidRequest("parameters must be text");
    return [[name, value]];
  });
}

function objectIn(text: string): ReadonlyMap<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return new Map(Object.entries(body));
  } catch {
    // Not JSON: its message quotes the body.
  }
  throw invalidRequest("the body is not a JSON object");
}
