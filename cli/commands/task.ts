import { buildRouteMap } from "@stricli/core";
import {
  type CreateTask,
  isQuestion,
  type PermissionLevel,
  type Task,
} from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { UsageError } from "../frame/failures.ts";
import { needChange, parseObject, parsePairs } from "../frame/json-input.ts";
import {
  argument,
  type ClientFlags,
  choiceFlag,
  countFlag,
  exactly,
  switchFlag,
  textFlag,
  textsFlag,
} from "../frame/parameters.ts";
import { timeText } from "../frame/print.ts";
import { confirmCommand, shownAct } from "../watch/act.ts";
import { follow } from "../watch/follow.ts";
import { plainView } from "../watch/plain-view.ts";
import {
  type RuleEditFlags,
  type RuleFlags,
  ruleEditFlags,
  ruleEditOf,
  ruleFlags,
  rulesOf,
  rulesText,
} from "./rules.ts";
import { answer, confirm, fileFlag, messageOf, send, taskId } from "./task-messages.ts";

const audiences = ["private", "team", "public"] as const;
const statuses = ["running", "waiting", "stopped", "error"] as const;

/** The facts of a task, as `task show` writes them. */
const factsOf = (task: Task) => ({
  id: task.id,
  title: task.title,
  status: task.outcome ? `${task.status} (${task.outcome})` : task.status,
  state: task.brief,
  "waits for": task.status_detail?.waiting_description,
  plan: task.plan_progress && `${task.plan_progress.done} of ${task.plan_progress.total} done`,
  profile: task.agent_profile,
  project: task.project_id,
  credits: task.credit_usage,
  created: timeText(task.created_at),
  updated: timeText(task.updated_at),
  page: task.task_url,
});

/** The rules that hold for a task, by their source. */
const rulesIn = (levels: readonly PermissionLevel[] = []) =>
  Object.fromEntries(levels.map(({ source, rules }) => [`${source} rules`, rulesText(rules)]));

interface CreateFlags extends ClientFlags, RuleFlags {
  readonly watch?: boolean;
  readonly file?: readonly string[];
  readonly title?: string;
  readonly agent?: string;
  readonly project?: string;
  readonly label?: readonly string[];
  readonly schema?: string;
  readonly interactive?: boolean;
}
const create = command({
  brief: "Create a task",
  examples: [
    'atp task create "Compare the three offers" --file offers.pdf --watch',
    "git diff | atp task create - --title Review",
    'atp task create "Sum of q3.csv" --file q3.csv --label quarter=q3 --json',
    'atp task create "Update the dependencies" --allow "bash:npm *" --deny "connector.*"',
  ],
  parameters: {
    flags: {
      ...clientFlags,
      watch: switchFlag("Follow the task until it finishes, fails or waits"),
      file: fileFlag,
      title: textFlag("Title; by default made from the text"),
      agent: textFlag("Profile of the agent", "PROFILE"),
      project: textFlag("Project that the task joins", "ID"),
      label: textsFlag("Label of the task; may be given several times", "NAME=VALUE"),
      schema: textFlag("JSON Schema of the structured output", "JSON"),
      ...ruleFlags,
      interactive: switchFlag("Let the agent ask questions; --watch on a terminal does so too"),
    },
    aliases: { w: "watch", f: "file" },
    positional: exactly(argument("Text of the first message; - reads standard input", "TEXT")),
  },
  run: async (cli: Cli, flags: CreateFlags, text: string) => {
    const client = cli.client();
    const {
      title,
      agent,
      project,
      label = [],
      schema,
      watch = false,
      interactive = watch && cli.print.isTerminal,
    } = flags;
    const request: CreateTask = {
      message: await messageOf(cli, client, text, flags.file ?? []),
      ...defined({ title, agent_profile: agent, project_id: project }),
      ...(label.length === 0 ? {} : { metadata: parsePairs("--label", label) }),
      ...(schema === undefined ? {} : { structured_output_schema: parseObject("--schema", schema) }),
      ...(interactive ? { interactive_mode: true } : {}),
      ...rulesOf(flags),
    };
    const { message, ...more } = request;
    const content = typeof message === "string" ? { content: message } : message;
    const created = await client.call("task.create", { ...more, message: content });
    if (!watch) return cli.print.result(created, `${created.task_id}\t${created.task_url}`);
    if (cli.print.isJson) cli.print.json(created);
    cli.print.note(`${created.task_id}  ${created.task_url}`);
    await follow(cli, client, created.task_id);
  },
});

interface ListFlags extends ClientFlags {
  readonly limit?: number;
  readonly status?: (typeof statuses)[number];
  readonly project?: string;
  readonly search?: string;
  readonly label?: readonly string[];
}
const list = command({
  brief: "List tasks, newest first",
  examples: ["atp task list --status waiting", "atp task list --search invoice --limit 100 --json"],
  parameters: {
    flags: {
      ...clientFlags,
      limit: countFlag("Number of tasks, 20 by default"),
      status: choiceFlag("Only tasks in this state", statuses),
      project: textFlag("Only tasks of this project", "ID"),
      search: textFlag("Only tasks with all of these words", "WORDS"),
      label: textsFlag("Only tasks with this label", "NAME=VALUE"),
    },
  },
  run: async (cli: Cli, { limit = 20, status, project, search, label = [] }: ListFlags) => {
    const filters = {
      limit: Math.min(limit, 100),
      ...defined({ status, project_id: project, query: search }),
      ...(label.length === 0 ? {} : { metadata: parsePairs("--label", label) }),
    };
    const tasks = await cli.client().tasks.list(filters).all(limit);
    const columns = [
      { title: "ID", text: ({ id }: Task) => id },
      { title: "STATUS", text: (task: Task) => task.status },
      { title: "CREATED", text: (task: Task) => timeText(task.created_at) },
      { title: "TITLE", text: ({ title }: Task) => title },
    ];
    cli.print.list(tasks, columns, "There are no such tasks.");
  },
});

interface ShowFlags extends ClientFlags {
  readonly events?: boolean;
}
const show = command({
  brief: "Show a task",
  examples: ["atp task show 2hVt4kHwYm3bQpXr8sLdFz --events"],
  parameters: {
    flags: { ...clientFlags, events: switchFlag("Also write its events, one a line") },
    positional: exactly(taskId),
  },
  run: async (cli: Cli, { events = false }: ShowFlags, id: string) => {
    const client = cli.client();
    const task = client.tasks.get(id);
    const { task: detail, permissions } = await client.call("task.detail", { task_id: id });
    if (cli.print.isJson)
      return cli.print.json(
        events ? { ...detail, events: await task.events({ verbose: true }).all() } : detail,
      );
    cli.print.facts(detail, { ...factsOf(detail), ...rulesIn(permissions) });
    const { status_detail: statusDetail } = detail;
    if (statusDetail && !isQuestion(statusDetail)) {
      const way = statusDetail.tool ? `\nDecide it with \`${confirmCommand(id, statusDetail)}\`.\n` : "";
      cli.context.process.stdout.write(`\n${shownAct(detail, statusDetail)}\n${way}`);
    }
    if (!events) return;
    const view = plainView((line) => void cli.context.process.stdout.write(`${line}\n`));
    for await (const event of task.events({ verbose: true })) view.show(event);
  },
});

interface WatchFlags extends ClientFlags {
  readonly follow?: boolean;
  readonly after?: number;
}
const watch = command({
  brief: "Follow a task until it finishes, fails or waits",
  examples: [
    "atp task watch 2hVt4kHwYm3bQpXr8sLdFz",
    "atp task watch 2hVt4kHwYm3bQpXr8sLdFz --json | jq .type",
  ],
  about:
    "On a terminal, questions and approvals are asked and answered in place. With --json each event is one line. The exit code is 0 only if the task finished, 1 if it failed or was stopped, and 3 if it waits for a person. Ctrl-C ends the view with exit code 130; the task continues.",
  parameters: {
    flags: {
      ...clientFlags,
      follow: switchFlag("Stay open across turns, until Ctrl-C; nothing is asked"),
      after: countFlag("Only events with a greater seq", 0),
    },
    positional: exactly(taskId),
  },
  run: async (cli: Cli, flags: WatchFlags, id: string) => {
    await follow(cli, cli.client(), id, { afterSeq: flags.after, staysOpen: flags.follow });
  },
});

interface UpdateFlags extends ClientFlags, RuleEditFlags {
  readonly title?: string;
  readonly project?: string;
  readonly label?: readonly string[];
  readonly share?: (typeof audiences)[number];
  readonly hide?: boolean;
  readonly list?: boolean;
}
const update = command({
  brief:
    "Change the title, the labels, the project, the audience or the rules of a task; what is not named stays",
  examples: [
    "atp task update 2hVt4kHwYm3bQpXr8sLdFz --title Offers --label quarter=q4",
    "atp task update 2hVt4kHwYm3bQpXr8sLdFz --share team",
    "atp task update 2hVt4kHwYm3bQpXr8sLdFz --deny bash",
  ],
  about: "--allow, --ask and --deny replace all rules that the task has itself.",
  parameters: {
    flags: {
      ...clientFlags,
      title: textFlag("New title"),
      project: textFlag("Project that the task moves to; an empty text takes it out of its project", "ID"),
      label: textsFlag(
        "Label to set, or to remove with an empty value; may be given several times",
        "NAME=VALUE",
      ),
      share: choiceFlag("Who can open the page of the shared task", audiences),
      hide: switchFlag("Leave it out of lists of tasks"),
      list: switchFlag("Show it in lists of tasks"),
      ...ruleEditFlags,
    },
    positional: exactly(taskId),
  },
  run: async (cli: Cli, flags: UpdateFlags, id: string) => {
    needChange(flags);
    const { title, project, label, share, hide = false, list: isListed = false } = flags;
    if (hide && isListed) throw new UsageError("give one of --hide and --list");
    const answer = await cli.client().call("task.update", {
      task_id: id,
      ...defined({ title, project_id: project }),
      ...(label === undefined ? {} : { metadata: parsePairs("--label", label) }),
      ...defined({ share_visibility: share }),
      ...(hide || isListed ? { enable_visible_in_task_list: isListed } : {}),
      ...ruleEditOf(flags),
    });
    cli.print.result(answer, answer.share_url === undefined ? id : `${id}\t${answer.share_url}`);
  },
});

const stop = command({
  brief: "Stop a running or waiting task",
  examples: ["atp task stop 2hVt4kHwYm3bQpXr8sLdFz"],
  parameters: { flags: clientFlags, positional: exactly(taskId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result({ task_id: id, ...(await cli.client().call("task.stop", { task_id: id })) }, id);
  },
});

interface DeleteFlags extends ClientFlags {
  readonly stop?: boolean;
}
const remove = command({
  brief: "Delete a task permanently",
  examples: ["atp task delete 2hVt4kHwYm3bQpXr8sLdFz --stop"],
  parameters: {
    flags: { ...clientFlags, stop: switchFlag("Stop it first, if it runs or waits") },
    positional: exactly(taskId),
  },
  run: async (cli: Cli, flags: DeleteFlags, id: string) => {
    cli.print.result(
      await cli.client().call("task.delete", { task_id: id, ...(flags.stop ? { stop: true } : {}) }),
      id,
    );
  },
});

const open = command({
  brief: "Open the page of a task in the browser",
  examples: ["atp task open 2hVt4kHwYm3bQpXr8sLdFz"],
  parameters: { flags: clientFlags, positional: exactly(taskId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const { task_url: taskUrl } = await cli.client().tasks.get(id).detail();
    cli.print.result({ url: taskUrl }, taskUrl);
    if (cli.print.isTerminal && !cli.print.isJson) await cli.context.openUrl(taskUrl);
  },
});

export const taskRoutes = buildRouteMap({
  docs: { brief: "Create, follow and decide tasks" },
  routes: { create, list, show, update, watch, send, answer, confirm, stop, delete: remove, open },
});
