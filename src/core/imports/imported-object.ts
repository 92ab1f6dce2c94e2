import type { Scope } from "../accounts/caller.ts";

export const importedKinds = ["project", "task", "file", "webhook"] as const;
export type ImportedKind = (typeof importedKinds)[number];

/** An object at its source: the server, by its origin, and the id that the object has there. */
export interface ImportSource {
  readonly origin: string;
  readonly id: string;
}

/** What identifies an imported object: its account and space here, its kind, and its source. */
export interface ImportedKey extends Pick<Scope, "accountId" | "spaceId"> {
  readonly origin: string;
  readonly kind: ImportedKind;
  readonly sourceId: string;
}

/**
 * An object that was imported from another server. It stays when the object is deleted, so that the object is
 * not imported again.
 */
export interface ImportedObject extends ImportedKey {
  readonly localId: string;
  /** False for a task without all its events, and for a file without bytes. */
  readonly complete: boolean;
  /**
   * Of a task: the number of events from the source. Of a file: the number of its event. 0 for other kinds.
   */
  readonly seq: number;
  /** Of a file: the task here; null for other kinds. */
  readonly taskId: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export interface ImportReport {
  readonly origin: string;
  readonly projects: number;
  readonly tasks: number;
  /** Tasks without all their events; `tasks` does not count them. */
  readonly openTasks: number;
  readonly events: number;
  readonly files: number;
  /** Files without bytes; `files` does not count them. */
  readonly missingFiles: number;
  readonly webhooks: number;
  /** When the first object was imported, Unix milliseconds. */
  readonly startedAt: number;
}

export const sourcesMax = 100;

export interface ImportedRows {
  /** False when the object was imported before: of two changes at a time, one inserts. */
  insert(object: ImportedObject): Promise<boolean>;
  find(key: ImportedKey): Promise<ImportedObject | null>;
  /** As `find`, and locks the row until the change ends. */
  lock(key: ImportedKey): Promise<ImportedObject | null>;
  /** Sets what was copied of an object. The caller has locked it. */
  update(key: ImportedKey, progress: Partial<Pick<ImportedObject, "complete" | "seq">>): Promise<void>;
  /**
   * The ids at the source of the files of a task here that have no bytes, in the order of their events; at
   * most `max`.
   */
  listMissingFiles(taskId: string, max: number): Promise<readonly string[]>;
  /** The reports of an account, at most 100, sorted by origin; with `origin` only that of this source. */
  listReports(scope: Pick<Scope, "accountId" | "spaceId">, origin?: string): Promise<readonly ImportReport[]>;
}
