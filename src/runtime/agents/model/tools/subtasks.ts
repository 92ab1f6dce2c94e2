import { createHash } from "node:crypto";
import { defined } from "../../../../core/defined.ts";
import { invalidArgument } from "../../../../core/failure.ts";
import { shortIdFrom } from "../../../../core/ids.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import { currentName, isBuiltIn } from "../../../../core/permissions/tool-names.ts";
import { checkSchema } from "../../../../core/structured-output/structured-output.ts";
import type { References } from "../../../../core/tasks/message.ts";
import type { Profiles } from "../../../../core/tasks/profile.ts";
import {
  hasEnded,
  type WaitMode,
  type WaitReason,
  waitedMax,
  waitMsMax,
} from "../../../../core/tasks/subtask-wait.ts";
import type { SubtaskResult, SubtaskState } from "../../../../core/tasks/subtasks.ts";
import type { TakenFile } from "../../../../core/workspaces/workspace.ts";
import type { Turn } from "../../../agent.ts";
import type { SubtaskRequest, WaitedSubtask } from "../../../agent-subtasks.ts";
import { head, type Tool, type ToolResult } from "../tool.ts";
import { createTool, errorResult, successResult } from "./create-tool.ts";
import { readTask, type TaskReading, taskReadingSchemas, taskReadingUse } from "./reading/task.ts";

interface Input extends TaskReading {
  readonly task_id: string;
}

/** Reads tasks that this task refers to (spec/api.md 9.8). A task that may not be opened is not found. */
export const browseTask = ({ ids }: References): Tool =>
  createTool<Input>({
    name: "browse_task",
    description: `Reads another task that the user has referred to. Those are: ${ids.join(", ")}. ${taskReadingUse}`,
    properties: taskReadingSchemas,
    required: ["task_id", "action"],
    reads: () => true,
    inParts: true,
    isForeign: true,
    brief: ({ action }) => `${action === "search" ? "Search" : "Read"} a referenced task`,
    async use({ task_id: taskId, ...reading }, { turn }) {
      const task = await turn.references.open(taskId);
      return task ? successResult(await readTask(task, reading)) : errorResult("task not found");
    },
  });

const promptMax = 20_000;

/**
 * The tools that begin subtasks and wait for them; not in a subtask that is three deep (spec/api.md 8.80).
 *
 * @param profiles those that the owner may use.
 */
export const subtaskTools =
  (profiles: Pick<Profiles, "parse">) =>
  ({ subtask, subtasks, waitFor }: Pick<Turn, "subtask" | "subtasks" | "waitFor">): readonly Tool[] =>
    subtask && subtasks && waitFor ? [subagent(subtask, profiles), wait(waitFor, subtasks)] : [];

interface SubagentInput {
  readonly prompt: string;
  readonly title?: string;
  readonly files?: readonly string[];
  readonly schema?: JsonObject;
  readonly profile?: string;
  readonly tools?: readonly string[];
  readonly connectors?: readonly string[];
}

const namesSchema: JsonObject = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 1_000 },
  maxItems: 100,
};

const subagent = (begin: NonNullable<Turn["subtask"]>, profiles: Pick<Profiles, "parse">): Tool =>
  createTool<SubagentInput>({
    name: "subagent",
    description:
      "Begins a subtask: independent work at the same time, which the user can follow. It knows nothing of this conversation: the prompt has all that it needs, files of your workspace are copied to its inputs/. With the schema of an object it returns a value too. Begin all that can run at once, then use wait if your answer needs the results: you are not woken later.",
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: promptMax },
      title: { type: "string", minLength: 1, maxLength: 200 },
      files: namesSchema,
      schema: { type: "object" },
      profile: { type: "string", maxLength: 100 },
      tools: { ...namesSchema, description: "Default: yours." },
      connectors: { ...namesSchema, description: "Default: none." },
    },
    required: ["prompt"],
    brief: ({ prompt, title }) => `Begin a subtask: ${title ?? prompt}`,
    async use({ prompt, title, files, schema, ...limits }, { turn, tools, callId }) {
      const request = {
        message: prompt,
        ...defined({ title, files, outputSchema: schema && checkSchema(schema) }),
        ...limitsOf(limits, turn, tools, profiles),
      };
      const id = shortIdFrom(createHash("sha256").update(`subtask ${callId}`).digest());
      const subtask = await begin(request, id);
      return { kind: "result", value: { task_id: subtask.id, status: "running" }, subtask };
    },
  });

/**
 * The profile, the tools and the connectors of a subtask. With another profile it has at most the tools of
 * this run, also of those that the model of this run is without.
 *
 * @param own the tools of this run.
 * @throws Failure `invalid_argument` for a profile, a tool or a connector that it cannot have.
 */
function limitsOf(
  { profile, tools, connectors }: Pick<SubagentInput, "profile" | "tools" | "connectors">,
  turn: Turn,
  own: readonly string[],
  profiles: Pick<Profiles, "parse">,
): Pick<SubtaskRequest, "profile" | "tools" | "connectors"> {
  const named = tools?.map((name, at) => {
    const now = currentName(name);
    if (own.includes(now) && isBuiltIn(now)) return now;
    throw invalidArgument(`tools[${at}]`, `${name} is not one of your tools`);
  });
  const uids = connectors?.map((name, at) => {
    const found = turn.connectors.find((each) => each.name === name || each.uid === name);
    if (found) return found.uid;
    throw invalidArgument(`connectors[${at}]`, `${name} is not a connector of this task`);
  });
  const other = profiles.parse(profile, turn.profile);
  const isOther = other !== turn.profile;
  return defined({
    ...(isOther && { profile: other }),
    tools: named ?? (isOther ? own.filter(isBuiltIn) : undefined),
    connectors: uids,
  });
}

/** The name of the tool that waits. */
export const waitName = "wait";

interface WaitInput {
  readonly task_ids?: readonly string[];
  readonly mode?: WaitMode;
  readonly timeout_seconds?: number;
}

/** Whether a use only looks, without a wait. */
const looks = (input: { readonly timeout_seconds?: unknown }): boolean => input.timeout_seconds === 0;

const wait = (waitFor: NonNullable<Turn["waitFor"]>, subtasks: NonNullable<Turn["subtasks"]>): Tool =>
  createTool<WaitInput>({
    name: waitName,
    description:
      "Waits until subtasks have ended, and returns their states, answers, values, errors and files. `waiting` means for the user, and is no end. A message of the user ends it too. With timeout_seconds 0 it only looks: without ids at the newest 20, with one id also at its messages.",
    properties: {
      task_ids: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 64 },
        maxItems: waitedMax,
        uniqueItems: true,
      },
      mode: { type: "string", enum: ["all", "any"] },
      timeout_seconds: { type: "integer", minimum: 0, maximum: waitMsMax / 1000 },
    },
    required: [],
    isForeign: "subtasks",
    reads: (input) => looks(input) && input["task_ids"] === undefined,
    brief: ({ mode, ...input }) =>
      looks(input) ? "Look at the subtasks" : mode === "any" ? "Wait for a subtask" : "Wait for the subtasks",
    async use({ task_ids: taskIds, mode = "all", timeout_seconds: timeoutSeconds }, { waitsBefore }) {
      if (timeoutSeconds === 0) return look(subtasks, taskIds);
      const limit = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
      const wait = await waitFor({ mode, ...limit, ...(taskIds ? { subtasks: taskIds } : {}) }, waitsBefore);
      if ("kind" in wait) return { kind: "end", outcome: wait };
      return successResult(waitedStates(wait.reason, wait.subtasks, await takeFrom(subtasks, wait.subtasks)));
    },
  });

type Subtasks = NonNullable<Turn["subtasks"]>;

/** Shows subtasks as they are: the newest ones, or those of the ids; one alone with its messages. */
async function look(subtasks: Subtasks, taskIds: readonly string[] | undefined): Promise<ToolResult> {
  if (!taskIds) return successResult({ subtasks: subtaskStates(await subtasks.list()) });
  const found: SubtaskResult[] = [];
  for (const id of taskIds.slice(0, 20)) {
    const result = await subtasks.result(id);
    if (!result) return errorResult(`task_ids: ${id} is not a subtask of this task`);
    found.push(result);
  }
  const states = stateList(found, await takeFrom(subtasks, found));
  const [first, ...more] = states;
  const only = first && more.length === 0 ? await subtasks.open(taskIds[0] ?? "") : null;
  if (!only) return successResult({ subtasks: states });
  return successResult({ subtasks: [{ ...first, messages: await readTask(only, { action: "read" }) }] });
}

/** The files that subtasks have delivered, by their ids. */
type Taken = ReadonlyMap<string, readonly TakenFile[]>;

/** Copies the files that ended subtasks have delivered into the workspace. */
async function takeFrom(
  { take }: Subtasks,
  found: readonly Pick<SubtaskResult, "id" | "status">[],
): Promise<Taken> {
  const taken = new Map<string, readonly TakenFile[]>();
  for (const { id, status } of found) if (hasEnded(status)) taken.set(id, await take(id));
  return taken;
}

/** The most characters of all messages in the result of a wait: the result of a tool has at most 32,000. */
const saidMax = 24_000;

/** The results of a wait, for a model. */
export const waitedStates = (
  reason: WaitReason,
  subtasks: readonly WaitedSubtask[],
  taken: Taken = new Map(),
): Json => ({ reason, subtasks: stateList(subtasks, taken) });

const stateList = (found: readonly Omit<SubtaskResult, "attachments">[], taken: Taken): JsonObject[] =>
  found.map(({ id, title, status, lastMessage, output }) => {
    const said = head(lastMessage, Math.floor(saidMax / found.length));
    const files = taken.get(id) ?? [];
    return {
      task_id: id,
      title,
      status,
      ...(said === "" ? {} : status === "error" ? { error: said } : { said_last: said }),
      ...defined({ output }),
      ...(files.length === 0
        ? {}
        : { files: files.map(({ path, missing }) => (missing ? { path, missing } : path)) }),
    };
  });

export const subtaskStates = (states: readonly SubtaskState[]): Json =>
  states.map(({ id, title, status, createdAt, lastMessage }) => ({
    task_id: id,
    title,
    status,
    begun_at: new Date(createdAt).toISOString(),
    ...(lastMessage === "" ? {} : { said_last: lastMessage }),
  }));
