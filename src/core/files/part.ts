import { invalid } from "../failure.ts";
import { type DataUri, openDataUri } from "./data-uri.ts";
import { checkFilename } from "./filename.ts";
import { mediaType } from "./media-type.ts";

/** The most bytes that come with a message or from an address, rather than by an upload (contract/v2.md 9.7). */
export const partMax = 20 * 1024 * 1024;

/** Where a part's bytes are. */
export type PartSource =
  | { readonly kind: "id"; readonly fileId: string }
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "data"; readonly uri: DataUri };

/** A file or voice part of a message whose form was checked; nothing was fetched or decoded yet (contract/v2.md 7.3). */
export interface FilePart {
  /** Its place, for refusals: `message.content[2]`. */
  readonly path: string;
  readonly spoken: boolean;
  readonly source: PartSource;
  /** Absent: what the source says, or a name made from the type. */
  readonly filename: string | undefined;
  /** Absent: what the source says, or the name. */
  readonly contentType: string | undefined;
}

/** A part as a request has it; empty is absent. */
export interface PartFields {
  readonly fileId?: string | undefined;
  readonly fileUrl?: string | undefined;
  readonly fileData?: string | undefined;
  readonly filename?: string | undefined;
  readonly mimeType?: string | undefined;
}

/**
 * Checks the form of a part: it has exactly one source. A name may be missing, also with
 * `file_data` (contract/clients.md 21).
 *
 * @throws Failure `invalid` with the field's path.
 */
export function filePart(path: string, spoken: boolean, fields: PartFields): FilePart {
  const source = sourceOf(path, fields);
  const { filename, mimeType } = fields;
  return {
    path,
    spoken,
    source,
    filename: filename ? checkFilename(filename, `${path}.filename`) : undefined,
    contentType: mimeType ? typeIn(`${path}.mime_type`, mimeType) : undefined,
  };
}

function sourceOf(path: string, { fileId, fileUrl, fileData }: PartFields): PartSource {
  if ([fileId, fileUrl, fileData].filter(Boolean).length !== 1)
    throw invalid(path, "must have exactly one of file_id, file_url and file_data");
  if (fileId) return { kind: "id", fileId };
  if (fileUrl) return { kind: "url", url: fileUrl };
  return { kind: "data", uri: dataIn(`${path}.file_data`, fileData ?? "") };
}

function dataIn(path: string, text: string): DataUri {
  const uri = openDataUri(text);
  if (!uri) throw invalid(path, "must be data:<media type>;base64,<bytes>");
  if (uri.bytes > partMax) throw invalid(path, "is over 20 MB");
  return uri;
}

function typeIn(path: string, text: string): string {
  const type = mediaType(text);
  if (type === undefined) throw invalid(path, "must be a media type, for instance audio/wav");
  return type;
}
