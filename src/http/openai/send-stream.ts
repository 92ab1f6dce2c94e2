import type { FastifyReply } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { type Failure, failureOf } from "../../core/failure.ts";
import { TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import { callHeaders } from "../answer-headers.ts";
import type { Ask } from "../v1/route.ts";
import { eventStream, frame } from "../v2/event-stream.ts";
import { errorMember } from "./refusal.ts";
import { replay } from "./replay.ts";
import { responseObject } from "./response.ts";
import type { StreamEvent } from "./stream.ts";

/** What a stream needs of the process. */
export interface StreamParts {
  /** Streams that are silent for long say so by it. */
  readonly clock: Clock;
  readonly report: (failure: Failure, requestId: string) => void;
}

/**
 * Answers with a task's stream as server-sent events.
 *
 * @throws Failure before the first byte, as `replay` does; a later one is the last event.
 */
export async function sendStream(
  { clock, report }: StreamParts,
  ask: Ask,
  reply: FastifyReply,
  { taskId, startingAfter }: { readonly taskId: string; readonly startingAfter?: number | undefined },
): Promise<FastifyReply> {
  const requestId = reply.request.rest?.request.requestId ?? "";
  const events = await replay(ask, taskId, startingAfter);
  for (const [name, value] of callHeaders(requestId)) reply.header(name, value);
  reply.header("Content-Type", "text/event-stream; charset=utf-8").header("X-Accel-Buffering", "no");
  const shown = (event: StreamEvent) => ("response" in event ? withTask(ask, taskId, event) : event);
  return reply.send(
    eventStream(
      frames(events, shown, (failure) => report(failure, requestId)),
      clock,
    ),
  );
}

/** Title, credits and link are the task's as they are now; all else is the event's. */
async function withTask(ask: Ask, taskId: string, event: Extract<StreamEvent, { response: unknown }>): Promise<object> {
  const { task } = await ask(TaskService.method.getTask, { taskId });
  return task ? { ...event, response: responseObject(task, event.response) } : event;
}

async function* frames(
  events: AsyncIterable<StreamEvent>,
  shown: (event: StreamEvent) => object | Promise<object>,
  report: (failure: Failure) => void,
): AsyncGenerator<string> {
  let last = 0;
  try {
    for await (const event of events) {
      yield frame(event.type, JSON.stringify(await shown(event)));
      last = event.sequence_number;
    }
  } catch (thrown) {
    const failure = failureOf(thrown);
    report(failure);
    const { code, message, param } = errorMember(failure);
    // It is none of the task's events, so it takes no number from them: whoever comes again goes on after the last one.
    yield frame("error", JSON.stringify({ type: "error", sequence_number: last, code, message, param }));
  }
}
