import type { Visibility } from "../visibility.ts";

/** What can be shared here: tasks, and websites once they are published. */
export type ShareType = "task" | "website";

/**
 * Something that is or was shared: the row of the task or website itself, or its tombstone, so that its
 * id is the share's as well. Times are Unix milliseconds.
 */
export interface Share {
  readonly id: string;
  readonly type: ShareType;
  readonly name: string;
  /** Who shares it. */
  readonly accountId: string;
  /** The task itself, or the one that the website comes from. */
  readonly taskId: string;
  /** As its owner has set it, before every cap. */
  readonly visibility: Visibility;
  /** The lowest of the caps; null for none. */
  readonly maxVisibility: Visibility | null;
  readonly sharedAt: number;
  readonly changedAt: number;
  /** False for a tombstone. */
  readonly exists: boolean;
}

/** Which shares; all that is given applies together. Both times are included. */
export interface ShareFilter {
  /** What the name begins with, without regard to case. */
  readonly prefix?: string;
  readonly accountId?: string;
  readonly from?: number;
  readonly until?: number;
  /** Before every cap. */
  readonly visibility?: Visibility;
}

/** Shares as they are kept: with what is shared. */
export interface ShareRows {
  /** The latest first, and how many there are in all, of one moment. */
  list(
    spaceId: string,
    type: ShareType,
    filter: ShareFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly items: readonly Share[]; readonly total: number }>;
  /** The share as it is, and as it stays until this change ends. */
  lock(spaceId: string, id: string): Promise<Share | null>;
}
