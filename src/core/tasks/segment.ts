import { conversationTypes } from "./conversations.ts";
import { type EventType, eventTypes, type TaskEvent } from "./event.ts";

const conversation: ReadonlySet<EventType> = new Set(conversationTypes);

/**
 * Types of events that are archived. The others stay rows: lists of tasks show them for many tasks at once,
 * and searches and attachments find them.
 */
export const archivedTypes: readonly EventType[] = eventTypes.filter((type) => !conversation.has(type));
const archived: ReadonlySet<EventType> = new Set(archivedTypes);
export const isArchivedType = (type: EventType): boolean => archived.has(type);

/** The most events of a segment, and of their payloads' bytes. A single event may have more bytes. */
export const segmentMax = { events: 1_000, bytes: 4 * 1024 * 1024 } as const;

/**
 * Events of a task in a file of the storage: those of the archived types from `firstSeq` to `lastSeq`, and no
 * others.
 */
export interface EventSegment {
  readonly taskId: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly spaceId: string;
  readonly events: number;
  /** Their bytes before compression. */
  readonly bytes: number;
  /** SHA-256 of the file, in hex. */
  readonly sha256: string;
  /** The key of the file, encrypted with the installation's. */
  readonly dataKey: Uint8Array<ArrayBuffer>;
  readonly blobId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** The associated data of a segment's key. */
export const segmentContext = ({ taskId, firstSeq }: Pick<EventSegment, "taskId" | "firstSeq">): string =>
  `event segment ${taskId} ${firstSeq}`;

/**
 * Reads the events of a segment, by number.
 *
 * @throws Failure `internal` when the file is missing or damaged, `unavailable` when the storage does not
 * answer
 */
export type ReadSegment = (segment: EventSegment) => Promise<readonly TaskEvent[]>;

/**
 * Segments as rows. An event is a row or in a segment, never both and never neither: one change moves it.
 * Lists of events read both (`EventRows.list`).
 */
export interface SegmentRows {
  /** The tasks among these whose rows of archived types have at least `bytesMin` bytes of payload. */
  findArchivable(taskIds: readonly string[], bytesMin: number): Promise<ReadonlySet<string>>;
  /** The next rows for a segment of a task, by number: as many as one may have. */
  nextRows(taskId: string): Promise<readonly TaskEvent[]>;
  /**
   * Inserts a segment and deletes the rows of its events. The task is locked. Does nothing and returns false
   * if the rows have changed.
   */
  insert(segment: EventSegment): Promise<boolean>;
  /** The next segments of a task after a number. */
  list(taskId: string, afterSeq: number, max: number): Promise<readonly EventSegment[]>;
  /**
   * Replaces a segment by one with fewer events, or removes it, and drops its bytes. False, without effect,
   * when it has changed.
   */
  replace(before: EventSegment, after: EventSegment | null): Promise<boolean>;
  /** Deletes up to `max` segments of tasks and drops their bytes. Returns their number. */
  deleteSome(taskIds: readonly string[], max: number): Promise<number>;
}
