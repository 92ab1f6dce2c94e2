import type { JsonObject } from "@bufbuild/protobuf";
import { ScheduleService } from "../../src/gen/proto/schedule/v1/schedule_service_pb.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput } from "./entry.ts";
import { message } from "./tasks.ts";

/** The settings of a schedule that is never due during a test. */
export const yearly = { name: "Report", cron: "0 9 1 1 *", task: { message } };

const scheduleId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("schedule.create", { schedule: yearly });
  return { schedule_id: body["schedule"].id };
};

/** `schedule.v1.ScheduleService`. */
export const scheduleEntries = entries(ScheduleService, {
  createSchedule: ["schedules/manage", async () => ({ schedule: yearly })],
  listSchedules: ["schedules/manage", noInput],
  getSchedule: ["schedules/manage", scheduleId],
  updateSchedule: [
    "schedules/manage",
    async (person) => ({ ...(await scheduleId(person)), schedule: { name: "Digest" } }),
  ],
  pauseSchedule: ["schedules/manage", scheduleId],
  resumeSchedule: [
    "schedules/manage",
    async (person) => {
      const schedule = await scheduleId(person);
      await person.v2("schedule.pause", schedule);
      return schedule;
    },
  ],
  runSchedule: ["schedules/run", scheduleId],
  deleteSchedule: ["schedules/manage", scheduleId],
});
