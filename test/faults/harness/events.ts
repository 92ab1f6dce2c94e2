import type { V2Body } from "../../support/wires.ts";
import type { Caller } from "./caller.ts";

/** A TaskEvent in v2's form. */
export interface ShownEvent {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
  /** Unix ms. */
  readonly timestamp: number;
  readonly user_message?: { readonly content: string };
  readonly assistant_message?: { readonly content: string; readonly delivery_kind?: string };
  readonly explanation?: { readonly content: string };
  readonly error_message?: { readonly error_type: string; readonly content: string };
  readonly tool_used?: { readonly tool: string; readonly status: string };
  readonly plan_update?: { readonly steps: readonly { readonly status: string }[] };
  readonly new_plan_step?: { readonly title: string };
  readonly status_update?: {
    readonly agent_status: string;
    readonly brief?: string;
    readonly status_detail?: { readonly waiting_for_event_id?: string };
  };
}

/** The complete history of a task, oldest first, page by page. */
export async function historyOf(caller: Caller, id: string): Promise<readonly ShownEvent[]> {
  const events: ShownEvent[] = [];
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const query = {
      task_id: id,
      order: "asc",
      limit: 200,
      verbose: true,
      ...(cursor === "" ? {} : { cursor }),
    };
    const { body }: { body: V2Body } = await caller.settle("task.listMessages", query);
    events.push(...(body["messages"] as readonly ShownEvent[]));
    cursor = body["next_cursor"] as string | undefined;
  }
  return events;
}

/**
 * The agent's last message where a user message contains only directives: one per turn, for any number of
 * such messages.
 */
const lastWord = "Done.";

/**
 * The model's token for an event of the agent; null for events of others, and for
 * the last messages, which depend on when messages arrive.
 */
export function tokenOf(event: ShownEvent): string | null {
  const {
    assistant_message: said,
    explanation,
    error_message: error,
    tool_used: tool,
    plan_update: plan,
    new_plan_step: step,
  } = event;
  if (said) return said.content === lastWord ? null : say(said.content);
  if (explanation) return think(explanation.content);
  if (error) return `error ${error.error_type}: ${error.content}`;
  if (tool) return use(tool.tool, tool.status);
  if (plan) return planned(plan.steps.map(({ status }) => status));
  if (step) return begins(step.title);
  return notByAgent.has(event.type) ? null : event.type;
}

const notByAgent: ReadonlySet<string> = new Set(["user_message", "user_stop", "status_update"]);

export const say = (text: string): string => `say ${text}`;
export const think = (text: string): string => `think ${text}`;
export const use = (tool: string, status: string): string => `tool ${tool} ${status}`;
export const planned = (statuses: readonly string[]): string => `plan ${statuses.join(" ")}`;
export const begins = (title: string): string => `step ${title}`;
