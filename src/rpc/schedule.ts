import type { MessageInitShape } from "@bufbuild/protobuf";
import { defined } from "../core/defined.ts";
import {
  missedPolicies,
  overlapPolicies,
  pauseReasons,
  type Schedule,
  scheduleStatuses,
} from "../core/schedules/schedule.ts";
import type { SettingsInput } from "../core/schedules/settings.ts";
import type { TaskTemplate } from "../core/schedules/template.ts";
import { type Schedules, withTaskPath } from "../core/use-cases/manage-schedules.ts";
import {
  MissedPolicySchema,
  OverlapPolicySchema,
  PauseReasonSchema,
  type ScheduleSchema,
  type ScheduleSettings,
  ScheduleStatusSchema,
} from "../gen/proto/schedule/v1/schedule_pb.ts";
import { ScheduleService } from "../gen/proto/schedule/v1/schedule_service_pb.ts";
import { ContentPartType } from "../gen/proto/task/v2/message_pb.ts";
import type { CreateTaskRequest, CreateTaskRequestSchema } from "../gen/proto/task/v2/task_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { toRules } from "./permissions.ts";
import { newTask, readOutputSchema } from "./task.ts";
import { readTextInput } from "./user-input.ts";
import { enumConverter, seconds, visibility } from "./wire-values.ts";

const missedPolicy = enumConverter(MissedPolicySchema, missedPolicies);
const overlapPolicy = enumConverter(OverlapPolicySchema, overlapPolicies);
const scheduleStatus = enumConverter(ScheduleStatusSchema, scheduleStatuses);
const pauseReason = enumConverter(PauseReasonSchema, pauseReasons);

/** The operations of schedules (spec/api.md 8.57 to 8.60). @param appUrl the base URL of the web app. */
export function scheduleHandlers(schedules: Schedules, appUrl: string) {
  return implement(ScheduleService, {
    createSchedule: {
      async prepare({ schedule }) {
        const input = await readSettings(schedule);
        return async (tx, caller) => ({ schedule: toSchedule(await schedules.create(tx, caller, input)) });
      },
    },
    async listSchedules(tx, caller, { limit = 20, cursor }) {
      const { items, next } = await schedules.list(tx, caller, { limit, cursor });
      return { data: items.map(toSchedule), hasMore: next !== undefined, ...defined({ nextCursor: next }) };
    },
    async getSchedule(tx, caller, { scheduleId }) {
      return { schedule: toSchedule(await schedules.get(tx, caller, scheduleId)) };
    },
    updateSchedule: {
      async prepare({ scheduleId, schedule }) {
        const input = await readSettings(schedule);
        return async (tx, caller) => ({
          schedule: toSchedule(await schedules.update(tx, caller, scheduleId, input)),
        });
      },
    },
    async pauseSchedule(tx, caller, { scheduleId }) {
      return { schedule: toSchedule(await schedules.pause(tx, caller, scheduleId)) };
    },
    async resumeSchedule(tx, caller, { scheduleId }) {
      return { schedule: toSchedule(await schedules.resume(tx, caller, scheduleId)) };
    },
    async runSchedule(tx, caller, { scheduleId }) {
      const { id, title } = await schedules.runNow(tx, caller, scheduleId);
      return { taskId: id, taskTitle: title, taskUrl: `${appUrl}/app/${id}` };
    },
    async deleteSchedule(tx, caller, { scheduleId }) {
      await schedules.remove(tx, caller, scheduleId);
      return {};
    },
  });
}

export const toSchedule = (schedule: Schedule): MessageInitShape<typeof ScheduleSchema> => ({
  id: schedule.id,
  name: schedule.name,
  timeZone: schedule.timeZone,
  task: toTask(schedule.template),
  ...(schedule.cron === null ? {} : { cron: schedule.cron }),
  ...(schedule.intervalSeconds === null ? {} : { intervalSeconds: BigInt(schedule.intervalSeconds) }),
  ...(schedule.moment === null ? {} : { at: new Date(schedule.moment).toISOString() }),
  missed: missedPolicy.toValue(schedule.missed),
  overlap: overlapPolicy.toValue(schedule.overlap),
  status: scheduleStatus.toValue(schedule.status),
  ...(schedule.pauseReason === null ? {} : { pauseReason: pauseReason.toValue(schedule.pauseReason) }),
  ...(schedule.nextAt === null ? {} : { nextRunAt: seconds(schedule.nextAt) }),
  ...(schedule.lastRunAt === null ? {} : { lastRunAt: seconds(schedule.lastRunAt) }),
  ...(schedule.lastTaskId === null ? {} : { lastTaskId: schedule.lastTaskId }),
  failures: schedule.failures,
  ...(schedule.lastError === null ? {} : { lastError: schedule.lastError }),
  createdAt: seconds(schedule.createdAt),
  updatedAt: seconds(schedule.updatedAt),
});

const toTask = ({ input, ...task }: TaskTemplate): MessageInitShape<typeof CreateTaskRequestSchema> => ({
  message: {
    content: input.texts.map((text) => ({ type: ContentPartType.TEXT, text })),
    taskReferences: [...input.references],
    connectors: [...input.resources.connectors],
    noConnectors: input.resources.noConnectors,
    enableSkills: [...input.resources.skills],
    forceSkills: [...input.resources.forced],
  },
  interactiveMode: task.interactive,
  hideInTaskList: task.hidden,
  shareVisibility: visibility.toValue(task.shareVisibility),
  ...defined({
    projectId: task.projectId,
    locale: task.locale,
    agentProfile: task.agentProfile,
    title: task.title,
    structuredOutputSchema: task.outputSchema,
  }),
  metadata: { ...task.metadata },
  permissions: toRules(task.permissions ?? []),
});

/** @throws Failure `invalid_argument` with the path of the field. */
async function readSettings(settings: ScheduleSettings | undefined): Promise<SettingsInput> {
  const { name, cron, intervalSeconds, at, timeZone, task, missed, overlap } = settings ?? {};
  return {
    name,
    cron,
    at,
    timeZone,
    intervalSeconds: intervalSeconds === undefined ? undefined : Number(intervalSeconds),
    template: task && (await withTaskPath(async () => readTemplate(task))),
    missed: missed === undefined ? undefined : missedPolicy.toName(missed),
    overlap: overlap === undefined ? undefined : overlapPolicy.toName(overlap),
  };
}

function readTemplate(task: CreateTaskRequest): TaskTemplate {
  const outputSchema = readOutputSchema(task.structuredOutputSchema);
  return newTask(readTextInput(task.message), task, outputSchema);
}
