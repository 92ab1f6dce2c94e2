import { buildRouteMap } from "@stricli/core";
import type { Client, CreateTaskRequest, Schedule } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { needChange } from "../frame/json-input.ts";
import { argument, type ClientFlags, choiceFlag, countFlag, exactly, textFlag } from "../frame/parameters.ts";
import { timeText } from "../frame/print.ts";
import {
  type RuleEditFlags,
  type RuleFlags,
  ruleEditFlags,
  ruleEditOf,
  ruleFlags,
  rulesOf,
  rulesText,
} from "./rules.ts";

/** When it runs: a cron expression, an interval or a time. */
const timingOf = ({ cron, interval_seconds: intervalSeconds, at, time_zone }: Schedule): string =>
  cron ? `${cron} (${time_zone})` : intervalSeconds === undefined ? (at ?? "") : `every ${intervalSeconds} s`;

const columns = [
  { title: "ID", text: ({ id }: Schedule) => id },
  { title: "STATUS", text: ({ status }: Schedule) => status },
  { title: "NEXT", text: ({ next_run_at }: Schedule) => timeText(next_run_at) },
  { title: "TIMES", text: timingOf },
  { title: "NAME", text: ({ name }: Schedule) => name },
];

const list = command({
  brief: "List schedules, newest first",
  examples: ["atp schedule list"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    cli.print.list(await cli.client().items("schedule.list").all(), columns, "There are no schedules.");
  },
});

interface SettingsFlags extends ClientFlags, RuleFlags {
  readonly name?: string;
  readonly cron?: string;
  readonly every?: number;
  readonly at?: string;
  readonly zone?: string;
  readonly missed?: "skip" | "run_once";
  readonly overlap?: "skip" | "queue" | "allow";
  readonly agent?: string;
  readonly project?: string;
}
const settingsFlags = {
  ...clientFlags,
  name: textFlag("Name of the schedule, by default the first line of the text"),
  cron: textFlag("Times as a cron expression", "CRON"),
  every: countFlag("Seconds between two tasks"),
  at: textFlag("One time, as in RFC 3339", "TIME"),
  zone: textFlag("Time zone of the cron expression, UTC by default", "ZONE"),
  missed: choiceFlag("What to do about times that were missed", ["skip", "run_once"]),
  overlap: choiceFlag("What to do while an earlier task has not ended", ["skip", "queue", "allow"]),
  agent: textFlag("Profile of the agent", "PROFILE"),
  project: textFlag("Project that the tasks join", "ID"),
  ...ruleFlags,
} as const;

/** The settings that flags name, without those of its tasks. */
const settingsOf = ({ name, cron, every, at, zone, missed, overlap }: SettingsFlags) => ({
  ...defined({ name, cron, interval_seconds: every, at, time_zone: zone, missed, overlap }),
});

/** The settings of its tasks that flags name, without their rules. */
const taskOf = ({ agent, project }: SettingsFlags) => ({
  ...defined({ agent_profile: agent, project_id: project }),
});

const writeSchedule = (cli: Cli, schedule: Schedule): void =>
  cli.print.result(schedule, `${schedule.id}\t${timingOf(schedule)}\tnext ${timeText(schedule.next_run_at)}`);

const create = command({
  brief: "Create a schedule, which creates tasks at its times",
  examples: [
    'atp schedule create "Summarise the news" --cron "0 8 * * 1-5" --zone Europe/Berlin --name News',
    'atp schedule create "Check the queue" --every 3600 --allow "web_fetch:queue.example.com"',
  ],
  parameters: {
    flags: settingsFlags,
    positional: exactly(argument("Text of the first message of each task", "TEXT")),
  },
  run: async (cli: Cli, flags: SettingsFlags, text: string) => {
    const task = { message: { content: text }, ...taskOf(flags), ...rulesOf(flags) };
    const name = text.trim().split("\n", 1)[0]?.slice(0, 80);
    const settings = { task, ...defined({ name }), ...settingsOf(flags) };
    const { schedule } = await cli.client().call("schedule.create", { schedule: settings });
    writeSchedule(cli, schedule);
  },
});

const scheduleId = exactly(argument("Id of the schedule", "ID"));

const show = command({
  brief: "Show a schedule",
  examples: ["atp schedule show 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: scheduleId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const { schedule } = await cli.client().call("schedule.detail", { schedule_id: id });
    cli.print.facts(schedule, {
      id: schedule.id,
      name: schedule.name,
      status: schedule.pause_reason ? `${schedule.status} (${schedule.pause_reason})` : schedule.status,
      times: timingOf(schedule),
      rules: rulesText(schedule.task?.permissions),
      next: timeText(schedule.next_run_at),
      last: timeText(schedule.last_run_at),
      "last task": schedule.last_task_id,
      "last error": schedule.last_error,
    });
  },
});

interface UpdateFlags extends SettingsFlags, RuleEditFlags {
  readonly text?: string;
}
const update = command({
  brief: "Change a schedule; what is not named stays",
  examples: [
    'atp schedule update 5uB2nCw8rVtY1kLmQe7XhA --cron "0 9 * * 1-5"',
    "atp schedule update 5uB2nCw8rVtY1kLmQe7XhA --every 600",
  ],
  about:
    "A new time replaces the former one, and --allow, --ask and --deny replace all rules. Tasks that exist stay as they are.",
  parameters: {
    flags: {
      ...settingsFlags,
      ...ruleEditFlags,
      text: textFlag("New text of the first message of each task; it has no files then"),
    },
    positional: scheduleId,
  },
  run: async (cli: Cli, flags: UpdateFlags, id: string) => {
    needChange(flags);
    const client = cli.client();
    const { permissions, clear_permissions } = ruleEditOf(flags);
    const changes = {
      ...taskOf(flags),
      ...defined({ permissions: clear_permissions ? [] : permissions }),
      ...(flags.text === undefined ? {} : { message: { content: flags.text } }),
    };
    const task = Object.keys(changes).length === 0 ? {} : { task: await changedTask(client, id, changes) };
    const { schedule } = await client.call("schedule.update", {
      schedule_id: id,
      schedule: { ...settingsOf(flags), ...task },
    });
    writeSchedule(cli, schedule);
  },
});

/** The tasks that the schedule creates, with changes: the API replaces the task of a schedule as a whole. */
async function changedTask(
  client: Client,
  id: string,
  changes: Partial<CreateTaskRequest>,
): Promise<CreateTaskRequest> {
  const { schedule } = await client.call("schedule.detail", { schedule_id: id });
  return { ...schedule.task, message: schedule.task?.message ?? { content: "" }, ...changes };
}

const pause = command({
  brief: "Pause a schedule",
  examples: ["atp schedule pause 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: scheduleId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(await cli.client().call("schedule.pause", { schedule_id: id }), id);
  },
});

const resume = command({
  brief: "Resume a paused schedule",
  examples: ["atp schedule resume 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: scheduleId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(await cli.client().call("schedule.resume", { schedule_id: id }), id);
  },
});

const runNow = command({
  brief: "Create a task of a schedule now",
  examples: ["atp schedule run 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: scheduleId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const answer = await cli.client().call("schedule.runNow", { schedule_id: id });
    cli.print.result(answer, answer.task_id);
  },
});

const remove = command({
  brief: "Delete a schedule",
  examples: ["atp schedule delete 5uB2nCw8rVtY1kLmQe7XhA"],
  parameters: { flags: clientFlags, positional: scheduleId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(
      { schedule_id: id, ...(await cli.client().call("schedule.delete", { schedule_id: id })) },
      id,
    );
  },
});

export const scheduleRoutes = buildRouteMap({
  docs: { brief: "Tasks that start at set times" },
  routes: { list, create, show, update, pause, resume, run: runNow, delete: remove },
});
