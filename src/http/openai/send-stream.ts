import type { Clock } from "../../core/clock.ts";
import { type Failure, failureOf, invalidArgument } from "../../core/failure.ts";
import type { StatusUpdate, TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../gen/proto/task/v2/task_pb.ts";
import { TaskService, type WatchTaskResponse } from "../../gen/proto/task/v2/task_service_pb.ts";
import { callHeaders, setHeaders } from "../answer-headers.ts";
import type { Invoke } from "../v1/route.ts";
import { eventStream, frame } from "../v2/event-stream.ts";
import type { Call } from "../wire/wire.ts";
import { errorMember } from "./refusal.ts";
import { errorOf, type Message, messageOf, type Part, type ResponseState, responseObject } from "./response.ts";

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

/** A message, or one that is being sent. */
type StreamedMessage = Omit<Message, "status"> & { readonly status: Message["status"] | "in_progress" };

/** The position of a part in the conversation. */
interface Position {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

/** Whether a turn ends with this event. */
export const isEnding = ({ type }: NewStreamEvent): boolean => (endings as readonly string[]).includes(type);

/**
 * Creates a mapper from a task's events, in order from the first one, to events of the
 * Responses API. The result and its numbers depend only on the task's events, so every
 * stream of a task has the same events.
 *
 * A turn begins when the task starts to run and ends when it stops running. Messages
 * within a turn become events; messages between turns are in the output with which the
 * next turn begins. `output_index` is the position in the complete conversation.
 */
export function streamMapper(): (event: TaskEvent) => readonly StreamEvent[] {
  const output: Message[] = [];
  let running = false;
  let before: TaskEvent["payload"] | undefined;
  let next = 0;

  function eventsOf(event: TaskEvent): readonly NewStreamEvent[] {
    const { payload } = event;
    if (payload.case === "statusUpdate") return statusEvents(payload.value);
    const message = messageOf(event);
    if (!message) return [];
    output.push(message);
    return running ? messageEvents(message, output.length - 1) : [];
  }

  function statusEvents({ agentStatus }: StatusUpdate): readonly NewStreamEvent[] {
    const runs = agentStatus === TaskStatus.RUNNING;
    if (runs === running) return [];
    running = runs;
    return runs ? beginning([...output]) : [ending(agentStatus, before, [...output])];
  }

  return (event) => {
    const events = eventsOf(event).map((unnumbered) => ({ ...unnumbered, sequence_number: next++ }));
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
    return { type: "response.incomplete", response: { ...state, status: "completed", incomplete_details: { reason: "stop" } } };
  }
  return { type: "response.completed", response: { ...state, status: "completed" } };
}

/** The events of one message. */
function messageEvents(message: Message, output_index: number): readonly NewStreamEvent[] {
  return [
    { type: "response.output_item.added", output_index, item: { ...message, status: "in_progress", content: [] } },
    ...message.content.flatMap((part, content_index) => partEvents(part, { item_id: message.id, output_index, content_index })),
    { type: "response.output_item.done", output_index, item: message },
  ];
}

/** The events of one part. Agents send a text at once, so it is one delta. */
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

/**
 * Opens a task's stream: from the newest turn on, or from the event after a number. It
 * ends with the first end of a turn in it, or with the last event of an idle task.
 *
 * @throws Failure `invalid_argument` when no event has that number; `not_found`, `resource_exhausted`.
 * Reading the events also throws the failures of a new call.
 */
async function openStream(ask: Invoke, taskId: string, startingAfter: number | undefined): Promise<AsyncIterable<StreamEvent>> {
  const { lastSeq } = await ask(TaskService.method.getTask, { taskId });
  const answers = await ask.stream(TaskService.method.watchTask, { taskId, afterSeq: 0, untilSettled: true });
  const events = answers?.[Symbol.asyncIterator]();
  const map = streamMapper();
  try {
    return follow(await readPast(events, map, lastSeq, startingAfter), map, events);
  } catch (thrown) {
    await events?.return?.();
    throw thrown;
  }
}

type Events = AsyncIterator<WatchTaskResponse> | undefined;
type Mapper = (event: TaskEvent) => readonly StreamEvent[];

/** The events to send of those that the task already has. */
async function readPast(events: Events, map: Mapper, lastSeq: number, startingAfter: number | undefined): Promise<readonly StreamEvent[]> {
  let toSend: StreamEvent[] = [];
  let last = -1;
  for (let seq = 0; seq < lastSeq; ) {
    const event = await nextEvent(events);
    if (!event) break;
    seq = event.seq;
    for (const mapped of map(event)) {
      last = mapped.sequence_number;
      if (startingAfter === undefined && mapped.type === "response.created") toSend = [];
      if (last > (startingAfter ?? -1)) toSend.push(mapped);
    }
  }
  if (startingAfter !== undefined && startingAfter > last) throw invalidArgument("starting_after", "no event has this number");
  return toSend;
}

async function* follow(past: readonly StreamEvent[], map: Mapper, events: Events): AsyncGenerator<StreamEvent> {
  try {
    for (let some = past; ; ) {
      for (const event of some) {
        yield event;
        if (isEnding(event)) return;
      }
      const event = await nextEvent(events);
      if (!event) return;
      some = map(event);
    }
  } finally {
    await events?.return?.();
  }
}

async function nextEvent(events: Events): Promise<TaskEvent | undefined> {
  const result = await events?.next();
  return result?.done ? undefined : result?.value.event;
}

/** The dependencies of a stream. */
export interface StreamParts {
  /** The clock of keep-alive comments. */
  readonly clock: Clock;
  readonly report: (failure: Failure, requestId: string) => void;
}

/**
 * Answers with a task's stream as server-sent events.
 *
 * @throws Failure before the first byte, as in `openStream`. A later failure becomes the last event.
 */
export async function sendStream(
  { clock, report }: StreamParts,
  ask: Invoke,
  { reply, head: { requestId } }: Call,
  { taskId, startingAfter }: { readonly taskId: string; readonly startingAfter?: number | undefined },
): Promise<undefined> {
  const events = await openStream(ask, taskId, startingAfter);
  setHeaders(reply, callHeaders(requestId));
  reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
  const addTask = (event: StreamEvent) => ("response" in event ? withTask(ask, taskId, event) : event);
  reply.send(
    eventStream(
      frames(events, addTask, (failure) => report(failure, requestId)),
      clock,
    ),
  );
}

/** Adds the task to an event: current title, credits and link; all other members come from the event. */
async function withTask(ask: Invoke, taskId: string, event: Extract<StreamEvent, { response: unknown }>): Promise<object> {
  const { task } = await ask(TaskService.method.getTask, { taskId });
  return task ? { ...event, response: responseObject(task, event.response) } : event;
}

async function* frames(
  events: AsyncIterable<StreamEvent>,
  addTask: (event: StreamEvent) => object | Promise<object>,
  report: (failure: Failure) => void,
): AsyncGenerator<string> {
  let last = 0;
  try {
    for await (const event of events) {
      yield frame(event.type, JSON.stringify(await addTask(event)));
      last = event.sequence_number;
    }
  } catch (thrown) {
    const failure = failureOf(thrown);
    report(failure);
    const { code, message, param } = errorMember(failure);
    // It is not an event of the task, so it has no number: a client that reconnects continues after the last event.
    yield frame("error", JSON.stringify({ type: "error", sequence_number: last, code, message, param }));
  }
}
