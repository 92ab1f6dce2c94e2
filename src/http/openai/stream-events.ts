import type { StatusUpdate, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { hostedOutput } from "./hosted-form.ts";
import type { Citation, Form, Message, Output, Part, ResponseState } from "./items.ts";
import { commentaryOf } from "./openai-form.ts";
import { errorOf, secondsOf } from "./response.ts";

/** An event of a stream without its sequence number. */
export type NewStreamEvent =
  | { readonly type: LifecycleType; readonly response: ResponseState }
  | {
      readonly type: `response.output_item.${"added" | "done"}`;
      readonly output_index: number;
      readonly item: StreamedMessage;
    }
  | (Position & { readonly type: `response.content_part.${"added" | "done"}`; readonly part: Part })
  | (Position & {
      readonly type: "response.output_text.delta";
      readonly delta: string;
      readonly logprobs: readonly never[];
    })
  | (Position & {
      readonly type: "response.output_text.done";
      readonly text: string;
      readonly logprobs: readonly never[];
    })
  | (Position & {
      readonly type: "response.output_text.annotation.added";
      readonly annotation_index: number;
      readonly annotation: Citation;
    })
  | (Position & { readonly type: "response.refusal.delta"; readonly delta: string })
  | (Position & { readonly type: "response.refusal.done"; readonly refusal: string });

/** An event of the Responses API; the sequence numbers of a task begin at 0 and have no gap. */
export type StreamEvent = NewStreamEvent & { readonly sequence_number: number };

const endings = ["response.completed", "response.incomplete", "response.failed"] as const;
type EndingType = (typeof endings)[number];
type LifecycleType = "response.created" | "response.in_progress" | EndingType;

/**
 * A message, or one that is being sent. `incomplete`: what was sent of its text is not the text of a message.
 */
type StreamedMessage = Omit<Message, "status"> & {
  readonly status: Message["status"] | "in_progress" | "incomplete";
};

interface Position {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

/** Whether a turn ends with this event. */
export const isEnding = ({ type }: NewStreamEvent): boolean => (endings as readonly string[]).includes(type);

export interface StreamMapper {
  map(event: TaskEvent): readonly StreamEvent[];
  /** The events that were held back for a next event, when the task has none. */
  flush(): readonly StreamEvent[];
  /** Where the next message is; null while no turn runs, and while messages are held back. */
  place(): Place | null;
  /** Whether ids of items are known before their events. */
  readonly namesItems: boolean;
}

/** The position of a message, and its id where this is known before its event. */
export interface Place {
  readonly index: number;
  readonly id?: string;
}

/** How a stream has its output. */
export interface MapperInput {
  readonly output?: Output;
  /**
   * Holds the messages of a turn back until it is known whether a structured output follows, which makes them
   * commentary.
   */
  readonly holdsMessages?: boolean;
}

interface PlacedMessage {
  readonly message: Message;
  readonly index: number;
}

/**
 * Creates a mapper from a task's events, in order from the first one, to events of the Responses API. The
 * result and its numbers depend only on the task's events, so every stream of a task has the same events.
 *
 * A turn begins when the task starts to run and ends when it stops running. Messages within a turn become
 * events. In the hosted form messages between turns are in the output with which the next turn begins, and
 * `output_index` is the position in the complete conversation; in OpenAI's form it is the position in the
 * turn. The end of a finished turn is held back until the next event is known: the value of a structured
 * output comes directly after it, and belongs to the turn.
 */
export function streamMapper({
  output = hostedOutput(),
  holdsMessages = false,
}: MapperInput = {}): StreamMapper {
  const isOpenai = output.form === "openai";
  let running = false;
  let index = 0;
  let held: NewStreamEvent | null = null;
  /**
   * Messages that are held back; null when they are sent at once. In the past it is not known whether a turn
   * has a structured output.
   */
  let messages: PlacedMessage[] | null = isOpenai ? [] : null;
  let before: TaskEvent | undefined;
  let next = 0;

  const endOf = (last: TaskEvent | undefined): EndTime =>
    isOpenai && last ? { completedAt: secondsOf(last) } : {};
  const eventsOfMessage = ({ message, index }: PlacedMessage) => messageEvents(message, index, output.form);

  function takeMessages(): readonly PlacedMessage[] {
    return messages?.splice(0) ?? [];
  }

  function release(): readonly NewStreamEvent[] {
    if (!held) return [];
    const end = held;
    held = null;
    return [...takeMessages().flatMap(eventsOfMessage), end];
  }

  function eventsOf(event: TaskEvent): readonly NewStreamEvent[] {
    const { payload } = event;
    if (payload.case === "statusUpdate") return [...release(), ...statusEvents(payload.value)];
    const message = output.add(event);
    if (!message) return release();
    if (payload.case === "structuredOutputResult") return resultEvents(message, event);
    return [...release(), ...(running ? send({ message, index: index++ }) : [])];
  }

  function send(placed: PlacedMessage): readonly NewStreamEvent[] {
    if (!messages) return eventsOfMessage(placed);
    messages.push(placed);
    return [];
  }

  function statusEvents({ agentStatus }: StatusUpdate): readonly NewStreamEvent[] {
    const runs = agentStatus === TaskStatus.RUNNING;
    if (runs === running) return [];
    running = runs;
    if (runs) {
      index = isOpenai ? 0 : output.items().length;
      return beginning(output.items());
    }
    const end = ending(agentStatus, before, output.items(), endOf(before));
    if (end.type !== "response.completed") return [...takeMessages().flatMap(eventsOfMessage), end];
    held = end;
    return [];
  }

  function resultEvents(message: Message, event: TaskEvent): readonly NewStreamEvent[] {
    if (!held) return [];
    held = null;
    const commentary = takeMessages().map((placed) => ({ ...placed, message: commentaryOf(placed.message) }));
    return [
      ...[...commentary, { message, index: index++ }].flatMap(eventsOfMessage),
      completed(output.withResult(), endOf(event)),
    ];
  }

  const numbered = (events: readonly NewStreamEvent[]) =>
    events.map((event) => ({ ...event, sequence_number: next++ }));

  return {
    map(event) {
      const events = numbered(eventsOf(event));
      before = event;
      return events;
    },
    flush() {
      const released = release();
      if (holdsMessages) return numbered(released);
      const events = [...released, ...takeMessages().flatMap(eventsOfMessage)];
      messages = null;
      return numbered(events);
    },
    namesItems: output.nextId !== undefined,
    place: () => (running && !messages ? { index, ...(output.nextId ? { id: output.nextId() } : {}) } : null),
  };
}

function beginning(output: readonly Message[]): readonly NewStreamEvent[] {
  const response: ResponseState = { status: "running", error: null, incomplete_details: null, output };
  return [
    { type: "response.created", response },
    { type: "response.in_progress", response },
  ];
}

/**
 * The event that ends a turn. @param last the event before the status: the error, the question, or the user's
 * stop.
 */
function ending(
  status: TaskStatus,
  last: TaskEvent | undefined,
  output: readonly Message[],
  at: EndTime,
): NewStreamEvent {
  const before = last?.payload;
  const state = { error: null, incomplete_details: null, output };
  if (status === TaskStatus.ERROR) {
    return { type: "response.failed", response: { ...state, status: "error", error: errorOf(before) } };
  }
  if (status === TaskStatus.WAITING) {
    const reason = before?.case === "assistantMessage" ? "question" : "confirmation";
    return {
      type: "response.incomplete",
      response: { ...state, status: "pending", incomplete_details: { reason } },
    };
  }
  if (before?.case === "userStop") {
    return {
      type: "response.incomplete",
      response: { ...state, status: "completed", isStopped: true, incomplete_details: { reason: "stop" } },
    };
  }
  return completed(output, at);
}

/** When a turn was finished, in OpenAI's form. */
type EndTime = Pick<ResponseState, "completedAt">;

const completed = (output: readonly Message[], at: EndTime): NewStreamEvent => ({
  type: "response.completed",
  response: { status: "completed", error: null, incomplete_details: null, output, ...at },
});

function messageEvents(message: Message, output_index: number, form: Form): readonly NewStreamEvent[] {
  return [
    {
      type: "response.output_item.added",
      output_index,
      item: { ...message, status: "in_progress", content: [] },
    },
    ...message.content.flatMap((part, content_index) =>
      partEvents(part, { item_id: message.id, output_index, content_index }, form),
    ),
    { type: "response.output_item.done", output_index, item: message },
  ];
}

/** The events of one part. A text without earlier parts is one delta. */
function partEvents(part: Part, position: Position, form: Form): readonly NewStreamEvent[] {
  const done: NewStreamEvent = { type: "response.content_part.done", ...position, part };
  if (part.type === "output_text") return textEvents(part, position, done);
  if (part.type !== "refusal" || form === "platform")
    return [{ type: "response.content_part.added", ...position, part }, done];
  const { refusal } = part;
  return [
    { type: "response.content_part.added", ...position, part: { ...part, refusal: "" } },
    { type: "response.refusal.delta", ...position, delta: refusal },
    { type: "response.refusal.done", ...position, refusal },
    done,
  ];
}

function textEvents(
  part: Extract<Part, { type: "output_text" }>,
  position: Position,
  done: NewStreamEvent,
): readonly NewStreamEvent[] {
  const { text, annotations } = part;
  return [
    { type: "response.content_part.added", ...position, part: { ...part, text: "", annotations: [] } },
    { type: "response.output_text.delta", ...position, delta: text, logprobs: [] },
    ...annotations.map((annotation, annotation_index) => ({
      type: "response.output_text.annotation.added" as const,
      ...position,
      annotation_index,
      annotation,
    })),
    { type: "response.output_text.done", ...position, text, logprobs: [] },
    done,
  ];
}
