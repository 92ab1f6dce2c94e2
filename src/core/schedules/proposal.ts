import { Failure, invalidArgument, renameField } from "../failure.ts";
import type { JsonObject } from "../json.ts";
import { messageText } from "../tasks/message.ts";
import { localTime } from "./local-time.ts";
import { firstDue, newSettings, type SettingsInput } from "./settings.ts";
import { nextTimes, type Timing } from "./timing.ts";

/** A schedule that an agent proposes, as its user sees it. */
export interface Proposal {
  /** A full sentence about it. */
  readonly description: string;
  /** The settings, and the next three times. */
  readonly params: JsonObject;
}

const members: readonly string[] = ["name", "message", "cron", "interval_seconds", "at", "time_zone"];
/** Derived from the other members. */
const timesMember = "next_times";
const timesMax = 3;
const intervalMin = 60;
const intervalMax = 31_536_000;
/** The most characters of the message in the description. */
const shownMax = 2_000;

/**
 * Reads what an agent proposes. The description and the next times are written here, so that the user
 * approves what will be created.
 *
 * @param path the field that error texts name.
 * @throws Failure `invalid_argument` for settings that schedule.create refuses, and for other members.
 */
export function readProposal(request: JsonObject, path: string, now: number): Proposal {
  const { [timesMember]: _derived, ...params } = request;
  if (Object.keys(params).some((name) => !members.includes(name)))
    throw invalidArgument(path, `has a member other than ${members.join(", ")}`);
  const settings = at(path, () => {
    const read = newSettings(proposedSettings(params), now);
    firstDue(read, now, null);
    return read;
  });
  const { name, timeZone } = settings;
  const times = nextTimes(settings, now, timesMax);
  const { fromInstant } = localTime(timeZone);
  const local = times.map((time) => new Date(fromInstant(time)).toISOString().slice(0, 16).replace("T", " "));
  const message = String(params["message"]);
  const shown = message.length > shownMax ? `${message.slice(0, shownMax)}…` : message;
  return {
    description: `Create the schedule ${name}: ${timingText(settings)}. Next times in ${timeZone}: ${local.join(", ")}. Message of each task: ${shown}`,
    params: {
      ...params,
      time_zone: timeZone,
      [timesMember]: times.map((time) => new Date(time).toISOString()),
    },
  };
}

function timingText({ cron, intervalSeconds, moment }: Timing): string {
  if (cron !== null) return `cron ${cron}`;
  return moment === null ? `every ${intervalSeconds} seconds` : "once";
}

/**
 * The input of schedule.create. @throws Failure `invalid_argument` for a member of another type, and for the
 * message.
 */
export function proposedSettings(params: JsonObject): SettingsInput {
  const text = (name: string): string | undefined => {
    const value = params[name];
    if (value !== undefined && typeof value !== "string")
      throw invalidArgument(`schedule.${name}`, "is not a text");
    return value;
  };
  const message = text("message") ?? "";
  messageText({ texts: [message] }, "schedule.message");
  const resources = { skills: [], forced: [], connectors: [], noConnectors: false };
  const input = { texts: [message], references: [], resources };
  return {
    name: text("name"),
    cron: text("cron"),
    at: text("at"),
    timeZone: text("time_zone"),
    intervalSeconds: interval(params),
    template: { input, interactive: false, hidden: false, shareVisibility: "private" },
  };
}

function interval({ interval_seconds: value }: JsonObject): number | undefined {
  if (value === undefined) return undefined;
  const isValid =
    typeof value === "number" && Number.isInteger(value) && value >= intervalMin && value <= intervalMax;
  if (!isValid)
    throw invalidArgument(
      "schedule.interval_seconds",
      `is not a whole number from ${intervalMin} to ${intervalMax}`,
    );
  return value;
}

/** Names the fields of a failure as the agent has sent them. */
function at<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.path !== undefined)
      throw renameField(thrown, (field) => field.replace(/^schedule/, path));
    throw thrown;
  }
}
