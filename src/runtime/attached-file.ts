import type { Attachment } from "../core/files/file.ts";
import type { ReadFile } from "../core/files/files.ts";
import type { AttachedFile } from "./agent.ts";

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
