import type { ConnectorUse, ConnectorUses } from "../../core/connectors/use.ts";
import { absent, Failure } from "../../core/failure.ts";
import { type JsonObject, jsonDigest } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ToolCall } from "../../core/workers/remote-run.ts";

/** What a call needs. */
interface CallParts {
  readonly store: Store;
  readonly connectors: ConnectorUses;
}

/**
 * Uses a tool for a worker that holds the task. What asks is done once the user has accepted this very use, in this turn.
 *
 * @throws Failure `precondition` naming `tool` or `connector_id`, `absent`.
 */
export async function callTool({ store, connectors }: CallParts, task: Task, call: ToolCall, signal: AbortSignal) {
  const use: ConnectorUse = { ...call, agreed: false };
  const first = await connectors.call(task, use, signal);
  const outcome =
    first.kind === "ask" && (await hasAgreed(store, task, call)) ? await connectors.call(task, { ...use, agreed: true }, signal) : first;
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

/** Whether the user has accepted a confirmation of this turn whose params are this use. */
async function hasAgreed(store: Store, { id, consumedSeq }: Task, { uid, tool, input }: ToolCall): Promise<boolean> {
  const wanted = jsonDigest({ connector: uid, tool, input });
  const actions = await store.actions.after(id, consumedSeq);
  for (const { kind, state, seq } of actions) {
    if (kind !== "connectorAction" || state !== "accepted") continue;
    const [event] = await store.events.list(id, { afterSeq: seq - 1, beforeSeq: seq + 1, order: "asc", limit: 1, verbose: true });
    const params: JsonObject = event?.type === "tool_used" ? (event.payload.params ?? {}) : {};
    if (jsonDigest(params) === wanted) return true;
  }
  return false;
}
