import { schedules } from "../core/use-cases/manage-schedules.ts";
import { scheduleHandlers } from "../rpc/schedule.ts";
import type { CreateModule } from "./module.ts";
import { tasksOf } from "./tasks.ts";

export const createSchedules: CreateModule = (context) => ({
  handlers: [scheduleHandlers(schedules({ ...context, tasks: tasksOf(context) }), context.config.appUrl)],
});
