import type { JsonObject } from "@bufbuild/protobuf";
import { systemIds } from "../../src/core/ids.ts";
import type { PublishTask, Store } from "../../src/core/store.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import { countTaskEnds, handleDue, type PausedSchedule } from "../../src/core/use-cases/run-schedules.ts";
import { type SettingsRig, settingsRig } from "../settings/settings-rig.ts";
import { type DatabaseKind, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

export const minuteMs = 60_000;

/** The settings of a schedule of each minute. */
export const everyMinute = {
  name: "Report",
  interval_seconds: 60,
  task: { message: { content: "Report." } },
};

/** A platform whose schedules are handled only when a test says so. */
export interface SchedulesRig extends SettingsRig {
  readonly clock: StillClock;
  /** The mails to creators of paused schedules. */
  readonly mails: PausedSchedule[];
  /** Creates a schedule; returns its id. */
  create(person: Pick<Person, "v2">, settings?: object): Promise<string>;
  /** The schedule as `schedule.detail` shows it. */
  read(person: Pick<Person, "v2">, id: string): Promise<JsonObject>;
  /** Handles a schedule as one process, over this store. */
  handle(id: string, over?: Store): Promise<void>;
  /** Moves to the next minute and handles a schedule. */
  nextMinute(id: string): Promise<void>;
  /** The ids of a schedule's tasks, oldest first. */
  taskIds(id: string): Promise<readonly string[]>;
  /** Ends a task. */
  end(taskId: string, status: "stopped" | "error"): Promise<void>;
}

export function schedulesRig(database: DatabaseKind): SchedulesRig {
  const clock = stillClock();
  const rig = settingsRig(database, { clock });
  const mails: PausedSchedule[] = [];
  const recording = { clock, ids: systemIds, notify: (paused: PausedSchedule) => void mails.push(paused) };
  const countEnds = countTaskEnds(recording);
  const publishTask: PublishTask = async (tx, written) => {
    await countEnds(tx, written);
    return written.task;
  };
  const creation = tasks({
    ...{
      clock,
      ids: systemIds,
      backlog: { add: () => undefined },
      steps: taskSteps(clock),
      keepsEvents: true,
      publishTask,
    },
  });
  const handle = (id: string, store = rig.db.store) =>
    handleDue({ ...recording, store, tasks: creation }, id);
  const read = async (person: Pick<Person, "v2">, id: string) =>
    (await person.v2("schedule.detail", { schedule_id: id })).body["schedule"] as JsonObject;
  return {
    get db() {
      return rig.db;
    },
    get service() {
      return rig.service;
    },
    person: rig.person,
    auditRow: rig.auditRow,
    clock,
    mails,
    async create(person: Pick<Person, "v2">, settings: object = {}) {
      const { body } = await person.v2("schedule.create", { schedule: { ...everyMinute, ...settings } });
      if (body["schedule"] === undefined) throw new Error(JSON.stringify(body));
      return String(body["schedule"].id);
    },
    read,
    handle,
    async nextMinute(id: string) {
      clock.step(minuteMs);
      await handle(id);
    },
    async taskIds(id: string) {
      const rows = await rowsIn(
        rig.db.url,
        `SELECT id FROM task WHERE schedule_id = '${id}' ORDER BY created_at, id`,
      );
      return rows.map((row) => String(row["id"]));
    },
    async end(taskId: string, status: "stopped" | "error") {
      const events = [{ type: "status_update", payload: { agentStatus: status, brief: "" } }] as const;
      await rig.db.store.change(async (tx) => {
        const written = await tx.tasks.advance(taskId, { now: clock.now(), set: { status }, events });
        if (written) await publishTask(tx, written);
      });
    },
  };
}
