import type { Client, TaskEvent } from "../../../packages/client/src/index.ts";
import { readEvents } from "../../narration/history.ts";
import { messageId, ownIds, type ToolEvent, toolResultOf } from "../../narration/narrate.ts";
import { textOf } from "../shared/turn.ts";
import type { AgentMessage } from "./event.ts";
import { type EventState, factsOf, stateOfEvent } from "./translate.ts";

/** What a client has after the events of a task. */
export interface History {
  readonly messages: AgentMessage[];
  /** Members of the state that only events have. */
  readonly state: EventState;
}

/**
 * The messages of a task up to an event, in the form of AG-UI. Their ids name this event: a client leaves a
 * message that it has by its id where it is and puts the others after it, so a snapshot with some of the
 * client's ids would change the order.
 *
 * @throws ApiError
 */
export async function readHistory(client: Client, taskId: string, lastSeq: number): Promise<History> {
  const events = await readEvents(client, taskId, lastSeq);
  const seen = new Set<string>();
  return {
    messages: events
      .flatMap((event) => messagesOf(event, seen))
      .map((message) => ({ ...message, id: `${ownIds}${lastSeq}.${message.id}` })),
    state: Object.assign({}, ...events.map(stateOfEvent)),
  };
}

function messagesOf(event: TaskEvent, seen: Set<string>): AgentMessage[] {
  const id = messageId(event);
  if (event.type === "user_message") return [{ id, role: "user", content: textOf(event) }];
  if (event.type === "assistant_message")
    return [{ id, role: "assistant", content: textOf(event), metadata: { ...factsOf(event) } }];
  if (event.type === "explanation") return [{ id, role: "reasoning", content: textOf(event) }];
  return event.type === "tool_used" ? toolMessages(event, id, seen) : [];
}

function toolMessages(event: ToolEvent, id: string, seen: Set<string>): AgentMessage[] {
  const { action_id: actionId, tool, params = {}, status } = event.tool_used;
  const call = {
    id: actionId,
    type: "function" as const,
    function: { name: tool, arguments: JSON.stringify(params) },
  };
  const begun: AgentMessage[] = seen.has(actionId)
    ? []
    : [{ id: actionId, role: "assistant", toolCalls: [call] }];
  seen.add(actionId);
  if (status === "pending_confirmation") return begun;
  return [
    ...begun,
    { id, role: "tool", toolCallId: actionId, content: toolResultOf(event), metadata: { status } },
  ];
}
