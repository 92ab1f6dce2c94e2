import {
  approvalParams,
  approvedDefinition,
  type ConnectorUse,
  type ConnectorUses,
  connectorRule,
  definitionOf,
  toolOf,
  type UseOutcome,
} from "../../core/connectors/use.ts";
import { Failure, notFound } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { PermissionRule } from "../../core/permissions/rule.ts";
import type { Store, Tx } from "../../core/store.ts";
import type { NewEvent } from "../../core/tasks/event.ts";
import { deriveTitle, messageText } from "../../core/tasks/message.ts";
import { checkDepth } from "../../core/tasks/subtasks.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { SentEvent, StartedSubtask, SubtaskInput, ToolCall } from "../../core/workers/remote-run.ts";
import { permitUses } from "../permissions.ts";
import { appendSent } from "./append.ts";
import type { UploadParts } from "./uploads.ts";

/**
 * Begins a subtask with an event of the worker's key, so that a repeated call begins it once.
 *
 * @throws RunLost, Failure as for `RemoteRuns.startSubtask`.
 */
export async function startSubtask(
  parts: UploadParts,
  task: Task,
  workerId: string,
  input: SubtaskInput,
): Promise<StartedSubtask> {
  checkDepth(task);
  const { key, digest, message } = input;
  messageText({ texts: [message] }, "message");
  const subtask = { id: parts.ids.short(), message };
  const event: SentEvent = { key, digest, event: subtaskEvent(subtask), uploadIds: [], subtask };
  const { numbers } = await appendSent(parts, task, workerId, [event], { credits: 0, usage: null });
  const seq = numbers[0] ?? 0;
  return { seq, id: await subtaskIn(parts.store, task.id, seq) };
}

/** The event of a subtask: the same as that of the model agent's tool. */
const subtaskEvent = ({ id, message }: { id: string; message: string }): NewEvent => ({
  type: "tool_used",
  payload: {
    tool: "start_subtask",
    actionId: id,
    status: "success",
    brief: `Begin a subtask: ${deriveTitle(message)}`,
    params: { message },
    result: { task_id: id, status: "running" },
  },
});

/** The id of the subtask that an event has begun: that of the first call with the event's key. */
async function subtaskIn(store: Tx, taskId: string, seq: number): Promise<string> {
  const [event] = await store.events.list(taskId, {
    afterSeq: seq - 1,
    beforeSeq: seq + 1,
    order: "asc",
    limit: 1,
    verbose: true,
  });
  if (event?.type !== "tool_used") throw new Error("the event of a subtask is gone");
  return event.payload.actionId;
}

interface CallParts {
  readonly store: Store;
  readonly connectors: ConnectorUses;
  /** The rules of the installation; absent: none. */
  readonly permissions?: readonly PermissionRule[];
}

/**
 * Calls a tool for a worker that holds the task, if no rule denies it. A tool that needs approval is called once for each time the
 * user has accepted this call in this turn.
 *
 * @throws Failure `failed_precondition` naming `tool` or `connector_id`, `not_found`.
 */
export async function callTool(parts: CallParts, task: Task, call: ToolCall, signal: AbortSignal) {
  const { store, connectors, permissions = [] } = parts;
  const found = await toolOf(store, task, call);
  if (!found) throw notFound("tool");
  const use = { tool: connectorRule(found.connector), subjects: [call.tool], isEffect: false };
  const { decision } = await permitUses(store, task, permissions)(use);
  if (decision === "deny")
    throw new Failure("failed_precondition", "tool: a rule denies this use", { path: "tool" });
  const asking = { ...call, asks: decision === "ask" };
  const first = await connectors.call(task, { ...asking, approved: null }, signal);
  const outcome = first.kind === "ask" ? await callAgreed(parts, task, asking, signal) : first;
  switch (outcome.kind) {
    case "answer":
      return outcome.answer;
    case "none":
      throw notFound("tool");
    case "ask":
      throw new Failure(
        "failed_precondition",
        "tool: the user has to agree first: Finish with a confirm of the kind connectorAction, its params connector, tool and input",
        { path: "tool" },
      );
    case "expired":
      throw new Failure(
        "failed_precondition",
        "connector_id: the user has to sign in to it first: Finish with a confirm of the kind connectorOauthExpired",
        { path: "connector_id" },
      );
  }
}

/**
 * Calls the tool with an approval. The approval is consumed before the call, so a later call needs a new one.
 */
async function callAgreed(
  { store, connectors }: CallParts,
  task: Task,
  call: ToolCall & Pick<ConnectorUse, "asks">,
  signal: AbortSignal,
): Promise<UseOutcome | Asks> {
  const agreed = await takeApproval(store, task, call);
  if (agreed === null) return { kind: "ask" };
  const outcome = await connectors.call(task, { ...call, approved: agreed.definition }, signal);
  if (outcome.kind === "expired") await store.change((tx) => tx.actions.unmarkUsed(task.id, agreed.seq));
  return outcome;
}

interface Asks {
  readonly kind: "ask";
}

/** Consumes an action of this turn with which the user has accepted this call; null when none is left. */
async function takeApproval(store: Store, { id, consumedSeq }: Task, call: ToolCall) {
  for (const { kind, state, seq } of await store.actions.after(id, consumedSeq)) {
    if (kind !== "connectorAction" || state !== "accepted") continue;
    const [event] = await store.events.list(id, {
      afterSeq: seq - 1,
      beforeSeq: seq + 1,
      order: "asc",
      limit: 1,
      verbose: true,
    });
    const definition =
      event?.type === "tool_used" ? approvedDefinition(event.payload.params ?? {}, call) : null;
    if (definition !== null && (await store.change((tx) => tx.actions.markUsed(id, seq))))
      return { definition, seq };
  }
  return null;
}

/**
 * Binds a worker's `connectorAction` to the tool's current definition: a tool that changes later is not
 * called.
 */
export async function bindToTool(tx: Tx, task: Task, params: JsonObject): Promise<JsonObject> {
  const { definition: _own, ...request } = params;
  const { connector, tool, input = {} } = request;
  if (typeof connector !== "string" || typeof tool !== "string" || !isObject(input)) return request;
  const current = await toolOf(tx, task, { uid: connector, tool });
  return current
    ? {
        ...request,
        ...approvalParams({ uid: connector, tool, input }, definitionOf(current.connector, current.tool)),
      }
    : request;
}
