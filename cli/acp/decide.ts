import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { JsonObject } from "../../packages/client/src/index.ts";
import { canRefuse } from "../../src/core/actions/kind.ts";
import { decisionSchemaOf, formOf, mayDecide, readEvent } from "../../src/protocols/shared/ask.ts";
import type { CallerClient } from "../../src/protocols/shared/caller-client.ts";
import type { Waiting } from "../../src/protocols/shared/turn.ts";
import { toolFacts } from "./updates.ts";

/** What came of asking the user about an action. */
export type Decision = "decided" | "cancelled" | "still waits" | "cannot ask";

/**
 * Asks the user of the editor about an action, which the request shows whole, and applies the decision. An
 * action that cannot be shown whole, or whose decision is more than yes or no, and one that the credential
 * may not decide, is left to the console.
 */
export async function decide(
  client: CallerClient,
  editor: AgentContext,
  sessionId: string,
  taskId: string,
  waiting: Waiting,
  signal: AbortSignal,
): Promise<Decision> {
  const options = optionsOf(waiting);
  const [caller, form, event] = await Promise.all([
    client.rights(),
    formOf(client, taskId, waiting),
    readEvent(client, taskId, waiting.waiting_for_event_id),
  ]);
  if (!mayDecide(caller) || form === null || options.length === 0 || event?.type !== "tool_used")
    return "cannot ask";
  const request: RequestPermissionRequest = {
    sessionId,
    options,
    toolCall: {
      ...toolFacts(event.tool_used),
      status: "pending",
      content: [{ type: "content", content: { type: "text", text: fenced(form.message) } }],
    },
  };
  const { outcome } = await editor.request(methods.client.session.requestPermission, request, {
    cancellationSignal: signal,
  });
  const input = outcome.outcome === "selected" ? inputs[outcome.optionId] : undefined;
  if (input === undefined) return "cancelled";
  const decision = { task_id: taskId, event_id: waiting.waiting_for_event_id, input };
  const { confirmed } = await client.tasks.confirmAction(decision);
  // Some kinds of action cannot be refused, only dropped by a message or a stop (spec/api.md 9.3).
  return confirmed ? "decided" : "still waits";
}

/** As code: editors show texts as Markdown, in which comments, links and line breaks are not seen. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

const inputs: Readonly<Record<string, JsonObject | undefined>> = {
  allow: { accept: true },
  always: { accept: true, always_allow: true },
  reject: { accept: false },
};

/** The answers to an action; none when yes or no does not decide it. */
function optionsOf(waiting: Waiting): PermissionOption[] {
  const { properties = {}, required = [] } = decisionSchemaOf(waiting);
  if (!("accept" in properties) || required.some((name) => name !== "accept")) return [];
  return [
    { optionId: "allow", name: "Allow", kind: "allow_once" },
    ...("always_allow" in properties
      ? [{ optionId: "always", name: "Always allow", kind: "allow_always" } as const]
      : []),
    // Where a refusal decides nothing, the user's next message does.
    {
      optionId: "reject",
      name: canRefuse(waiting.waiting_for_event_type) ? "Reject" : "Say what to do instead",
      kind: "reject_once",
    },
  ];
}
