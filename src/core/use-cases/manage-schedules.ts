import { appOf, type Caller, keyOf, lockActiveMember } from "../accounts/caller.ts";
import type { KeyScope } from "../accounts/key-scopes.ts";
import type { Clock } from "../clock.ts";
import { checkGranted } from "../connectors/granted.ts";
import { Failure, notFound, renameField } from "../failure.ts";
import type { Ids } from "../ids.ts";
import { byCreation, decodeCursor, type Page, type PageInput, pageOf } from "../pagination/page.ts";
import { auditedRules, checkMayGrant } from "../permissions/grant.ts";
import { type Schedule, type ScheduleChanges, schedulesMax, unfinishedMax } from "../schedules/schedule.ts";
import {
  editedSettings,
  firstDue,
  newSettings,
  type Settings,
  type SettingsInput,
} from "../schedules/settings.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { actFor, createTaskOf } from "./act-for-schedule.ts";
import type { Tasks } from "./manage-tasks.ts";

/**
 * Schedules of a caller: each method is one operation of spec/api.md 8.57. All but create and list throw
 * Failure `not_found`.
 */
export interface Schedules {
  /**
   * @throws Failure `invalid_argument`, those of task.create for the task, `resource_exhausted` at 100
   * schedules.
   */
  create(tx: Tx, caller: Caller, input: SettingsInput): Promise<Schedule>;
  /** Newest first. */
  list(tx: Tx, caller: Caller, page: Omit<PageInput, "order">): Promise<Page<Schedule>>;
  get(tx: Tx, caller: Caller, id: string): Promise<Schedule>;
  /**
   * @throws Failure as create; `permission_denied` for an app that changes the task of a schedule that it has
   * not created.
   */
  update(tx: Tx, caller: Caller, id: string, input: SettingsInput): Promise<Schedule>;
  pause(tx: Tx, caller: Caller, id: string): Promise<Schedule>;
  /**
   * @throws Failure `failed_precondition` for a finished schedule, and for one whose app may no longer act.
   */
  resume(tx: Tx, caller: Caller, id: string): Promise<Schedule>;
  /**
   * Creates a task now, also of a paused schedule. @throws Failure those of task.create,
   * `failed_precondition` as resume.
   */
  runNow(tx: Tx, caller: Caller, id: string): Promise<Task>;
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export interface SchedulesParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly tasks: Pick<Tasks, "check" | "create">;
}

export function schedules({ clock, ids, tasks }: SchedulesParts): Schedules {
  async function save(tx: Tx, schedule: Schedule, changes: ScheduleChanges): Promise<Schedule> {
    const changed = { ...changes, updatedAt: clock.now() };
    await tx.schedules.update(schedule.id, changed);
    return { ...schedule, ...changed };
  }

  function checkTask(tx: Tx, caller: Caller, { template }: Pick<Settings, "template">): Promise<void> {
    return withTaskPath(async () => {
      checkGranted(caller, template.input.resources.connectors);
      await tasks.check(tx, caller, template);
    });
  }

  return {
    async create(tx, caller, input) {
      checkMaySchedule(caller);
      const { accountId, spaceId } = caller;
      // The row lock makes counting and inserting one step. It comes before the membership, as in the team's
      // management.
      await tx.accounts.lock(accountId);
      await lockActiveMember(tx, caller);
      const now = clock.now();
      const settings = newSettings(input, now);
      const nextAt = firstDue(settings, now, null);
      await checkTask(tx, caller, settings);
      if ((await tx.schedules.count(caller)) >= schedulesMax)
        throw new Failure(
          "resource_exhausted",
          `an account has at most ${schedulesMax} schedules in a space`,
        );
      const schedule: Schedule = {
        id: ids.short(),
        accountId,
        spaceId,
        clientId: appOf(caller),
        apiKeyId: keyOf(caller),
        ...settings,
        ...freshState,
        nextAt,
        lastDueAt: null,
        lastRunAt: null,
        lastTaskId: null,
        createdAt: now,
        updatedAt: now,
      };
      await tx.schedules.insert(schedule);
      tx.audit.note({ subject: schedule.id, after: toAuditFacts(schedule) });
      return schedule;
    },

    async list(tx, caller, { limit, cursor }) {
      const { accountId, spaceId } = caller;
      const binding = {
        accountId,
        spaceId,
        clientId: appOf(caller) ?? undefined,
        operation: "schedule.list",
        filter: {},
      };
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const rows = await tx.schedules.list(caller, limit + 1, after && { at: after.value, id: after.id });
      return pageOf(rows, limit, binding, byCreation);
    },

    get: async (tx, caller, id) => requireSchedule(await tx.schedules.find(caller, id)),

    async update(tx, caller, id, input) {
      checkMaySchedule(caller);
      await lockActiveMember(tx, caller);
      const before = await lock(tx, caller, id);
      const now = clock.now();
      const settings = editedSettings(before, input, now);
      if (input.template !== undefined) {
        checkMayChangeTask(caller, before);
        const { permissions = [] } = before.template;
        await withTaskPath(async () =>
          checkMayGrant(caller, permissions, settings.template.permissions ?? []),
        );
        await checkTask(tx, caller, settings);
      }
      const after = await save(tx, before, { ...settings, ...newTimes(before, settings, input, now) });
      tx.audit.note({ subject: id, before: toAuditFacts(before), after: toAuditFacts(after, input) });
      return after;
    },

    async pause(tx, caller, id) {
      const before = await lock(tx, caller, id);
      tx.audit.note({ subject: id, before: { status: before.status } });
      if (before.status !== "active") return before;
      return save(tx, before, { status: "paused", pauseReason: "user", nextAt: null, queuedAt: null });
    },

    async resume(tx, caller, id) {
      checkMaySchedule(caller);
      await lockActiveMember(tx, caller);
      const before = await lock(tx, caller, id);
      tx.audit.note({ subject: id, before: { status: before.status, reason: before.pauseReason } });
      if (before.status === "active") return before;
      await requireActing(tx, before);
      return save(tx, before, { ...freshState, nextAt: firstDue(before, clock.now(), before.lastDueAt) });
    },

    async runNow(tx, caller, id) {
      checkMaySchedule(caller);
      await lockActiveMember(tx, caller);
      const schedule = await lock(tx, caller, id);
      const acting = await requireActing(tx, schedule);
      if ((await tx.schedules.countUnfinished(id)) >= unfinishedMax)
        throw new Failure("resource_exhausted", `${unfinishedMax} tasks of the schedule have not ended`);
      const task = await createTaskOf(tx, tasks, schedule, acting, clock.now());
      tx.audit.note({ subject: id, before: null, after: { taskId: task.id } });
      return task;
    },

    async remove(tx, caller, id) {
      const before = await lock(tx, caller, id);
      await tx.schedules.remove(id);
      tx.audit.note({ subject: id, before: toAuditFacts(before) });
    },
  };
}

export async function withTaskPath<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.path !== undefined)
      throw renameField(thrown, (path) => `schedule.task.${path}`);
    throw thrown;
  }
}

/** The state of a schedule that has just been created or resumed. */
const freshState = {
  status: "active",
  pauseReason: null,
  queuedAt: null,
  failures: 0,
  lastError: null,
} as const;

/**
 * The times after an edit: they change with the timing only, and a finished schedule with a new time is
 * active again.
 */
function newTimes(before: Schedule, settings: Settings, input: SettingsInput, now: number): ScheduleChanges {
  const { cron, intervalSeconds, at, timeZone } = input;
  const isNew = [cron, intervalSeconds, at].some((value) => value !== undefined);
  if (!isNew && timeZone === undefined) return {};
  const status = isNew && before.status === "finished" ? "active" : before.status;
  const next = firstDue(settings, now, before.lastDueAt);
  return { status, nextAt: status === "active" ? next : null };
}

async function lock(tx: Tx, caller: Caller, id: string): Promise<Schedule> {
  return requireSchedule(await tx.schedules.lock(caller, id));
}

function requireSchedule(schedule: Schedule | null): Schedule {
  if (!schedule) throw notFound("schedule");
  return schedule;
}

/** @throws Failure `failed_precondition` when the schedule may not act at present. */
async function requireActing(tx: Tx, schedule: Schedule): Promise<Caller> {
  const acting = await actFor(tx, schedule);
  if ("caller" in acting) return acting.caller;
  throw new Failure("failed_precondition", `the schedule cannot create tasks: ${acting.ended}`);
}

/** The tasks of a schedule have the connectors of its owner, which another app may not have. */
function checkMayChangeTask(caller: Caller, { clientId }: Schedule): void {
  const app = appOf(caller);
  if (app !== null && app !== clientId)
    throw new Failure(
      "permission_denied",
      "schedule.task: an app can change only the task of a schedule that it has created",
    );
}

/**
 * A schedule acts with the rights of its person, also after the key that wrote it is revoked.
 *
 * @throws Failure `permission_denied` for a key that could not create such tasks itself.
 */
function checkMaySchedule({ credential }: Caller): void {
  const scopes = credential.kind === "key" ? credential.scopes : null;
  const missing = scopes && neededToSchedule.find((name) => !scopes.includes(name));
  if (missing)
    throw new Failure(
      "permission_denied",
      `this API key has no scope ${missing}, which the tasks of a schedule need in addition to schedule:write`,
    );
}
const neededToSchedule = ["task:write", "connector:use"] as const satisfies readonly KeyScope[];

/** Not the task: its message is content. */
const toAuditFacts = (
  { name, cron, intervalSeconds, moment, timeZone, missed, overlap, status, template }: Schedule,
  edit: Pick<SettingsInput, "template"> = {},
): Readonly<Record<string, unknown>> => ({
  name,
  cron,
  intervalSeconds,
  moment,
  timeZone,
  missed,
  overlap,
  status,
  ...(edit.template === undefined ? {} : { retasked: true }),
  ...(template.permissions?.length && auditedRules({ permissions: template.permissions })),
});
