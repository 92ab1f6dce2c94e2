import type { Tx } from "../store.ts";

/** What a message names for its task beside its words; an empty list names nothing. */
export interface WantedMeans {
  /** Ids of the skills that the task may use. */
  readonly skills: readonly string[];
  /** Ids of those that must be used. */
  readonly forced: readonly string[];
  /** Ids of connectors. */
  readonly connectors: readonly string[];
  /** Not even the defaults: counts for a new task only (contract/v2.md 14.2). */
  readonly noConnectors: boolean;
}

/** What a task may use, as its messages have said. */
export interface TaskMeans {
  /** Null: the account's enabled ones. */
  readonly skills: readonly string[] | null;
  readonly forced: readonly string[];
  readonly connectors: readonly string[];
  /** The browser that its user has selected for it, whether or not it is online now; null for none (contract/v2.md 9.4). */
  readonly browserId: string | null;
}

/** The means of tasks as rows: a task whose messages name nothing has none. */
export interface MeansRows {
  find(taskId: string): Promise<TaskMeans | null>;
  /** Sets what is given; what is not stays, or begins as a task without a row has it. */
  set(task: { readonly id: string; readonly spaceId: string }, means: Partial<TaskMeans>): Promise<void>;
  erase(taskId: string): Promise<void>;
}

/** A message that names nothing. */
export const noMeans: WantedMeans = { skills: [], forced: [], connectors: [], noConnectors: false };

/**
 * Writes down what a message has named, without a statement where it names nothing.
 * Skills hold for this and later turns until a message names others (contract/v2.md 9.10).
 *
 * @param connectors what they are from now on; undefined: they stay.
 */
export async function keepMeans(
  tx: Tx,
  task: { readonly id: string; readonly spaceId: string },
  { skills, forced }: Pick<WantedMeans, "skills" | "forced">,
  connectors: readonly string[] | undefined,
): Promise<void> {
  const named = {
    ...(skills.length === 0 ? {} : { skills: [...new Set(skills)] }),
    ...(forced.length === 0 ? {} : { forced: [...new Set(forced)] }),
    ...(connectors === undefined ? {} : { connectors }),
  };
  if (Object.keys(named).length > 0) await tx.means.set(task, named);
}
