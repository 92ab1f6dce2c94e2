import type { Scope } from "../accounts/caller.ts";
import type { Action } from "../actions/action.ts";
import { inputSchema, kindOf } from "../actions/kind.ts";
import { defined } from "../defined.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StructuredResult } from "../structured-output/structured-output.ts";
import { currentTraceparent } from "../trace.ts";
import type { EventPayloads, NewEvent } from "./event.ts";
import type { UserInput } from "./message.ts";
import type { Task, TaskChanges, TaskStatus } from "./task.ts";

/** A task without events that does not run. It belongs to the trace of the current work. */
export const idleTask = (id: string, { accountId, spaceId }: Scope, now: number): Task => ({
  id,
  accountId,
  spaceId,
  clientId: null,
  apiKeyId: null,
  projectId: null,
  agentId: null,
  scheduleId: null,
  type: "standard",
  title: "",
  status: "stopped",
  shareVisibility: "private",
  hidden: false,
  agentProfile: "",
  locale: "en",
  interactive: false,
  references: [],
  credits: 0,
  metadata: {},
  createdAt: now,
  updatedAt: now,
  lastMessageAt: now,
  lastSeq: 0,
  lastTimestamp: 0,
  messageSeq: 0,
  answeredSeq: 0,
  consumedSeq: 0,
  readSeq: 0,
  fence: 0,
  nodeId: null,
  requiredNodeId: null,
  claims: 0,
  idleClaims: 0,
  queuedAt: now,
  lastClaimedAt: 0,
  hasOutputSchema: false,
  hasMemoOrRequest: false,
  allowed: [],
  permissions: [],
  untrusted: false,
  parentId: null,
  rootId: null,
  depth: 0,
  parentTurn: 0,
  subtasks: 0,
  importedFrom: null,
  traceparent: currentTraceparent(),
});

/**
 * The life of a task (spec/api.md 9.1):
 *
 *               create / sendMessage                  agent asks (ask, confirm)
 *      ──────────────────▶ running ───────────────────────────▶ waiting
 *                           │  ▲ ▲                                 │
 *                    finish │  │ └── sendMessage, confirmAction ───┘
 *                 task.stop ▼  │ sendMessage
 *                        stopped ◀── task.stop (from running or waiting)
 *                                       error ◀── agent failed
 *
 * A task that waits for its subtasks stays `running`.
 *
 * Each step here is pure: the changes of the row, and the events that report them.
 */
export interface Step {
  readonly set: TaskChanges;
  readonly events: readonly NewEvent[];
}

const status = (agentStatus: TaskStatus, brief: string): NewEvent => ({
  type: "status_update",
  payload: { agentStatus, brief },
});

/** A new task whose first turn a process has claimed, to be inserted with these events. */
export const claimedTask = (task: Task, nodeId: string, now: number, events: readonly NewEvent[]): Task => ({
  ...task,
  nodeId,
  fence: task.fence + 1,
  claims: 1,
  lastClaimedAt: now,
  consumedSeq: task.lastSeq + events.length,
});

/** The parts of a user's message other than its text. */
type MessageExtras = Pick<UserInput, "attachments" | "spoken"> & {
  readonly delivery?: EventPayloads["user_message"]["delivery"];
};

const userMessage = (
  content: string,
  { attachments = [], spoken = false, delivery }: MessageExtras,
): NewEvent => ({
  type: "user_message",
  payload: {
    content,
    messageType: spoken ? "voice" : "text",
    ...(attachments.length === 0 ? {} : { attachments }),
    ...defined({ delivery }),
  },
});

export const firstEvents = (content: string, extras: MessageExtras = {}): readonly NewEvent[] => [
  userMessage(content, extras),
  status("running", "Working on it"),
];

/** A message to a running task: the agent reads it while it works, or the next turn answers it. */
export const queueMessage = (content: string, extras: MessageExtras = {}): Step => ({
  set: { addsMessage: true },
  events: [userMessage(content, extras)],
});

/** A message to a task that does not run: the task waits for a runner again. */
export const resume = (content: string, now: number, extras: MessageExtras = {}): Step => ({
  set: {
    addsMessage: true,
    status: "running",
    nodeId: null,
    toBrowser: true,
    queuedAt: now,
    claims: 0,
    idleClaims: 0,
  },
  events: firstEvents(content, extras),
});

/** The user's stop: the runner may write no more, and earlier messages are not taken up again. */
export const stop: Step = {
  set: {
    status: "stopped",
    nodeId: null,
    requiredNodeId: null,
    raiseFence: true,
    beginTurn: true,
    memo: null,
  },
  events: [{ type: "user_stop", payload: {} }, status("stopped", "Stopped by the user")],
};

export type Wait = Pick<Action, "kind" | "variant" | "actionId">;

export interface Ending extends Step {
  /** Events before the status. They are written also when another turn follows. */
  readonly messages: readonly NewEvent[];
  /** The memo of a turn that follows at once; null for none. */
  readonly memo: Json;
  readonly wait?: Wait;
}

/**
 * The agent has finished. The structured result follows the status, and disarms the schema (spec/api.md 9.5).
 */
export function finish(content: string, result?: StructuredResult): Ending {
  const messages: readonly NewEvent[] = [
    { type: "assistant_message", payload: { content, deliveryKind: "result" } },
  ];
  const set: TaskChanges = { status: "stopped", nodeId: null, requiredNodeId: null, memo: null };
  const events = [...messages, status("stopped", "Done")];
  if (!result) return { messages: messages, memo: null, set, events };
  const resultEvent: NewEvent = { type: "structured_output_result", payload: result };
  return {
    messages: messages,
    memo: null,
    set: { ...set, outputSchema: null },
    events: [...events, resultEvent],
  };
}

export function fail(errorType: string, content: string): Ending {
  const messages: readonly NewEvent[] = [{ type: "error_message", payload: { errorType, content } }];
  return {
    messages: messages,
    memo: null,
    set: { status: "error", nodeId: null, requiredNodeId: null, memo: null },
    events: [...messages, status("error", "Failed")],
  };
}

/**
 * The agent asks a question: the next message is the answer, and the turn that it begins receives the memo.
 */
export function ask(content: string, options: readonly string[], memo: Json, actionId: string): Ending {
  const questionExpectation = { responseMethod: "send_message", options, selectionMode: "single" } as const;
  const messages: readonly NewEvent[] = [
    { type: "assistant_message", payload: { content, deliveryKind: "question", questionExpectation } },
  ];
  const wait: Wait = { kind: "messageAskUser", variant: "", actionId };
  return {
    messages: messages,
    memo,
    wait,
    set: { status: "waiting", nodeId: null, memo },
    events: [...messages, waitingStatus(wait, "Waiting for an answer", content)],
  };
}

/** An action of the agent that needs the user's approval. */
export interface Approval extends Wait {
  /** The tool that waits; absent: that of its kind. */
  readonly tool?: string | undefined;
  readonly description?: string | undefined;
  readonly params?: JsonObject | undefined;
  /** The memo for the run that has the decision; absent: the turn keeps its memo. */
  readonly memo?: Json | undefined;
}

/**
 * The agent waits for an approval. The same turn continues after it, so its memo stays, unless the agent
 * gives a new one.
 */
export function confirm(approval: Approval): Ending {
  const { kind, variant, actionId, description = kindOf(kind).description } = approval;
  const events = [
    toolUsed(approval, "pending_confirmation", "Waiting for approval"),
    waitingStatus({ kind, variant, actionId }, "Needs approval", description),
  ];
  const set: TaskChanges = { status: "waiting", nodeId: null, ...memoIn(approval) };
  return { messages: [], memo: null, wait: { kind, variant, actionId }, set, events };
}

/** An action that an earlier decision of the task allows: it needs no approval (spec/decisions.md 15). */
export const allowedAction = (approval: Approval): Step => ({
  set: memoIn(approval),
  events: [toolUsed(approval, "success", "Allowed before")],
});

const memoIn = ({ memo }: Approval): Pick<TaskChanges, "memo"> => (memo === undefined ? {} : { memo });

/**
 * The user has decided, and the turn continues (spec/decisions.md 19a). `shown` is the input without secrets.
 */
export function continueAfterDecision(
  action: Pick<Approval, "kind" | "variant" | "actionId" | "tool">,
  accepted: boolean,
  shown: JsonObject,
  now: number,
): Step {
  return {
    set: { status: "running", nodeId: null, toBrowser: true, queuedAt: now },
    events: [
      { ...toolUsed(action, accepted ? "success" : "error", accepted ? "Accepted" : "Refused", shown) },
      status("running", accepted ? "Continues with the approval" : "Continues without the approval"),
    ],
  };
}

/** The `node_id` of a task that waits for its subtasks: no process runs it, and it is not in the queue. */
export const waitingNode = "subtasks";

/**
 * The agent waits for subtasks: the task keeps running, without a runner. The same turn continues after the
 * wait.
 */
export const waitForSubtasks = (brief: string): Step => ({
  set: { nodeId: waitingNode, raiseFence: true },
  events: [status("running", brief)],
});

/** The wait is over, and the turn continues at its next claim. */
export const continueAfterWait = (brief: string, now: number): Step => ({
  set: { nodeId: null, toBrowser: true, queuedAt: now },
  events: [status("running", brief)],
});

/** A wait that is over when it begins: the run continues. */
export const passWait = (brief: string): Step => ({ set: {}, events: [status("running", brief)] });

function toolUsed(
  { kind, tool, actionId, description, params }: Approval,
  toolStatus: EventPayloads["tool_used"]["status"],
  brief: string,
  result?: Json,
): NewEvent {
  const details = {
    ...defined({ description }),
    ...(params ? { params } : {}),
    ...defined({ result }),
  };
  return {
    type: "tool_used",
    payload: { tool: tool ?? kindOf(kind).tool ?? kind, actionId, status: toolStatus, brief, ...details },
  };
}

/** The status event of a waiting task. It must directly follow the event that the task waits for. */
function waitingStatus({ kind, variant }: Wait, brief: string, description: string): NewEvent {
  const schema = inputSchema(kind, variant);
  const statusDetail = {
    waitingForEventType: kind,
    waitingDescription: description,
    ...defined({ confirmInputSchema: schema }),
  };
  return { type: "status_update", payload: { agentStatus: "waiting", brief, statusDetail } };
}
