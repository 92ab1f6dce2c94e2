import { createMailer, schedulePausedMail } from "../adapters/mail/mail.ts";
import type { AfterTask } from "../core/store.ts";
import type { Backlog } from "../core/tasks/backlog.ts";
import type { DirectClaims } from "../core/tasks/direct-claims.ts";
import { followSubtasks } from "../core/tasks/parents.ts";
import { profilesOf } from "../core/tasks/profile.ts";
import { type TaskSteps, taskSteps } from "../core/tasks/steps.ts";
import { type Tasks, tasks } from "../core/use-cases/manage-tasks.ts";
import { countTaskEnds, type NotifyPaused } from "../core/use-cases/run-schedules.ts";
import type { ProcessContext } from "./process-context.ts";
import { remoteProfiles } from "./remote.ts";
import { createOutbox } from "./sending.ts";

/** The steps of tasks, which wake the runners of their profiles. */
export const stepsOf = ({ clock, config }: Pick<ProcessContext, "clock" | "config">, direct: DirectClaims): TaskSteps =>
  taskSteps(clock, remoteProfiles(config), direct);

/** Tasks, for callers and for schedules. */
export const createTasks = (context: ProcessContext, backlog: Backlog, direct: DirectClaims): Tasks => {
  const { clock, ids, config } = context;
  const profiles = profilesOf(Object.keys(config.agentProfiles));
  return tasks({ clock, ids, backlog, steps: stepsOf(context, direct), keepsEvents: config.deletedTaskDays > 0, profiles });
};

/** Mails the creators of paused schedules, if a mail server is configured; the schedule itself shows the reason too. */
export function pauseNotifier({ config: { mail }, log }: Pick<ProcessContext, "config" | "log">): NotifyPaused {
  if (mail === null) return () => undefined;
  const send = createMailer(mail);
  return ({ id, ...paused }) =>
    void send(schedulePausedMail(paused)).catch(() => log("warn", "the creator of a schedule was not notified", { scheduleId: id }));
}

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
