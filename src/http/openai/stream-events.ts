import type { StatusUpdate, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { errorOf, type Message, messageOf, onlyResult, type Part, type ResponseState } from "./response.ts";

/** An event of a stream without its sequence number. */
export type NewStreamEvent =
  | { readonly type: LifecycleType; readonly response: ResponseState }
  | { readonly type: `response.output_item.${"added" | "done"}`; readonly output_index: number; readonly item: StreamedMessage }
  | (Position & { readonly type: `response.content_part.${"added" | "done"}`; readonly part: Part })
  | (Position & { readonly type: "response.output_text.delta"; readonly delta: string; readonly logprobs: readonly never[] })
  | (Position & { readonly type: "response.output_text.done"; readonly text: string; readonly logprobs: readonly never[] });

/** An event of the Responses API; the sequence numbers of a task begin at 0 and have no gap. */
export type StreamEvent = NewStreamEvent & { readonly sequence_number: number };

const endings = ["response.completed", "response.incomplete", "response.failed"] as const;
type EndingType = (typeof endings)[number];
type LifecycleType = "response.created" | "response.in_progress" | EndingType;

/** A message, or one that is being sent. `incomplete`: what was sent of its text is not the text of a message. */
type StreamedMessage = Omit<Message, "status"> & { readonly status: Message["status"] | "in_progress" | "incomplete" };

/** The position of a part in the conversation. */
interface Position {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

/** Whether a turn ends with this event. */
export const isEnding = ({ type }: NewStreamEvent): boolean => (endings as readonly string[]).includes(type);

/** Converts a task's events to events of the Responses API. */
export interface StreamMapper {
  /** The events that the next event of the task causes. */
  map(event: TaskEvent): readonly StreamEvent[];
  /** The events that were held back for a next event, when the task has none. */
  flush(): readonly StreamEvent[];
  /** The `output_index` of the next message; null while no turn is running. */
  place(): number | null;
}

/**
 * Creates a mapper from a task's events, in order from the first one, to events of the
 * Responses API. The result and its numbers depend only on the task's events, so every
 * stream of a task has the same events.
 *
 * A turn begins when the task starts to run and ends when it stops running. Messages
 * within a turn become events; messages between turns are in the output with which the
 * next turn begins. `output_index` is the position in the complete conversation. The end of
 * a finished turn is held back until the next event is known: the value of a structured
 * output comes directly after it, and belongs to the turn.
 */
export function streamMapper(): StreamMapper {
  const output: Message[] = [];
  let running = false;
  let held: readonly NewStreamEvent[] = [];
  let before: TaskEvent["payload"] | undefined;
  let next = 0;

  function release(): readonly NewStreamEvent[] {
    const released = held;
    held = [];
    return released;
  }

  function eventsOf(event: TaskEvent): readonly NewStreamEvent[] {
    const { payload } = event;
    if (payload.case === "statusUpdate") return [...release(), ...statusEvents(payload.value)];
    const message = messageOf(event);
    if (!message) return release();
    output.push(message);
    if (payload.case === "structuredOutputResult") return resultEvents(message);
    return [...release(), ...(running ? messageEvents(message, output.length - 1) : [])];
  }

  function statusEvents({ agentStatus }: StatusUpdate): readonly NewStreamEvent[] {
    const runs = agentStatus === TaskStatus.RUNNING;
    if (runs === running) return [];
    running = runs;
    if (runs) return beginning([...output]);
    const end = ending(agentStatus, before, [...output]);
    if (end.type !== "response.completed") return [end];
    held = [end];
    return [];
  }

  function resultEvents(message: Message): readonly NewStreamEvent[] {
    const ends = release().length > 0;
    return ends ? [...messageEvents(message, output.length - 1), completed(onlyResult(output))] : [];
  }

  const numbered = (events: readonly NewStreamEvent[]) => events.map((event) => ({ ...event, sequence_number: next++ }));

  return {
    map(event) {
      const events = numbered(eventsOf(event));
      before = event.payload;
      return events;
    },
    flush: () => numbered(release()),
    place: () => (running ? output.length : null),
  };
}

function beginning(output: readonly Message[]): readonly NewStreamEvent[] {
  const response: ResponseState = { status: "running", error: null, incomplete_details: null, output };
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
  ];
}

/** The event that ends a turn. @param before the event before the status: the error, the question, or the user's stop. */
function ending(status: TaskStatus, before: TaskEvent["payload"] | undefined, output: readonly Message[]): NewStreamEvent {
  const state = { error: null, incomplete_details: null, output };
  if (status === TaskStatus.ERROR) {
    return { type: "response.failed", response: { ...state, status: "error", error: errorOf(before) } };
  }
  if (status === TaskStatus.WAITING) {
    const reason = before?.case === "assistantMessage" ? "question" : "confirmation";
    return { type: "response.incomplete", response: { ...state, status: "pending", incomplete_details: { reason } } };
  }
  if (before?.case === "userStop") {
    return {
      type: "response.incomplete",
      response: { ...state, status: "completed", isStopped: true, incomplete_details: { reason: "stop" } },
    };
  }
  return completed(output);
}

const completed = (output: readonly Message[]): NewStreamEvent => ({
  type: "response.completed",
  response: { status: "completed", error: null, incomplete_details: null, output },
});

/** The events of one message. */
function messageEvents(message: Message, output_index: number): readonly NewStreamEvent[] {
  return [
    { type: "response.output_item.added", output_index, item: { ...message, status: "in_progress", content: [] } },
    ...message.content.flatMap((part, content_index) => partEvents(part, { item_id: message.id, output_index, content_index })),
    { type: "response.output_item.done", output_index, item: message },
  ];
}

/** The events of one part. A text without earlier parts is one delta. */
function partEvents(part: Part, position: Position): readonly NewStreamEvent[] {
  const done: NewStreamEvent = { type: "response.content_part.done", ...position, part };
  if (part.type !== "output_text") return [{ type: "response.content_part.added", ...position, part }, done];
  const { text } = part;
  return [
    { type: "response.content_part.added", ...position, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...position, delta: text, logprobs: [] },
    { type: "response.output_text.done", ...position, text, logprobs: [] },
    done,
  ];
}
