import type {
  ContentPartInput,
  PlanUpdate,
  StructuredOutputResult,
  TaskEvent,
} from "../../../packages/client/src/index.ts";
import {
  messageId,
  type Passage,
  type ToolEvent,
  toolResultOf,
  type Voice,
} from "../../narration/narrate.ts";
import { textOf } from "../shared/turn.ts";
import type { AgentEvent } from "./event.ts";

export interface Translation {
  /** The events of AG-UI for a passage. */
  of(passage: Passage): Generator<AgentEvent>;
  /** Ends what is still open. */
  close(): Generator<AgentEvent>;
  /** A text that was shown is not that of its event, so the client needs all messages again. */
  readonly isStale: boolean;
}

/**
 * Translates what a task writes. Every event ends with a change of the state, so that a client always knows
 * the last event it has.
 *
 * @param knownUses ids of uses of tools that the client already has.
 * @param sent the message that this run sent: the client has it.
 */
export function createTranslation(
  knownUses: Iterable<string>,
  sent: string | readonly ContentPartInput[] | null,
): Translation {
  const uses = new Set(knownUses);
  let own = typeof sent === "string" ? sent : sent && textIn(sent);
  let text: { readonly voice: Voice; readonly id: string } | null = null;
  let step: string | null = null;
  let isStale = false;

  function* openText(voice: Voice, id: string): Generator<AgentEvent> {
    if (text?.id === id) return;
    text = { voice, id };
    if (voice === "thought") {
      yield { type: "REASONING_START", messageId: id };
      yield { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" };
    } else yield { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" };
  }

  function* write(delta: string): Generator<AgentEvent> {
    if (text === null || delta === "") return;
    yield {
      type: text.voice === "thought" ? "REASONING_MESSAGE_CONTENT" : "TEXT_MESSAGE_CONTENT",
      messageId: text.id,
      delta,
    };
  }

  function* endText(metadata?: ReturnType<typeof factsOf>): Generator<AgentEvent> {
    if (text === null) return;
    const { voice, id } = text;
    text = null;
    if (voice === "thought") {
      yield { type: "REASONING_MESSAGE_END", messageId: id };
      yield { type: "REASONING_END", messageId: id };
    } else yield { type: "TEXT_MESSAGE_END", messageId: id, ...(metadata && { metadata }) };
  }

  function* endStep(): Generator<AgentEvent> {
    if (step !== null) yield { type: "STEP_FINISHED", stepName: step };
    step = null;
  }

  function* useTool(event: ToolEvent): Generator<AgentEvent> {
    const { action_id: actionId, tool, status, params = {}, brief } = event.tool_used;
    if (!uses.has(actionId)) {
      uses.add(actionId);
      yield { type: "TOOL_CALL_START", toolCallId: actionId, toolCallName: tool, metadata: { brief } };
      yield { type: "TOOL_CALL_ARGS", toolCallId: actionId, delta: JSON.stringify(params) };
      yield { type: "TOOL_CALL_END", toolCallId: actionId };
    }
    if (status === "pending_confirmation") return;
    yield {
      type: "TOOL_CALL_RESULT",
      messageId: messageId(event),
      toolCallId: actionId,
      content: toolResultOf(event),
      role: "tool",
      metadata: { status },
    };
  }

  function* translate(event: TaskEvent): Generator<AgentEvent> {
    if (event.type === "tool_used") yield* useTool(event);
    if (event.type === "new_plan_step") {
      yield* endStep();
      step = event.new_plan_step.title;
      yield { type: "STEP_STARTED", stepName: step };
    }
    if (event.type !== "user_message") return;
    const content = textOf(event);
    if (content === own) {
      own = null;
      return;
    }
    yield { type: "TEXT_MESSAGE_START", messageId: messageId(event), role: "user" };
    if (content !== "") yield { type: "TEXT_MESSAGE_CONTENT", messageId: messageId(event), delta: content };
    yield { type: "TEXT_MESSAGE_END", messageId: messageId(event) };
  }

  return {
    *of(passage) {
      if (passage.kind === "part") {
        yield* openText(passage.voice, passage.id);
        yield* write(passage.text);
      } else if (passage.kind === "lost") {
        isStale = true;
        yield* endText();
      } else if (passage.kind === "end") {
        yield* openText(passage.voice, passage.id);
        yield* write(passage.rest);
        yield* endText(factsOf(passage.event));
      } else yield* translate(passage.event);
      if ("event" in passage) yield { type: "STATE_DELTA", delta: changesOf(passage.event) };
    },
    *close() {
      yield* endText();
      yield* endStep();
    },
    get isStale() {
      return isStale;
    },
  };
}

/** What a message has besides its text: the files of the agent, and how a question is answered. */
export function factsOf(event: TaskEvent) {
  const { attachments, delivery_kind, question_expectation } =
    event.type === "assistant_message" ? event.assistant_message : {};
  return {
    seq: event.seq,
    ...(attachments && { attachments }),
    ...(delivery_kind !== undefined && { delivery_kind }),
    ...(question_expectation && { question_expectation }),
  };
}

const textIn = (parts: readonly ContentPartInput[]): string =>
  parts.flatMap(({ type, text = "" }) => (type === "text" ? [text] : [])).join("\n");

type Change = { readonly op: "add"; readonly path: string; readonly value: unknown };

/** The change of the client's state by an event (RFC 6902; `add` replaces what is there). */
const changesOf = (event: TaskEvent): Change[] =>
  Object.entries({ ...stateOfEvent(event), ...statusOf(event), last_seq: event.seq }).map(
    ([name, value]) => ({
      op: "add",
      path: `/${name}`,
      value,
    }),
  );

/** The members of the state that only events have. */
export interface EventState {
  readonly plan?: PlanUpdate["steps"];
  readonly structured_output?: StructuredOutputResult;
}

export function stateOfEvent(event: TaskEvent): EventState {
  if (event.type === "plan_update") return { plan: event.plan_update.steps };
  return event.type === "structured_output_result"
    ? { structured_output: event.structured_output_result }
    : {};
}

function statusOf(event: TaskEvent) {
  if (event.type !== "status_update") return {};
  const { agent_status: agentStatus, status_detail: statusDetail = null } = event.status_update;
  return { status: agentStatus, waiting: statusDetail };
}
