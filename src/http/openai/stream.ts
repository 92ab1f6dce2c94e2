import type { StatusUpdate, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { errorOf, type Message, messageOf, type Part, type ResponseState } from "./response.ts";

/** An event of a stream before it has its number. */
export type NewStreamEvent =
  | { readonly type: LifecycleType; readonly response: ResponseState }
  | { readonly type: `response.output_item.${"added" | "done"}`; readonly output_index: number; readonly item: ShownMessage }
  | (Place & { readonly type: `response.content_part.${"added" | "done"}`; readonly part: Part })
  | (Place & { readonly type: "response.output_text.delta"; readonly delta: string; readonly logprobs: readonly never[] })
  | (Place & { readonly type: "response.output_text.done"; readonly text: string; readonly logprobs: readonly never[] });

/** An event of the Responses API; the numbers of a task's events begin at 0 and have no gap. */
export type StreamEvent = NewStreamEvent & { readonly sequence_number: number };

const endings = ["response.completed", "response.incomplete", "response.failed"] as const;
type EndingType = (typeof endings)[number];
type LifecycleType = "response.created" | "response.in_progress" | EndingType;

/** A message, or one that is being told. */
type ShownMessage = Omit<Message, "status"> & { readonly status: Message["status"] | "in_progress" };

/** A part's place in the conversation. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

/** Whether a turn ends with this event. */
export const isEnding = ({ type }: NewStreamEvent): boolean => (endings as readonly string[]).includes(type);

/**
 * Turns a task's events, given one after the other from the first on, into those of the
 * Responses API. They follow from the task's events alone, numbers too, so they are the
 * same whenever and wherever they are told.
 *
 * A turn begins when the task runs after a rest, and ends when it runs no more. What is
 * said within it is told; what is said at rest stands in the output that the next turn
 * begins with. `output_index` is the place in the whole conversation.
 */
export function streamMapper(): (event: TaskEvent) => readonly StreamEvent[] {
  const output: Message[] = [];
  let running = false;
  let before: TaskEvent["payload"] | undefined;
  let next = 0;

  function eventsOf(event: TaskEvent): readonly NewStreamEvent[] {
    const { payload } = event;
    if (payload.case === "statusUpdate") return changed(payload.value);
    const message = messageOf(event);
    if (!message) return [];
    output.push(message);
    return running ? telling(message, output.length - 1) : [];
  }

  function changed({ agentStatus }: StatusUpdate): readonly NewStreamEvent[] {
    const runs = agentStatus === TaskStatus.RUNNING;
    if (runs === running) return [];
    running = runs;
    return runs ? beginning([...output]) : [ending(agentStatus, before, [...output])];
  }

  return (event) => {
    const events = eventsOf(event).map((told) => ({ ...told, sequence_number: next++ }));
    before = event.payload;
    return events;
  };
}

function beginning(output: readonly Message[]): readonly NewStreamEvent[] {
  const response: ResponseState = { status: "running", error: null, incomplete_details: null, output };
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
  ];
}

/** @param before what stands right before the status: why it failed, what is waited for, or the user's stop. */
function ending(status: TaskStatus, before: TaskEvent["payload"] | undefined, output: readonly Message[]): NewStreamEvent {
  const settled = { error: null, incomplete_details: null, output };
  if (status === TaskStatus.ERROR) {
    return { type: "response.failed", response: { ...settled, status: "error", error: errorOf(before) } };
  }
  if (status === TaskStatus.WAITING) {
    const reason = before?.case === "assistantMessage" ? "question" : "confirmation";
    return { type: "response.incomplete", response: { ...settled, status: "pending", incomplete_details: { reason } } };
  }
  if (before?.case === "userStop") {
    return { type: "response.incomplete", response: { ...settled, status: "completed", incomplete_details: { reason: "stop" } } };
  }
  return { type: "response.completed", response: { ...settled, status: "completed" } };
}

/** A message, piece by piece. */
function telling(message: Message, output_index: number): readonly NewStreamEvent[] {
  return [
    { type: "response.output_item.added", output_index, item: { ...message, status: "in_progress", content: [] } },
    ...message.content.flatMap((part, content_index) => partEvents(part, { item_id: message.id, output_index, content_index })),
    { type: "response.output_item.done", output_index, item: message },
  ];
}

/** Agents say a text at once: it is one delta. */
function partEvents(part: Part, place: Place): readonly NewStreamEvent[] {
  const done: NewStreamEvent = { type: "response.content_part.done", ...place, part };
  if (part.type !== "output_text") return [{ type: "response.content_part.added", ...place, part }, done];
  const { text } = part;
  return [
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...place, delta: text, logprobs: [] },
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    done,
  ];
}
