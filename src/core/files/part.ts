import { invalidArgument } from "../failure.ts";
import { checkFilename, mediaType } from "./filename.ts";

/** A parsed data URI, with its bytes still in base64. */
export interface DataUri {
  /** In lower case, without parameters. */
  readonly contentType: string;
  /** The size of the decoded bytes, if they are valid base64. */
  readonly bytes: number;
  /**
   * Decodes in pieces, so that no second copy of all bytes exists.
   *
   * @throws the error that `broken` returns, at the first piece that is not the canonical base64 of its bytes
   * (RFC 4648 3.5, 4).
   */
  decode(broken: () => Error): Generator<Buffer, void, void>;
}

/** The maximum number of characters before the comma. */
const headMax = 500;
/** Characters per piece: every four are three bytes. */
const pieceLength = 4 * 64 * 1024;

/** Parses `data:<media type>[;parameters];base64,<bytes>` (spec/api.md 7.3); undefined for any other text. */
export function parseDataUri(text: string): DataUri | undefined {
  const comma = text.slice(0, headMax).indexOf(",");
  const [, head] = /^data:(.+);base64$/is.exec(text.slice(0, Math.max(0, comma))) ?? [];
  const contentType = head === undefined ? undefined : mediaType(head);
  if (contentType === undefined) return undefined;
  const start = comma + 1;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = Math.max(0, Math.floor(((text.length - start) * 3) / 4) - padding);
  return { contentType, bytes, decode: (broken) => decode(text, start, broken) };
}

/** Base64 as text, or as its bytes. */
type Base64 = Pick<string, "length" | "slice">;

/**
 * The member of a part whose bytes an entrance holds: its `file_data` has their digest in their place. No
 * JSON has such a member.
 */
export const heldBytes = Symbol("the bytes of file_data");

/** Bytes that are decoded when their file is written. */
export type HeldBytes = Pick<DataUri, "bytes" | "decode">;

/** @param base64 with its padding; no text is made of it. */
export function holdBase64(base64: Uint8Array): HeldBytes {
  const { buffer, byteOffset, length } = base64;
  const text = Buffer.from(buffer, byteOffset, length);
  return {
    bytes: Math.floor((length * 3) / 4) - text.subarray(-2).filter((byte) => byte === paddingByte).length,
    decode: (broken) => decode({ length, slice: (from, to) => text.toString("latin1", from, to) }, 0, broken),
  };
}

const paddingByte = 0x3d;

function* decode(text: Base64, start: number, broken: () => Error): Generator<Buffer, void, void> {
  for (let from = start; from < text.length; from += pieceLength) {
    const piece = text.slice(from, from + pieceLength);
    const bytes = Buffer.from(piece, "base64");
    // Node's decoder skips invalid characters and accepts other spellings. Only a text that encodes to itself
    // is canonical.
    const endsRight = piece.endsWith("=") ? from + piece.length === text.length : true;
    if (!endsRight || bytes.toString("base64") !== piece) throw broken();
    yield bytes;
  }
}

/** The maximum bytes of a file in a message or from a URL, as opposed to an upload (spec/api.md 9.7). */
export const partMax = 20 * 1024 * 1024;

/** The source of a part's bytes. */
export type PartSource =
  | { readonly kind: "id"; readonly fileId: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "data"; readonly uri: DataUri };

/**
 * A file or voice part of a message. Its form is checked, but its bytes are not fetched or decoded
 * (spec/api.md 7.3).
 */
export interface FilePart {
  /** Its path in the request, for failures: `message.content[2]`. */
  readonly path: string;
  readonly isVoice: boolean;
  readonly source: PartSource;
  /** If absent, it is the source's name, or one made from the type. */
  readonly filename: string | undefined;
  /** If absent, it is the source's type, or the type of the name. */
  readonly contentType: string | undefined;
}

/** The fields of a part in a request; empty means absent. */
export interface PartFields {
  readonly fileId?: string | undefined;
  readonly fileUrl?: string | undefined;
  readonly fileData?: string | undefined;
  readonly filename?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly [heldBytes]?: HeldBytes;
}

/**
 * Checks the form of a part: it has exactly one source. A name may be missing, also with
 * `file_data` (spec/clients.md 21).
 *
 * @throws Failure `invalid_argument` with the field's path.
 */
export function filePart(path: string, spoken: boolean, fields: PartFields): FilePart {
  const source = readSource(path, fields);
  const { filename, mimeType } = fields;
  return {
    path,
    isVoice: spoken,
    source,
    filename: filename ? checkFilename(filename, `${path}.filename`) : undefined,
    contentType: mimeType ? readMediaType(`${path}.mime_type`, mimeType) : undefined,
  };
}

function readSource(path: string, { fileId, fileUrl, fileData, [heldBytes]: held }: PartFields): PartSource {
  if ([fileId, fileUrl, fileData].filter(Boolean).length !== 1)
    throw invalidArgument(path, "must have exactly one of file_id, file_url and file_data");
  if (fileId) return { kind: "id", fileId };
  if (fileUrl) return { kind: "url", url: fileUrl };
  return { kind: "data", uri: readDataUri(`${path}.file_data`, fileData ?? "", held) };
}

function readDataUri(path: string, text: string, held?: HeldBytes): DataUri {
  const parsed = parseDataUri(text);
  if (!parsed) throw invalidArgument(path, "must be data:<media type>;base64,<bytes>");
  const uri = { ...parsed, ...held };
  if (uri.bytes > partMax) throw invalidArgument(path, "is over 20 MB");
  return uri;
}

function readMediaType(path: string, text: string): string {
  const type = mediaType(text);
  if (type === undefined) throw invalidArgument(path, "must be a media type, for instance audio/wav");
  return type;
}
