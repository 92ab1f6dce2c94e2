import type { Caller } from "../accounts/caller.ts";
import type { Browser } from "../browsers/browser.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";

/** The most tasks that are named, for all browsers of an account together. */
const usesMax = 100;

/** An online browser with the tasks in progress that have selected it, newest first. */
export interface BrowserInUse extends Browser {
  readonly taskIds: readonly string[];
}

/** The caller's online browsers. Tasks that the caller does not see are left out. */
export async function listBrowsers(tx: Tx, caller: Caller): Promise<readonly BrowserInUse[]> {
  const browsers = await tx.browsers.list(caller);
  const uses = await tx.taskResources.listBrowserUses(
    caller,
    browsers.map(({ id }) => id),
    usesMax,
  );
  return browsers.map((browser) => ({
    ...browser,
    taskIds: uses.flatMap(({ browserId, taskId }) => (browserId === browser.id ? [taskId] : [])),
  }));
}

/**
 * Ends the use of a browser by a task, online or not (spec/decisions.md 85). A task has only browsers of the
 * same account, so its owner owns the browser too. The process that runs the task reads the selection.
 *
 * @throws Failure `not_found` for an unknown task, `failed_precondition` when the task has not selected the
 * browser.
 */
export async function detachBrowser(
  tx: Tx,
  caller: Caller,
  browserId: string,
  taskId: string,
): Promise<void> {
  const task = await tx.tasks.lock(caller, taskId);
  if (!task) throw notFound("task", "task_id");
  if (!(await tx.taskResources.deselectBrowser(task.id, browserId)))
    throw new Failure("failed_precondition", "the task does not use this browser");
  tx.audit.note({ subject: task.id, before: { browserId }, after: { browserId: null } });
}
