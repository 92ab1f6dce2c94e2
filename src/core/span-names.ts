import type { SpanStart } from "./trace.ts";

/**
 * The names of spans and attributes. Those that begin with `gen_ai` follow OpenTelemetry's conventions for
 * generative AI, which are in development and have no release: a change of theirs is a change of this file
 * only. Those that begin with `atp` are ours.
 */
const names = {
  operation: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  conversation: "gen_ai.conversation.id",
  toolName: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  database: "db.system.name",
  status: "http.response.status_code",
  task: "atp.task.id",
  account: "atp.account.id",
  space: "atp.space.id",
  profile: "atp.profile",
  claim: "atp.run.claim",
  ending: "atp.run.ending",
  request: "atp.request.id",
  call: "atp.operation",
  wire: "atp.wire",
  outcome: "atp.outcome",
  credential: "atp.credential",
  delivery: "atp.delivery.id",
  webhook: "atp.webhook.id",
  event: "atp.event.type",
  attempt: "atp.attempt",
} as const;

/** Attributes by their short names; undefined ones are left out. */
export function attributes(
  values: Readonly<Partial<Record<keyof typeof names, string | number | undefined>>>,
): NonNullable<SpanStart["attributes"]> {
  const found: Record<string, string | number> = {};
  for (const [short, value] of Object.entries(values))
    if (value !== undefined) found[names[short as keyof typeof names]] = value;
  return found;
}

/** A run of a task's turn in this process (conventions: "Invoke agent span"). */
export const runSpan = (task: {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly agentProfile: string;
  readonly claims: number;
}): SpanStart => ({
  name: "run",
  kind: "consumer",
  attributes: attributes({
    operation: "invoke_agent",
    conversation: task.id,
    task: task.id,
    account: task.accountId,
    space: task.spaceId,
    profile: task.agentProfile,
    claim: task.claims,
  }),
});

/** An attempt to deliver an event to a webhook. */
export const deliverySpan = (delivery: {
  readonly id: string;
  readonly webhookId: string;
  readonly taskId: string;
  readonly type: string;
  readonly number: number;
}): SpanStart => ({
  name: "webhook.deliver",
  kind: "producer",
  attributes: attributes({
    delivery: delivery.id,
    webhook: delivery.webhookId,
    task: delivery.taskId,
    event: delivery.type,
    attempt: delivery.number,
  }),
});

/** A tool's name may come from another server: other names than identifiers are not shown. */
const shownTool = (name: string): string => (/^[\w.:/-]{1,64}$/.test(name) ? name : "other");

/** The use of a tool (conventions: "Execute tool span"). */
export const toolSpan = (name: string, callId: string): SpanStart => ({
  name: `execute_tool ${shownTool(name)}`,
  attributes: attributes({ operation: "execute_tool", toolName: shownTool(name), toolCall: callId }),
});

/** A call of a model (conventions: "Inference span"). @param provider the form of its endpoint. */
export const modelSpan = (model: string, provider: string): SpanStart => ({
  name: `chat ${model}`,
  kind: "client",
  attributes: attributes({ operation: "chat", provider, requestModel: model }),
});
