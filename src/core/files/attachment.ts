import type { StoredFile } from "./file.ts";

/** A file as the event that brought it remembers it; its link is made afresh at each read (contract/decisions.md 38). */
export interface Attachment {
  readonly fileId: string;
  /** What to show it as (contract/v2.md 7.4). */
  readonly type: "image" | "file" | "voice" | "slides";
  readonly filename: string;
  /** Media type. */
  readonly contentType: string;
  /** Its size. */
  readonly bytes: number;
}

/** How a file came into a task: as a part of a message, as speech, or from the agent. */
export type Origin = "user" | "voice" | "agent";

const presentations: ReadonlySet<string> = new Set([
  "application/vnd.ms-powerpoint",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
  "application/vnd.oasis.opendocument.presentation",
  "application/vnd.apple.keynote",
]);

/** A kept file as an event's attachment. Slides are what agents make; a user's presentation is a file. */
export const attachmentOf = ({ id, filename, contentType, bytes }: StoredFile, origin: Origin): Attachment => ({
  fileId: id,
  type: typeOf(contentType, origin),
  filename,
  contentType,
  bytes: bytes ?? 0,
});

function typeOf(contentType: string, origin: Origin): Attachment["type"] {
  if (origin === "voice") return "voice";
  if (contentType.startsWith("image/")) return "image";
  return origin === "agent" && presentations.has(contentType) ? "slides" : "file";
}
