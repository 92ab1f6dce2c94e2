import type { Action } from "../actions/action.ts";
import { inputSchema, kindOf } from "../actions/kind.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StructuredResult } from "../structured-output/result.ts";
import type { EventPayloads, NewEvent } from "./event.ts";
import type { UserInput } from "./message.ts";
import type { TaskChanges, TaskStatus } from "./task.ts";

/**
 * The life of a task (contract/v2.md 9.1):
 *
 *               create / sendMessage                  agent asks (ask, confirm)
 *      ──────────────────▶ running ───────────────────────────▶ waiting
 *                           │  ▲ ▲                                 │
 *                    finish │  │ └── sendMessage, confirmAction ───┘
 *                 task.stop ▼  │ sendMessage
 *                        stopped ◀── task.stop (from running or waiting)
 *                                       error ◀── agent failed
 *
 * Each step here is pure: what changes, and the events that tell of it.
 */
export interface Step {
  readonly set: TaskChanges;
  readonly events: readonly NewEvent[];
}

const status = (agentStatus: TaskStatus, brief: string): NewEvent => ({ type: "status_update", payload: { agentStatus, brief } });

/** What comes with the text of a user's message. */
type Brought = Pick<UserInput, "attachments" | "spoken">;

const userMessage = (content: string, { attachments = [], spoken = false }: Brought): NewEvent => ({
  type: "user_message",
  payload: { content, messageType: spoken ? "voice" : "text", ...(attachments.length === 0 ? {} : { attachments }) },
});

/** The first events of a task. */
export const begin = (content: string, brought: Brought = {}): readonly NewEvent[] => [
  userMessage(content, brought),
  status("running", "Working on it"),
];

/** A message to a task that runs: the turn after this one will answer it. */
export const queueMessage = (content: string, brought: Brought = {}): Step => ({
  set: { addsMessage: true },
  events: [userMessage(content, brought)],
});

/** A message to a task that does not run: it waits for a runner again. */
export const resume = (content: string, now: number, brought: Brought = {}): Step => ({
  set: { addsMessage: true, status: "running", nodeId: null, toBrowser: true, queuedAt: now, claims: 0, idleClaims: 0 },
  events: begin(content, brought),
});

/** The user's stop: whoever ran it may write no more, and what was asked before is not taken up again. */
export const stop: Step = {
  set: { status: "stopped", nodeId: null, wantsNode: null, raiseFence: true, beginTurn: true, memo: null },
  events: [{ type: "user_stop", payload: {} }, status("stopped", "Stopped by the user")],
};

/** What a task is to wait for. */
export type Wait = Pick<Action, "kind" | "variant" | "actionId">;

/** What a turn ends with, by how it ended. */
export interface Ending extends Step {
  /** Goes before the status, and stays where the turn is followed by another. */
  readonly said: readonly NewEvent[];
  /** What a turn that follows at once is given; null for nothing. */
  readonly memo: Json;
  readonly wait?: Wait;
}

/** The agent is done. What an armed schema asked for comes after the status, and disarms it (contract/v2.md 9.5). */
export function finish(content: string, result?: StructuredResult): Ending {
  const said: readonly NewEvent[] = [{ type: "assistant_message", payload: { content, deliveryKind: "result" } }];
  const set: TaskChanges = { status: "stopped", nodeId: null, wantsNode: null, memo: null };
  const events = [...said, status("stopped", "Done")];
  if (!result) return { said, memo: null, set, events };
  const told: NewEvent = { type: "structured_output_result", payload: result };
  return { said, memo: null, set: { ...set, outputSchema: null }, events: [...events, told] };
}

/** The agent cannot go on. */
export function fail(errorType: string, content: string): Ending {
  const said: readonly NewEvent[] = [{ type: "error_message", payload: { errorType, content } }];
  return {
    said,
    memo: null,
    set: { status: "error", nodeId: null, wantsNode: null, memo: null },
    events: [...said, status("error", "Failed")],
  };
}

/** The agent has a question: the next message is the answer, and the turn that it begins is given the memo. */
export function ask(content: string, options: readonly string[], memo: Json, actionId: string): Ending {
  const questionExpectation = { responseMethod: "send_message", options, selectionMode: "single" } as const;
  const said: readonly NewEvent[] = [{ type: "assistant_message", payload: { content, deliveryKind: "question", questionExpectation } }];
  const wait: Wait = { kind: "messageAskUser", variant: "", actionId };
  return {
    said,
    memo,
    wait,
    set: { status: "waiting", nodeId: null, memo },
    events: [...said, waiting(wait, "Waiting for an answer", content)],
  };
}

/** What the agent wants to do needs the user's approval. */
export interface Approval extends Wait {
  readonly description?: string | undefined;
  readonly params?: JsonObject | undefined;
}

/** The agent waits for an approval; the same turn goes on after it, so what it was given stays. */
export function confirm(approval: Approval): Ending {
  const { kind, variant, actionId, description = kindOf(kind).description } = approval;
  const events = [
    use(approval, "pending_confirmation", "Waiting for approval"),
    waiting({ kind, variant, actionId }, "Needs approval", description),
  ];
  return { said: [], memo: null, wait: { kind, variant, actionId }, set: { status: "waiting", nodeId: null }, events };
}

/** What an earlier decision of the task allows is done without asking (contract/decisions.md 15). */
export const allowed = (approval: Approval): Step => ({
  set: {},
  events: [use(approval, "success", "Allowed before")],
});

/** The user has decided, and the turn goes on (contract/decisions.md 19a). `shown` is the input as everybody may see it. */
export function decided(action: Wait, accepted: boolean, shown: JsonObject, now: number): Step {
  return {
    set: { status: "running", nodeId: null, toBrowser: true, queuedAt: now },
    events: [
      { ...use(action, accepted ? "success" : "error", accepted ? "Accepted" : "Refused", shown) },
      status("running", accepted ? "Goes on with the approval" : "Goes on without the approval"),
    ],
  };
}

function use(
  { kind, actionId, description, params }: Approval,
  toolStatus: EventPayloads["tool_used"]["status"],
  brief: string,
  result?: Json,
): NewEvent {
  const said = {
    ...(description === undefined ? {} : { description }),
    ...(params ? { params } : {}),
    ...(result === undefined ? {} : { result }),
  };
  return { type: "tool_used", payload: { tool: kindOf(kind).tool ?? kind, actionId, status: toolStatus, brief, ...said } };
}

/** Stands right behind the event that it waits for. */
function waiting({ kind, variant }: Wait, brief: string, description: string): NewEvent {
  const schema = inputSchema(kind, variant);
  const statusDetail = {
    waitingForEventType: kind,
    waitingDescription: description,
    ...(schema === undefined ? {} : { confirmInputSchema: schema }),
  };
  return { type: "status_update", payload: { agentStatus: "waiting", brief, statusDetail } };
}
