import type { Clock } from "../../core/clock.ts";
import { type Failure, failureOf, invalidArgument } from "../../core/failure.ts";
import { TaskService, type WatchTaskResponse } from "../../gen/proto/task/v2/task_service_pb.ts";
import { callHeaders, setHeaders } from "../answer-headers.ts";
import type { Invoke } from "../v1/route.ts";
import { eventStream, frame } from "../v2/event-stream.ts";
import type { Call } from "../wire/wire.ts";
import type { Form } from "./items.ts";
import { type LiveItems, liveItems } from "./live-items.ts";
import { hasSchema } from "./openai-form.ts";
import { errorMember } from "./refusal.ts";
import { type Described, outputIn, readConversation, responseObject } from "./response.ts";
import { isEnding, type StreamEvent, type StreamMapper, streamMapper } from "./stream-events.ts";

/**
 * Opens a task's stream: from the newest turn on, or from the event after a number. It
 * ends with the first end of a turn in it, or with the last event of an idle task.
 *
 * @throws Failure `invalid_argument` when no event has that number; `not_found`, `resource_exhausted`.
 * Reading the events also throws the failures of a new call.
 */
async function openStream(
  ask: Invoke,
  { taskId, startingAfter, form }: StreamRequest,
  known: Described | null,
): Promise<AsyncIterable<StreamEvent>> {
  const { lastSeq } = await ask(TaskService.method.getTask, { taskId });
  const answers = await ask.stream(TaskService.method.watchTask, {
    taskId,
    afterSeq: 0,
    untilSettled: true,
    deltas: true,
  });
  const events = answers?.[Symbol.asyncIterator]();
  const mapper = streamMapper({ output: outputIn(form, taskId), holdsMessages: hasSchema(known?.turn) });
  try {
    const { toSend, last } = await readPast(events, mapper, lastSeq, startingAfter);
    return follow(toSend, { ...mapper, ...liveItems(taskId, mapper, last) }, events);
  } catch (thrown) {
    await events?.return?.();
    throw thrown;
  }
}

type Events = AsyncIterator<WatchTaskResponse> | undefined;

/** The events to send of those that the task already has. */
async function readPast(
  events: Events,
  { map, flush }: StreamMapper,
  lastSeq: number,
  startingAfter: number | undefined,
): Promise<{ toSend: readonly StreamEvent[]; last: number }> {
  let toSend: StreamEvent[] = [];
  let last = -1;
  for (let seq = 0; seq < lastSeq; ) {
    const answer = await nextAnswer(events);
    if (!answer) break;
    const { event } = answer;
    if (!event) continue;
    seq = event.seq;
    // A change writes all of its events: nothing that belongs to this one follows the last one.
    for (const mapped of [...map(event), ...(seq >= lastSeq ? flush() : [])]) {
      last = mapped.sequence_number;
      if (startingAfter === undefined && mapped.type === "response.created") toSend = [];
      if (last > (startingAfter ?? -1)) toSend.push(mapped);
    }
  }
  if (startingAfter !== undefined && startingAfter > last)
    throw invalidArgument("starting_after", "no event has this number");
  return { toSend, last };
}

async function* follow(
  past: readonly StreamEvent[],
  { map, flush, add, merge }: StreamMapper & LiveItems,
  events: Events,
): AsyncGenerator<StreamEvent> {
  try {
    for (let some = past; ; ) {
      for (const event of some) {
        yield event;
        if (isEnding(event)) return;
      }
      const answer = await nextAnswer(events);
      if (!answer) return yield* merge(flush());
      const { event, delta } = answer;
      some = event ? merge(map(event)) : delta ? add(delta) : [];
    }
  } finally {
    await events?.return?.();
  }
}

async function nextAnswer(events: Events): Promise<WatchTaskResponse | undefined> {
  const result = await events?.next();
  return result?.done ? undefined : result?.value;
}

export interface StreamParts {
  /** The clock of keep-alive comments. */
  readonly clock: Clock;
  readonly report: (failure: Failure, requestId: string) => void;
}

interface StreamRequest {
  readonly taskId: string;
  readonly startingAfter?: number | undefined;
  readonly form: Form;
}

/**
 * Answers with a task's stream as server-sent events.
 *
 * @throws Failure before the first byte, as in `openStream`. A later failure becomes the last event.
 */
export async function sendStream(
  { clock, report }: StreamParts,
  ask: Invoke,
  { request, reply, head: { requestId } }: Call,
  stream: StreamRequest,
): Promise<undefined> {
  // In OpenAI's form a response repeats members of its create.
  const known = stream.form === "openai" ? await describe(ask, stream.taskId, true) : null;
  const events = await openStream(ask, stream, known);
  setHeaders(reply, callHeaders(requestId));
  reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
  // The end of the answer closes the stream.
  if (request.method === "HEAD") return void reply.send();
  const addTask = (event: StreamEvent) => ("response" in event ? withTask(ask, stream, known, event) : event);
  reply.send(
    eventStream(
      frames(events, addTask, (failure) => report(failure, requestId)),
      clock,
    ),
  );
}

/**
 * Adds the task to an event: current title, credits and link, at the end also the tokens; all other members
 * come from the event.
 */
async function withTask(
  ask: Invoke,
  { taskId, form }: StreamRequest,
  known: Described | null,
  event: Extract<StreamEvent, { response: unknown }>,
): Promise<object> {
  const described = isEnding(event) || !known ? await describe(ask, taskId, isEnding(event)) : known;
  return { ...event, response: responseObject(described, event.response, form) };
}

async function describe(ask: Invoke, taskId: string, isCounted: boolean): Promise<Described> {
  const { task, ...more } = isCounted
    ? await readConversation(ask, taskId)
    : await ask(TaskService.method.getTask, { taskId });
  if (!task) throw new Error("the answer has no task");
  return { task, ...more };
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
    // It is not an event of the task, so it has no number: a client that reconnects continues after the last
    // event.
    yield frame("error", JSON.stringify({ type: "error", sequence_number: last, code, message, param }));
  }
}
