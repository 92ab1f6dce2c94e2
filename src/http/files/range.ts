import type { ByteRange } from "../../core/files/blobs.ts";

/**
 * The one part that is asked for (RFC 9110 14.1.2). Null asks for all: so does what is
 * not well-formed, another unit, or several parts, which nobody has to give.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "") return last === "" ? null : suffix(Number(last), size);
  const [start, end] = [Number(first), last === "" ? Number.POSITIVE_INFINITY : Number(last)];
  if (end < start) return null;
  return start < size ? { start, end: Math.min(end, size - 1) } : "unsatisfiable";
}

const suffix = (length: number, size: number): ByteRange | "unsatisfiable" =>
  length === 0 || size === 0 ? "unsatisfiable" : { start: Math.max(0, size - length), end: size - 1 };
