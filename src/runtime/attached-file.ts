import type { Attachment } from "../core/files/file.ts";
import type { ReadFile } from "../core/files/files.ts";

export interface AttachedFile {
  readonly filename: string;
  readonly contentType: string;
  /** The file's size. */
  readonly bytes: number;
  /**
   * Reads the file from its start. @throws Failure `not_found` once its bytes are deleted: uploads are kept
   * for 48 hours.
   */
  read(): AsyncIterable<Uint8Array>;
}

/** A file of a message, for an agent. */
export const toAttachedFile = (
  { fileId, filename, contentType, bytes }: Attachment,
  readFile: ReadFile,
): AttachedFile => ({
  filename,
  contentType,
  bytes,
  read: () => readFile(fileId),
});
