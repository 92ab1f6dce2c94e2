import { Readable } from "node:stream";
import type { Clock } from "../../core/clock.ts";
import { Failure, failureOf } from "../../core/failure.ts";
import { withKeepAlives } from "../../core/tasks/watches.ts";
import { TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import { callHeaders, setHeaders } from "../answer-headers.ts";
import type { Answer, Invoke } from "../v1/route.ts";
import type { Call } from "../wire/wire.ts";
import { errorMember } from "./refusal.ts";
import { type Described, readConversation, responseObject, responseOf } from "./response.ts";
import type { StreamParts } from "./send-stream.ts";

/** Proxies close connections on which nothing is sent, and SDKs then create the response again. */
const silenceMs = 20_000;

interface HeldCreate {
  readonly taskId: string;
  readonly seconds: number;
}

/**
 * Answers a create in OpenAI's form once the turn is over, or the time is. After 20 s of silence the head is
 * sent, and then a blank for each 20 s: JSON may begin with blanks. A client that leaves ends the hold, and
 * not the task.
 *
 * @throws Failure before the head is sent. A later failure is the error of the response.
 */
export async function answerHeld(
  parts: StreamParts,
  ask: Invoke,
  call: Call,
  held: HeldCreate,
): Promise<Answer> {
  const work = answerAfter(parts.clock, ask, held);
  const waiting = new AbortController();
  const silence = parts.clock.sleep(silenceMs, waiting.signal).then(
    () => null,
    () => null,
  );
  const early = await Promise.race([work, silence]).finally(() => waiting.abort());
  if (early !== null) return early;
  const known = await readConversation(ask, held.taskId);
  const { reply, head } = call;
  const answer = work.catch((thrown: unknown) => {
    const failure = failureOf(thrown);
    parts.report(failure, head.requestId);
    return failedResponse(known, failure);
  });
  setHeaders(reply, callHeaders(head.requestId));
  reply.header("Content-Type", "application/json; charset=utf-8").header("X-Accel-Buffering", "no");
  reply.send(Readable.from(textWithBlanks(answer, parts.clock)));
  return undefined;
}

async function* textWithBlanks(answer: Promise<object>, clock: Clock): AsyncGenerator<string> {
  // Sends the head.
  yield " ";
  const text = async function* () {
    yield JSON.stringify(await answer);
  };
  yield* withKeepAlives(text(), () => " ", { clock, silenceMs });
}

/** The response once its turn is over. If it still runs, its metadata say why it is not held further. */
async function answerAfter(clock: Clock, ask: Invoke, { taskId, seconds }: HeldCreate): Promise<object> {
  const why = await untilSettled(clock, ask, { taskId, seconds });
  const response = responseOf(await readConversation(ask, taskId), "openai");
  if (why === null || response.status !== "in_progress") return response;
  const { warnings } = Object(response.metadata);
  const text = `${why}: read the response by its id until its status is not in_progress`;
  return {
    ...response,
    metadata: { ...response.metadata, warnings: warnings === undefined ? text : `${warnings}; ${text}` },
  };
}

/** Waits until the task does not run. @returns null, or why the wait was ended before. */
async function untilSettled(
  clock: Clock,
  ask: Invoke,
  { taskId, seconds }: HeldCreate,
): Promise<string | null> {
  const { lastSeq } = await ask(TaskService.method.getTask, { taskId });
  const over = new AbortController();
  let timedOut = false;
  const end = clock.sleep(seconds * 1000, over.signal).then(
    () => {
      timedOut = true;
      over.abort();
    },
    () => undefined,
  );
  try {
    const events = await ask.stream(
      TaskService.method.watchTask,
      { taskId, afterSeq: lastSeq, untilSettled: true },
      over.signal,
    );
    // The events are read again at the end.
    for await (const _ of events ?? []);
  } catch (thrown) {
    if (!timedOut) return reasonOf(thrown);
  } finally {
    over.abort();
    await end;
  }
  return timedOut ? `the turn takes longer than ${seconds} s` : null;
}

/** The response exists: a client that repeats a refused call would create a second one. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof Failure && thrown.reason === "resource_exhausted")
    return "too many calls are held (WATCH_LIMIT)";
  if (thrown instanceof Failure && thrown.reason === "unavailable") return "this process ends";
  throw thrown;
}

function failedResponse(known: Described, failure: Failure): object {
  const { code, message } = errorMember(failure);
  return responseObject(
    known,
    { status: "error", error: { code, message }, incomplete_details: null, output: [] },
    "openai",
  );
}
