import { MIMEType } from "node:util";
import mime from "mime";

/** What bytes are taken for of which nobody knows anything. */
const unknownType = "application/octet-stream";

/** A media type in lower case, without its parameters; undefined for what is none (RFC 9110 8.3.1). */
export function mediaType(text: string): string | undefined {
  try {
    return new MIMEType(text).essence;
  } catch {
    return undefined;
  }
}

/** The media type that a name's extension stands for. */
export const typeOfName = (filename: string): string => mime.getType(filename) ?? unknownType;

/** A name for a file that came without one. */
export const nameFor = (contentType: string): string => `file.${mime.getExtension(contentType) ?? "bin"}`;
