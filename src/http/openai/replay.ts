import { invalid } from "../../core/failure.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskService, type WatchTaskResponse } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Ask } from "../v1/route.ts";
import { isEnding, type StreamEvent, streamMapper } from "./stream.ts";

/**
 * A task's stream: from the newest turn on, or from the event after a number, wherever
 * that is. It ends with the first end of a turn that it tells, or with the events of a
 * task that rests.
 *
 * @throws Failure `invalid` when there is no event of that number; `absent`, `exhausted`;
 * the events also what a new call would get.
 */
export async function replay(ask: Ask, taskId: string, startingAfter: number | undefined): Promise<AsyncIterable<StreamEvent>> {
  const { lastSeq } = await ask(TaskService.method.getTask, { taskId });
  const answers = await ask.stream(TaskService.method.watchTask, { taskId, afterSeq: 0, untilSettled: true });
  const events = answers?.[Symbol.asyncIterator]();
  const map = streamMapper();
  try {
    return going(await past(events, map, lastSeq, startingAfter), map, events);
  } catch (thrown) {
    await events?.return?.();
    throw thrown;
  }
}

type Events = AsyncIterator<WatchTaskResponse> | undefined;
type Mapper = (event: TaskEvent) => readonly StreamEvent[];

/** What is to be told of a task up to one of its events: all that is there already. */
async function past(events: Events, map: Mapper, lastSeq: number, startingAfter: number | undefined): Promise<readonly StreamEvent[]> {
  let told: StreamEvent[] = [];
  let last = -1;
  for (let seq = 0; seq < lastSeq; ) {
    const event = await following(events);
    if (!event) break;
    seq = event.seq;
    for (const found of map(event)) {
      last = found.sequence_number;
      if (startingAfter === undefined && found.type === "response.created") told = [];
      if (last > (startingAfter ?? -1)) told.push(found);
    }
  }
  if (startingAfter !== undefined && startingAfter > last) throw invalid("starting_after", "no event has this number");
  return told;
}

async function* going(told: readonly StreamEvent[], map: Mapper, events: Events): AsyncGenerator<StreamEvent> {
  try {
    for (let some = told; ; ) {
      for (const event of some) {
        yield event;
        if (isEnding(event)) return;
      }
      const event = await following(events);
      if (!event) return;
      some = map(event);
    }
  } finally {
    await events?.return?.();
  }
}

async function following(events: Events): Promise<TaskEvent | undefined> {
  const found = await events?.next();
  return found?.done ? undefined : found?.value.event;
}
