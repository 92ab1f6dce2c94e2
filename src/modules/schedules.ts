import { createMailer, schedulePausedMail } from "../adapters/mail/mail.ts";
import { schedules } from "../core/use-cases/manage-schedules.ts";
import type { NotifyPaused } from "../core/use-cases/run-schedules.ts";
import { scheduleHandlers } from "../rpc/schedule.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";
import { tasksOf } from "./tasks.ts";

export const createSchedules: CreateModule = (context) => ({
  handlers: [scheduleHandlers(schedules({ ...context, tasks: tasksOf(context) }), context.config.appUrl)],
});

/** Mails the creators of paused schedules, if a mail server is configured; the schedule itself shows the reason too. */
export function pauseNotifier({ config: { mail }, log }: Pick<ProcessContext, "config" | "log">): NotifyPaused {
  if (mail === null) return () => undefined;
  const send = createMailer(mail);
  return ({ id, ...paused }) =>
    void send(schedulePausedMail(paused)).catch(() => log("warn", "the creator of a schedule was not notified", { scheduleId: id }));
}
