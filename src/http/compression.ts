import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** A content coding of answers (RFC 9110 8.4.1). */
interface Coding {
  readonly name: "br" | "gzip";
  readonly compress: (bytes: Buffer) => Promise<Buffer>;
}

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

// Level 4 of brotli is smaller than gzip in about the same time, and a window of 256 KiB bounds its memory.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } };

/** Codings in the order in which they are chosen when a client prefers none. */
const codings: readonly Coding[] = [
  { name: "br", compress: (bytes) => brotli(bytes, brotliOptions) },
  { name: "gzip", compress: (bytes) => gzipped(bytes, { level: 6 }) },
];

/** Shorter answers are sent as they are. */
const minBytes = 1024;
/** Longer answers too: their compressed form would be held in memory in addition. */
const maxBytes = 16 * 1024 ** 2;
/**
 * Answers that are compressed at the same time. Further ones are sent as they are, so that none waits and
 * memory is bounded.
 */
const activeMax = 32;
let active = 0;

interface Compressed {
  readonly coding: string;
  readonly bytes: Buffer;
}

/**
 * Compresses an answer's body.
 *
 * @param accepted the `Accept-Encoding` header.
 * @returns null when it is sent as it is.
 */
export async function compressAnswer(body: Buffer, accepted: string | undefined): Promise<Compressed | null> {
  if (accepted === undefined || body.length < minBytes || body.length > maxBytes || active >= activeMax)
    return null;
  const coding = chooseCoding(accepted);
  if (coding === undefined) return null;
  active += 1;
  try {
    return { coding: coding.name, bytes: await coding.compress(body) };
  } finally {
    active -= 1;
  }
}

/** The coding with the highest weight that is not 0; of several, the first in our order (RFC 9110 12.5.3). */
function chooseCoding(accepted: string): Coding | undefined {
  const weights = new Map(accepted.toLowerCase().split(",", 32).map(weightOf));
  const weightFor = ({ name }: Coding): number => weights.get(name) ?? weights.get("*") ?? 0;
  const [best] = codings
    .filter((coding) => weightFor(coding) > 0)
    .toSorted((a, b) => weightFor(b) - weightFor(a));
  return best;
}

function weightOf(item: string): readonly [name: string, weight: number] {
  const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return [name, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0];
}
