import {
  type AssistantMessage,
  type ErrorMessage,
  type PlanStep,
  PlanStepStatus,
  type StructuredOutputResult,
  type TaskEvent,
  TaskEventType,
  type ToolUsed,
  type UserMessage,
} from "#proto/task/v2/task_event_pb.ts";
import { type StatusDetail, TaskStatus } from "#proto/task/v2/task_pb.ts";
import type { Feed, LiveText } from "./feed.ts";
import { arrivalOf, type Sending } from "./sending.ts";

/** One part of the conversation, in the order of the events. `key` is stable, also while the part grows. */
export type Item = { readonly key: string; readonly at: number } & (
  | {
      readonly kind: "user";
      readonly message: Pick<UserMessage, "content" | "attachments">;
      /** Set while the event of the message has not come. */
      readonly sending?: Sending;
      /** Whether the agent has read a message that was sent while it worked; absent for other messages. */
      readonly isRead?: boolean;
    }
  | {
      readonly kind: "agent";
      readonly message: Pick<AssistantMessage, "content" | "attachments">;
      readonly isGrowing?: boolean;
    }
  | { readonly kind: "error"; readonly message: ErrorMessage }
  | { readonly kind: "step"; readonly title: string; readonly number: number }
  | { readonly kind: "work"; readonly uses: readonly Use[] }
  | { readonly kind: "output"; readonly result: StructuredOutputResult }
  | { readonly kind: "stopped" }
);

/** One use of a tool, or one thought, of a folded group. */
export type Use = { readonly key: string; readonly at: number; readonly endedAt?: number } & (
  | { readonly kind: "tool"; readonly tool: ToolUsed }
  | { readonly kind: "thought"; readonly text: string }
);

/** What a page shows of a task's events. */
export interface Timeline {
  readonly items: readonly Item[];
  readonly plan: readonly PlanStep[];
  /** The latest state of the events; undefined before the first status event. */
  readonly status: TaskStatus | undefined;
  /** What the task waits for now. */
  readonly waiting: StatusDetail | undefined;
  /** The use of a tool that waits for approval. */
  readonly pendingTool: ToolUsed | undefined;
  /** The question that waits for an answer. */
  readonly question: AssistantMessage | undefined;
  readonly brief: string;
}

/**
 * Makes the timeline of a task from its verbose events, the text that is being written, and the message that
 * is being sent.
 *
 * @param readSeq the agent has read the messages up to this event; absent: that is not known.
 */
export function timelineOf({ events, live, shown }: Feed, sending?: Sending, readSeq?: number): Timeline {
  // The event after a message that begins a turn is the status.
  const begins = new Set(
    events.flatMap(({ seq, payload }) => (payload.case === "statusUpdate" ? [seq - 1] : [])),
  );
  const readIn = (seq: number) =>
    readSeq === undefined || begins.has(seq) ? {} : { isRead: seq <= readSeq };
  const arrived = sending && arrivalOf(sending, events);
  const items: Item[] = [];
  const tools = new Map<string, { group: Use[]; index: number }>();
  let plan: readonly PlanStep[] = [];
  let steps = 0;
  let status: TaskStatus | undefined;
  let waiting: StatusDetail | undefined;
  let brief = "";

  /** Adds to the last folded group, or begins one. */
  const addUse = (use: Use): void => {
    const last = items.at(-1);
    const group = last?.kind === "work" ? (last.uses as Use[]) : [];
    if (last?.kind !== "work") items.push({ kind: "work", key: use.key, at: use.at, uses: group });
    group.push(use);
    if (use.kind === "tool") tools.set(use.tool.actionId, { group, index: group.length - 1 });
  };

  /** Adds the text that is written now; with the messages that came since below it. */
  const addLive = ({ key, text, type }: LiveText): void => {
    const at = Number(events.at(-1)?.timestamp ?? 0);
    if (type === TaskEventType.EXPLANATION) addUse({ kind: "thought", key, at, text });
    else items.push({ kind: "agent", key, at, message: { content: text, attachments: [] }, isGrowing: true });
  };

  let growing = live && live.text !== "" ? live : null;
  for (const { id, seq, timestamp, payload } of inPlace(events, shown)) {
    if (growing && payload.case === "userMessage" && seq > growing.afterSeq) {
      addLive(growing);
      growing = null;
    }
    const at = Number(timestamp);
    const key = id === arrived?.id && sending ? sending.key : (shown.get(id)?.key ?? id);
    switch (payload.case) {
      case "userMessage":
        items.push({ kind: "user", key, at, message: payload.value, ...readIn(seq) });
        break;
      case "assistantMessage":
        items.push({ kind: "agent", key, at, message: payload.value });
        break;
      case "errorMessage":
        items.push({ kind: "error", key, at, message: payload.value });
        break;
      case "newPlanStep":
        steps += 1;
        items.push({ kind: "step", key, at, title: payload.value.title, number: steps });
        break;
      case "structuredOutputResult":
        items.push({ kind: "output", key, at, result: payload.value });
        break;
      case "userStop":
        items.push({ kind: "stopped", key, at });
        break;
      case "explanation":
        addUse({ kind: "thought", key, at, text: payload.value.content });
        break;
      case "toolUsed": {
        const known = tools.get(payload.value.actionId);
        const before = known?.group[known.index];
        // Later events of one use replace the earlier one in its place.
        if (known && before)
          known.group[known.index] = {
            kind: "tool",
            key: before.key,
            at: before.at,
            endedAt: at,
            tool: payload.value,
          };
        else addUse({ kind: "tool", key, at, tool: payload.value });
        break;
      }
      case "planUpdate":
        plan = payload.value.steps;
        break;
      case "statusUpdate":
        status = payload.value.agentStatus;
        waiting = payload.value.statusDetail;
        brief = payload.value.brief;
        break;
    }
  }
  if (growing) addLive(growing);
  if (sending && !arrived) {
    const { key, at, content } = sending;
    items.push({ kind: "user", key, at, message: { content, attachments: [] }, sending });
  }
  const waitingId = waiting?.waitingForEventId;
  const waitedFor =
    waitingId === undefined ? undefined : events.findLast(({ id }) => id === waitingId)?.payload;
  return {
    items,
    plan,
    status,
    waiting: status === TaskStatus.WAITING ? waiting : undefined,
    pendingTool: waitedFor?.case === "toolUsed" ? waitedFor.value : undefined,
    question: waitedFor?.case === "assistantMessage" ? waitedFor.value : undefined,
    brief,
  };
}

/** The events, each answer before the messages that came while it was written. */
function inPlace(events: readonly TaskEvent[], shown: Feed["shown"]): readonly TaskEvent[] {
  const ordered = [...events];
  for (const [id, { afterSeq }] of shown) {
    const from = ordered.findIndex((event) => event.id === id);
    const to = ordered.findIndex(({ seq, payload }) => payload.case === "userMessage" && seq > afterSeq);
    if (to >= 0 && to < from) ordered.splice(to, 0, ...ordered.splice(from, 1));
  }
  return ordered;
}

/** The number of steps that are done. */
export const doneSteps = (plan: readonly PlanStep[]): number =>
  plan.filter(({ status }) => status === PlanStepStatus.DONE).length;
