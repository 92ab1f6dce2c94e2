import type { AuditNote } from "../core/audit/audit.ts";
import type { JobRows } from "../core/processes/shared.ts";
import type { TaskNews } from "../core/store.ts";
import type { ReadSegment } from "../core/tasks/segment.ts";
import type { Db } from "./client.ts";
import { type Dialect, ProgrammingError, type Statements } from "./statements.ts";

/** What a change publishes after its commit, and the known part of its audit row. */
export interface Change {
  /** Unix milliseconds before its transaction began. */
  readonly began: number;
  /** By task: only the newest state counts. */
  readonly news: Map<string, TaskNews>;
  readonly jobKinds: Set<string>;
  note: AuditNote;
  /** Work between the commit and the end of the change. */
  readonly after: (() => Promise<void> | void)[];
  /** Undoes what its work did in memory. */
  readonly undo: (() => void)[];
}

/**
 * The connection that the rows of every aggregate use. Frequent, conditional and multi-row work uses
 * statements; rare and simple work uses Prisma's client. Inside a change both are part of its transaction.
 */
export interface Session extends Statements {
  /** Prisma's client, made on first use. */
  readonly db: () => Promise<Db>;
  readonly dialect: Dialect;
  /** Reads archived events from their file. */
  readonly readSegment: ReadSegment;
  /**
   * For statements that may read many rows: outside a change they run where they hold up no other statement,
   * and see all commits before them. Inside a change it is the change's own connection.
   */
  readonly scans: Pick<Statements, "query">;
  /** Null outside a change: then the database refuses writes. */
  readonly change: Change | null;
}

export type JobRowsOf = (session: Session) => JobRows;

/** A new, empty change. */
export const newChange = (began: number): Change => ({
  began,
  news: new Map(),
  jobKinds: new Set(),
  note: {},
  after: [],
  undo: [],
});

/** The change of a session. @throws ProgrammingError outside a change: the caller forgot `store.change`. */
export function changeOf({ change }: Session): Change {
  if (change === null) throw new ProgrammingError("only a change may do this: call it in store.change()");
  return change;
}
