import { mediaType } from "./media-type.ts";

/** A data URI that was opened, its bytes still in base64. */
export interface DataUri {
  /** In lower case, without parameters. */
  readonly contentType: string;
  /** The size that its bytes have, if they are base64 at all. */
  readonly bytes: number;
  /**
   * Decodes piece by piece, so that no second copy of the whole is made.
   *
   * @throws the error given by `broken` at the first piece that is not the one base64 spelling of its bytes (RFC 4648 3.5, 4).
   */
  decode(broken: () => Error): Generator<Buffer, void, void>;
}

/** The most characters before the comma. */
const headMax = 500;
/** Characters decoded at once: each four are three bytes. */
const pieceLength = 4 * 64 * 1024;

/** Opens `data:<media type>[;parameters];base64,<bytes>` (contract/v2.md 7.3); undefined for any other text. */
export function openDataUri(text: string): DataUri | undefined {
  const comma = text.slice(0, headMax).indexOf(",");
  const [, head] = /^data:(.+);base64$/is.exec(text.slice(0, Math.max(0, comma))) ?? [];
  const contentType = head === undefined ? undefined : mediaType(head);
  if (contentType === undefined) return undefined;
  const start = comma + 1;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = Math.max(0, Math.floor(((text.length - start) * 3) / 4) - padding);
  return { contentType, bytes, decode: (broken) => decode(text, start, broken) };
}

function* decode(text: string, start: number, broken: () => Error): Generator<Buffer, void, void> {
  for (let from = start; from < text.length; from += pieceLength) {
    const piece = text.slice(from, from + pieceLength);
    const bytes = Buffer.from(piece, "base64");
    // Node's decoder passes over what is no base64, and takes other spellings: only the one that comes out again is right.
    const isWhole = piece.endsWith("=") ? from + piece.length === text.length : true;
    if (!isWhole || bytes.toString("base64") !== piece) throw broken();
    yield bytes;
  }
}
