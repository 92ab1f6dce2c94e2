import { Failure, invalidArgument } from "../failure.ts";
import type { MissedPolicy, OverlapPolicy, Schedule } from "./schedule.ts";
import type { TaskTemplate } from "./template.ts";
import { nextAfter, readCron, readMoment, readTimeZone, type Timing } from "./timing.ts";

/**
 * The settings of a schedule as a request has them. Absent members keep their values, or get their defaults.
 */
export interface SettingsInput {
  readonly name?: string | undefined;
  readonly cron?: string | undefined;
  readonly intervalSeconds?: number | undefined;
  /** RFC 3339. */
  readonly at?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly template?: TaskTemplate | undefined;
  readonly missed?: MissedPolicy | undefined;
  readonly overlap?: OverlapPolicy | undefined;
}

export type Settings = Timing & Pick<Schedule, "name" | "template" | "missed" | "overlap">;

/** Times without a zone are read in this one. */
const defaultZone = "UTC";

/** @throws Failure `invalid_argument` for a missing or malformed member. */
export function newSettings(input: SettingsInput, now: number): Settings {
  const { template, missed = "run_once", overlap = "skip" } = input;
  const timing = readTiming(input, defaultZone, now);
  if (timing === null)
    throw invalidArgument("schedule", "must have exactly one of cron, interval_seconds and at");
  if (template === undefined) throw invalidArgument("schedule.task", "is required");
  return { ...timing, name: readName(input.name ?? ""), template, missed, overlap };
}

/**
 * The settings after an edit; those that the request omits stay.
 *
 * @throws Failure `invalid_argument` for an empty edit and for a malformed member.
 */
export function editedSettings(before: Settings, input: SettingsInput, now: number): Settings {
  if (Object.values(input).every((value) => value === undefined))
    throw invalidArgument("schedule", "must have a member to change");
  const { name, template, missed, overlap } = input;
  return {
    name: name === undefined ? before.name : readName(name),
    template: template ?? before.template,
    missed: missed ?? before.missed,
    overlap: overlap ?? before.overlap,
    ...timingOf(before),
    ...(readTiming(input, before.timeZone, now) ?? zoneIn(input)),
  };
}

const timingOf = ({ cron, intervalSeconds, moment, timeZone, anchorAt }: Timing): Timing => ({
  cron,
  intervalSeconds,
  moment,
  timeZone,
  anchorAt,
});

/** Null when the request has none. */
function readTiming(
  { cron, intervalSeconds, at, timeZone }: SettingsInput,
  zone: string,
  now: number,
): Timing | null {
  const given = [cron, intervalSeconds, at].filter((value) => value !== undefined);
  if (given.length === 0) return null;
  if (given.length > 1)
    throw invalidArgument("schedule", "must have exactly one of cron, interval_seconds and at");
  return {
    cron: cron === undefined ? null : readCron(cron, "schedule.cron"),
    intervalSeconds: intervalSeconds ?? null,
    moment: at === undefined ? null : readMoment(at, "schedule.at", now),
    anchorAt: now,
    timeZone: timeZone === undefined ? zone : readTimeZone(timeZone, "schedule.time_zone"),
  };
}

const zoneIn = ({ timeZone }: SettingsInput): Partial<Timing> =>
  timeZone === undefined ? {} : { timeZone: readTimeZone(timeZone, "schedule.time_zone") };

const nameForm = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

function readName(text: string): string {
  const name = text.trim();
  if (!nameForm.test(name))
    throw invalidArgument("schedule.name", "must have 1 to 255 characters and no control characters");
  return name;
}

/**
 * The first due time of settings after `now` and after the last due time, so that none is handled twice when
 * a clock steps back.
 */
export function firstDue(settings: Timing, now: number, lastDueAt: number | null): number {
  const next = nextAfter(settings, Math.max(now, lastDueAt ?? 0));
  if (next !== null) return next;
  if (settings.cron !== null) throw invalidArgument("schedule.cron", "never occurs");
  throw new Failure("failed_precondition", "the time of the schedule has passed: set another one");
}
