import type { AfterTask } from "../core/store.ts";
import { followSubtasks } from "../core/tasks/parents.ts";
import { countTaskEnds } from "../core/use-cases/run-schedules.ts";
import type { ProcessContext } from "./process-context.ts";
import { pauseNotifier } from "./schedules.ts";
import { createOutbox } from "./sending.ts";

/** What follows every change of a task: the events of webhooks, the failures of schedules, and the looks at the parents of subtasks. */
export function createAfterTask(context: Pick<ProcessContext, "config" | "cipher" | "clock" | "ids" | "log">): AfterTask {
  const writeEvents = createOutbox(context);
  const countEnds = countTaskEnds({ ...context, notify: pauseNotifier(context) });
  return async (tx, written) => {
    await writeEvents(tx, written);
    await countEnds(tx, written);
    await followSubtasks(tx, written);
  };
}
