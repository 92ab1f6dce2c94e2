import type { AuditNote } from "../core/audit/audit.ts";
import type { JobRows } from "../core/jobs/job.ts";
import type { TaskNews } from "../core/store.ts";
import type { Prisma, PrismaClient } from "../gen/prisma/sqlite/client.ts";
import { Misuse } from "./misuse.ts";
import type { Statements } from "./statements.ts";

/** Prisma, where rows are read and written by their models. */
export type Db = Prisma.TransactionClient;
/** The client that all of this room is written against; PostgreSQL's has all that it has. */
export type Client = PrismaClient;
export type Dialect = "sqlite" | "postgresql";

/** What a change is to tell once it is committed, and its audit row as far as it is known. */
export interface Change {
  /** Unix milliseconds before its transaction began. */
  readonly began: number;
  /** By task: only the newest state counts. */
  readonly news: Map<string, TaskNews>;
  readonly jobKinds: Set<string>;
  /** Tasks that no webhook is there to be told of, as the statements that wrote their events have found. */
  readonly unheard: Set<string>;
  note: AuditNote;
  /** What is to be done between the commit and the change's end. */
  readonly after: (() => Promise<void> | void)[];
}

/**
 * What the rows of every aggregate hang on. What every call does goes by statements
 * of our own, prepared once; what is seldom done goes by Prisma's models. Inside a
 * change both are part of its transaction.
 */
export interface Session extends Statements {
  readonly db: Db;
  readonly dialect: Dialect;
  /** Null outside a change: then the database itself refuses to write. */
  readonly change: Change | null;
}

/** Jobs as a database keeps them, seen from a session. */
export type JobRowsOf = (session: Session) => JobRows;

/** A change that has done nothing yet. */
export const newChange = (began: number): Change => ({
  began,
  news: new Map(),
  jobKinds: new Set(),
  unheard: new Set(),
  note: {},
  after: [],
});

/** The change that a session is in. @throws Misuse outside one: the caller forgot `store.change`. */
export function changeOf({ change }: Session): Change {
  if (change === null) throw new Misuse("only a change may do this: call it in store.change()");
  return change;
}
