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
