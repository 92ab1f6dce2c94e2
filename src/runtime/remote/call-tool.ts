import { agreedTo, approvalParams, definitionOf } from "../../core/connectors/approval.ts";
import { type ConnectorUses, toolOf, type UseOutcome } from "../../core/connectors/use.ts";
import { absent, Failure } from "../../core/failure.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Store, Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ToolCall } from "../../core/workers/remote-run.ts";

/** What a call needs. */
interface CallParts {
  readonly store: Store;
  readonly connectors: ConnectorUses;
}

/**
 * Uses a tool for a worker that holds the task. What asks is done once for each time that the user has accepted this very
 * use, in this turn.
 *
 * @throws Failure `precondition` naming `tool` or `connector_id`, `absent`.
 */
export async function callTool(parts: CallParts, task: Task, call: ToolCall, signal: AbortSignal) {
  const first = await parts.connectors.call(task, { ...call, agreed: null }, signal);
  const outcome = first.kind === "ask" ? await callAgreed(parts, task, call, signal) : first;
  switch (outcome.kind) {
    case "answer":
      return outcome.answer;
    case "none":
      throw absent("tool");
    case "ask":
      throw new Failure(
        "precondition",
        "tool: the user has to agree first: Finish with a confirm of the kind connectorAction, its params connector, tool and input",
        { path: "tool" },
      );
    case "expired":
      throw new Failure(
        "precondition",
        "connector_id: somebody has to sign in to it first: Finish with a confirm of the kind connectorOauthExpired",
        { path: "connector_id" },
      );
  }
}

/** The use with what was accepted for it, which is taken before: whoever calls again has to ask again. */
async function callAgreed({ store, connectors }: CallParts, task: Task, call: ToolCall, signal: AbortSignal): Promise<UseOutcome | Asks> {
  const agreed = await takeApproval(store, task, call);
  if (agreed === null) return { kind: "ask" };
  const outcome = await connectors.call(task, { ...call, agreed: agreed.definition }, signal);
  if (outcome.kind === "expired") await store.change((tx) => tx.actions.giveBack(task.id, agreed.seq));
  return outcome;
}

interface Asks {
  readonly kind: "ask";
}

/** Takes a confirmation of this turn by which the user has accepted this use; null where there is none left. */
async function takeApproval(store: Store, { id, consumedSeq }: Task, call: ToolCall) {
  for (const { kind, state, seq } of await store.actions.after(id, consumedSeq)) {
    if (kind !== "connectorAction" || state !== "accepted") continue;
    const [event] = await store.events.list(id, { afterSeq: seq - 1, beforeSeq: seq + 1, order: "asc", limit: 1, verbose: true });
    const definition = event?.type === "tool_used" ? agreedTo(event.payload.params ?? {}, call) : null;
    if (definition !== null && (await store.change((tx) => tx.actions.take(id, seq)))) return { definition, seq };
  }
  return null;
}

/** What a worker asks for with a `connectorAction`, bound to the tool as it is now: one that has changed by then is not used. */
export async function boundToTool(tx: Tx, task: Task, params: JsonObject): Promise<JsonObject> {
  const { definition: _own, ...asked } = params;
  const { connector: uid, tool, input = {} } = asked;
  if (typeof uid !== "string" || typeof tool !== "string" || !isObject(input)) return asked;
  const found = await toolOf(tx, task, { uid, tool });
  return found ? { ...asked, ...approvalParams({ uid, tool, input }, definitionOf(found.connector, found.tool)) } : asked;
}

const isObject = (value: unknown): value is JsonObject => value !== null && typeof value === "object" && !Array.isArray(value);
