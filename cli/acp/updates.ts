import type { ContentBlock, PlanEntry, SessionUpdate, ToolKind } from "@agentclientprotocol/sdk";
import type { PlanStep, TaskEvent, ToolUsed } from "../../packages/client/src/index.ts";
import { visible } from "../../src/core/actions/visible.ts";
import { messageId, type Passage, type ToolEvent, type Voice } from "../../src/narration/narrate.ts";
import { textOf } from "../../src/protocols/shared/turn.ts";

/**
 * Translates the passages of a session. The ids of the uses of tools that the editor has are remembered, the
 * newest 10,000.
 */
export function createUpdates(): (passage: Passage) => readonly SessionUpdate[] {
  const uses = new Set<string>();

  function toolUpdate({ tool_used: toolUsed }: ToolEvent): SessionUpdate {
    const { action_id: actionId, status, result = { status } } = toolUsed;
    const facts = { ...toolFacts(toolUsed), status: statuses[status] ?? "completed", rawOutput: result };
    const isNew = !uses.has(actionId);
    uses.add(actionId);
    const [oldest] = uses;
    if (uses.size > usesMax && oldest !== undefined) uses.delete(oldest);
    return isNew ? { sessionUpdate: "tool_call", ...facts } : { sessionUpdate: "tool_call_update", ...facts };
  }

  return (passage) => {
    if (passage.kind === "part")
      return [chunk(passage.voice, passage.id, { type: "text", text: passage.text })];
    // A text that was shown cannot be taken back: the complete one follows as another message.
    if (passage.kind === "lost") return [];
    if (passage.kind === "end") {
      const { voice, id, rest, event } = passage;
      const blocks: ContentBlock[] = [
        ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]),
        ...filesOf(event),
      ];
      return blocks.map((block) => chunk(voice, id, block));
    }
    const { event } = passage;
    if (event.type === "tool_used") return [toolUpdate(event)];
    if (event.type !== "plan_update") return [];
    return [{ sessionUpdate: "plan", entries: event.plan_update.steps.map(entryOf) }];
  };
}

const usesMax = 10_000;

/** The message of a user in a session that is loaded. */
export const userMessage = (event: TaskEvent): SessionUpdate => ({
  sessionUpdate: "user_message_chunk",
  messageId: messageId(event),
  content: { type: "text", text: textOf(event) },
});

const chunk = (voice: Voice, id: string, content: ContentBlock): SessionUpdate => ({
  sessionUpdate: voice === "thought" ? "agent_thought_chunk" : "agent_message_chunk",
  messageId: id,
  content,
});

/** A text of this program, without an event of the task. */
export const notice = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_message_chunk",
  content: { type: "text", text },
});

const filesOf = (event: TaskEvent): ContentBlock[] =>
  (event.type === "assistant_message" ? event.assistant_message.attachments : []).map(
    ({ filename, url, content_type }) => ({
      type: "resource_link",
      name: filename,
      uri: url,
      ...(content_type !== undefined && { mimeType: content_type }),
    }),
  );

const statuses: Readonly<Record<string, "pending" | "completed" | "failed">> = {
  pending_confirmation: "pending",
  success: "completed",
  error: "failed",
  rollback: "failed",
};

/** What an editor shows of a use of a tool. */
export const toolFacts = ({ action_id: toolCallId, tool, brief, params = {} }: ToolUsed) => ({
  toolCallId,
  title: visible(brief === "" ? tool : brief),
  kind: kinds.find(([pattern]) => pattern.test(tool))?.[1] ?? "other",
  // The event of the result has none.
  ...(Object.keys(params).length > 0 && { rawInput: params }),
});

const kinds: readonly (readonly [RegExp, ToolKind])[] = [
  [/terminal|shell|command/i, "execute"],
  [/search/i, "search"],
  [/browser|fetch|web/i, "fetch"],
];

const entryOf = ({ title, status }: PlanStep): PlanEntry => ({
  content: title,
  priority: "medium",
  status: status === "todo" ? "pending" : status === "doing" ? "in_progress" : "completed",
});
