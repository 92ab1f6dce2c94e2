import { Readable } from "node:stream";
import { runCli } from "../../cli/app.ts";
import type { CliContext } from "../../cli/frame/context.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { Person, Service } from "../support/service.ts";

/** The origins of the two installations, as their links have them. */
export const [sourceOrigin, targetOrigin] = ["https://source.test", "https://platform.test"];

/** `fetch` that finds both installations by their origins. */
export const fetchBetween =
  (
    source: Pick<Service, "url">,
    target: Pick<Service, "url">,
    fetching: typeof fetch = fetch,
  ): typeof fetch =>
  (input, init) =>
    fetching(String(input).replace(sourceOrigin, source.url).replace(targetOrigin, target.url), init);

/** What an import wrote, and its exit code. */
export interface Imported {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `atp import` of a key of the source into the account of a person of the target. */
export async function runImport(
  fetching: typeof fetch,
  {
    from = sourceOrigin,
    ...keys
  }: { readonly source: string; readonly target: string; readonly from?: string },
  ...flags: readonly string[]
): Promise<Imported> {
  const [out, err]: [string[], string[]] = [[], []];
  const context: CliContext = {
    fetch: fetching,
    openUrl: async () => false,
    onInterrupt: () => () => undefined,
    now: Date.now,
    sleep: async () => undefined,
    process: {
      stdout: { write: (text) => out.push(String(text)) },
      stderr: { write: (text) => err.push(String(text)) },
      env: { HOME: "/nowhere", ATP_URL: targetOrigin, ATP_KEY: keys.target, SOURCE_KEY: keys.source },
    },
    stdin: Readable.from([]),
  };
  const code = await runCli(["import", "--from", from, ...flags], context);
  return { code, out: out.join(""), err: err.join("") };
}

/** One event of every type, and of every form that a history has. */
export const everyEvent: readonly NewEvent[] = [
  { type: "user_message", payload: { content: "Compare the offers", messageType: "text" } },
  { type: "status_update", payload: { agentStatus: "running", brief: "Working on it" } },
  {
    type: "plan_update",
    payload: {
      steps: [
        { status: "done", title: "Read", startedAt: 1_700_000_000, endAt: 1_700_000_009 },
        { status: "todo", title: "Write" },
      ],
    },
  },
  { type: "new_plan_step", payload: { stepId: "s1", title: "Read" } },
  { type: "explanation", payload: { content: "There are three offers." } },
  {
    type: "tool_used",
    payload: {
      ...{
        tool: "browser",
        actionId: "a1",
        status: "success",
        brief: "Read a page",
        description: "All of it",
      },
      ...{
        message: { action: "Reading", param: "offers" },
        params: { url: "https://example.com", deep: { n: [1, null] } },
        result: ["ok", 2],
      },
    },
  },
  {
    type: "tool_used",
    payload: { tool: "terminal", actionId: "a2", status: "pending_confirmation", brief: "Run it" },
  },
  { type: "assistant_message", payload: { content: "One moment", deliveryKind: "progress" } },
  {
    type: "assistant_message",
    payload: {
      content: "Which one?",
      deliveryKind: "question",
      questionExpectation: { responseMethod: "send_message", options: ["A", "B"], selectionMode: "multiple" },
    },
  },
  {
    type: "status_update",
    payload: {
      ...{ agentStatus: "waiting", brief: "Waits" },
      statusDetail: {
        ...{ waitingForEventType: "terminalExecute", waitingDescription: "May I?" },
        confirmInputSchema: { type: "object", properties: { accept: { type: "boolean" } } },
      },
    },
  },
  { type: "user_stop", payload: {} },
  {
    type: "status_update",
    payload: { agentStatus: "stopped", brief: "Stopped by the user", description: "At once" },
  },
  { type: "error_message", payload: { errorType: "timeout", content: "The turn took too long" } },
  { type: "structured_output_result", payload: { success: true, value: { best: "B", price: 12.5 } } },
  { type: "structured_output_result", payload: { success: false, value: {}, error: "no price" } },
  { type: "status_update", payload: { agentStatus: "stopped", brief: "Finished" } },
];

/** Writes a task with events as a run would have left it. */
export async function putSourceTask(
  { store }: Pick<Service, "store">,
  { accountId, spaceId }: Pick<Person, "accountId" | "spaceId">,
  events: readonly NewEvent[],
  more: Partial<Task> = {},
): Promise<string> {
  const task = {
    ...idleTask(systemIds.short(), { accountId, spaceId }, systemClock.now() - 86_400_000),
    title: "Offers",
    agentProfile: "manus-1.6",
  };
  const updatedAt = more.createdAt ?? task.createdAt;
  await store.change((tx) => tx.tasks.insert({ ...task, updatedAt, ...more }, events));
  return more.id ?? task.id;
}

/** Uploads a file and returns its id. */
export async function putFile(
  person: Person,
  service: Pick<Service, "url">,
  filename: string,
  bytes: string,
): Promise<string> {
  const { body } = await person.v2("file.upload", { filename });
  const url = String(body["upload_url"]).replace(/^https:\/\/[^/]+/, service.url);
  await fetch(url, { method: "PUT", body: bytes });
  return body["file"].id;
}

/** A task with everything that differs by nature removed: ids, links, cost, credential, share and origin. */
export function comparable(task: Readonly<Record<string, unknown>>): object {
  const {
    id,
    task_url,
    created_by,
    created_by_api_key,
    credit_usage,
    share_visibility,
    imported_from,
    project_id,
    ...rest
  } = task;
  const { parent_task_id, root_task_id, status_detail, ...same } = rest;
  return { ...same, project: project_id !== undefined, parent: parent_task_id !== undefined };
}

/** Events without ids and links. */
export const comparableEvents = (events: readonly object[]): unknown =>
  JSON.parse(
    JSON.stringify(events, (name, value) =>
      name === "id" || name === "waiting_for_event_id" || name === "url" ? undefined : value,
    ),
  );

/** All events of a task, in order. */
export async function eventsOf(
  person: Person,
  taskId: string,
): Promise<readonly (Readonly<Record<string, unknown>> & object)[]> {
  const { body } = await person.v2("task.listMessages", {
    task_id: taskId,
    limit: 200,
    order: "asc",
    verbose: true,
  });
  return body["messages"];
}

/** All tasks of a person, the oldest first. */
export async function tasksOf(person: Person): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { body } = await person.v2("task.list", { limit: 100, order: "asc" });
  return body["data"];
}
