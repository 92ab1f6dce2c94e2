import type { Scope } from "../accounts/caller.ts";
import { defined } from "../defined.ts";
import type { Tx } from "../store.ts";

/** The resources that a message names for its task; an empty list names none. */
export interface RequestedResources {
  /** Ids of the skills that the task may use. */
  readonly skills: readonly string[];
  /** Ids of the skills that the task must use. */
  readonly forced: readonly string[];
  readonly connectors: readonly string[];
  /** Disables the default connectors too: for a new task only (spec/api.md 14.2). */
  readonly noConnectors: boolean;
}

/** The resources that a task may use, set by its messages. */
export interface TaskResources {
  /** Null: the account's enabled skills. */
  readonly skills: readonly string[] | null;
  readonly forced: readonly string[];
  readonly connectors: readonly string[];
  /** The browser that the user selected for the task, online or not; null for none (spec/api.md 9.4). */
  readonly browserId: string | null;
  /** The built-in tools that a subtask may use; null: all that its model has. */
  readonly tools: readonly string[] | null;
}

export interface BrowserUse {
  readonly browserId: string;
  readonly taskId: string;
}

/** Rows of tasks' resources: a task whose messages name none has no row. */
export interface TaskResourceRows {
  find(taskId: string): Promise<TaskResources | null>;
  /** Sets the given members; the others stay, or get the defaults of a task without a row. */
  set(task: { id: string; spaceId: string }, resources: Partial<TaskResources>): Promise<void>;
  /** Unselects this browser, and no other; false when the task has not selected it. */
  deselectBrowser(taskId: string, browserId: string): Promise<boolean>;
  /**
   * The tasks in progress that the caller sees and that have selected one of these browsers, newest first, up
   * to `max`.
   */
  listBrowserUses(scope: Scope, browserIds: readonly string[], max: number): Promise<readonly BrowserUse[]>;
  deleteOfTask(taskId: string): Promise<void>;
}

/** The resources of a message that names none. */
export const noResources: RequestedResources = {
  skills: [],
  forced: [],
  connectors: [],
  noConnectors: false,
};

/**
 * Stores the resources that a message names; executes no statement when it names none.
 * Skills hold for this and later turns until a message names others (spec/api.md 9.10).
 *
 * @param connectors the task's connectors from now on; undefined leaves them as they are.
 */
export async function saveResources(
  tx: Tx,
  task: { id: string; spaceId: string },
  { skills, forced }: Pick<RequestedResources, "skills" | "forced">,
  connectors: readonly string[] | undefined,
): Promise<void> {
  const named = {
    ...(skills.length === 0 ? {} : { skills: [...new Set(skills)] }),
    ...(forced.length === 0 ? {} : { forced: [...new Set(forced)] }),
    ...defined({ connectors }),
  };
  if (Object.keys(named).length > 0) await tx.taskResources.set(task, named);
}
