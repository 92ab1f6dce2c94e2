import type { Message } from "@bufbuild/protobuf";
import type {
  CallOptions,
  Outgoing,
  StreamEvent,
  StreamOptions,
  Transport,
} from "../../../packages/client/src/index.ts";
import { failureOf } from "../../core/failure.ts";
import { TaskEventSchema } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TextDeltaSchema, type WatchTaskResponse } from "../../gen/proto/task/v2/task_service_pb.ts";
import { compileObjectWriter } from "../../http/v2/writer.ts";
import { type Call, type Calls, errorOf } from "./calls.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
/**
 * There are no headers and no status: one for all answers, made on first use, because Node then loads its
 * HTTP client.
 */
let response: Response | undefined;

/**
 * Carries the calls of a client to operations in this process, for the credential of one request. Objects of
 * v2 go in and come out; no text is made of them. It reads no environment, repeats nothing and makes no
 * idempotency key.
 *
 * @param ended ends all calls.
 */
export const inProcessTransport = (calls: Calls, ended: AbortSignal): Transport => ({
  options: {},
  baseUrl: "",
  log: silent,
  reopens: false,
  fetch: () => Promise.reject(new TypeError("calls in the process have no addresses")),
  sleep: () => Promise.reject(new TypeError("calls in the process are not repeated")),
  places: (work) => work(),
  async send(request, { signal, timeoutMs, idempotencyKey }: CallOptions = {}) {
    const data = await calls.perform(callIn(request), within(ended, signal, timeoutMs), idempotencyKey);
    const { requestId } = calls;
    response ??= new Response(null);
    return { data: { request_id: requestId, ...data }, requestId, response };
  },
  open: () => Promise.reject(new TypeError("streams in the process have no bytes")),
  async events(request, { signal }: StreamOptions = {}) {
    if (request.operation !== "task.watch")
      throw new TypeError(`${request.operation} is not a stream of this transport`);
    const messages = await calls.stream(callIn(request), within(ended, signal));
    return messages && eventsIn(messages, calls.requestId);
  },
});

const callIn = ({ operation, path, body }: Outgoing): Call => ({
  operation,
  form: path.startsWith("/v2/") ? "v2" : "connect",
  input: body,
});

const within = (ended: AbortSignal, signal?: AbortSignal, timeoutMs?: number): AbortSignal =>
  signal === undefined && timeoutMs === undefined
    ? ended
    : AbortSignal.any([
        ended,
        ...(signal ? [signal] : []),
        ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
      ]);

const writeEvent = compileObjectWriter(TaskEventSchema);
const writeDelta = compileObjectWriter(TextDeltaSchema);

/** The events of a watch, without messages that only keep a connection open. */
async function* eventsIn(messages: AsyncIterable<Message>, requestId: string): AsyncGenerator<StreamEvent> {
  try {
    // The schema of the answers.
    for await (const { event, delta } of messages as AsyncIterable<WatchTaskResponse>) {
      if (event) {
        const data = writeEvent(event);
        const { type } = data;
        yield { event: String(type), data };
      }
      if (delta) yield { event: "text_delta", data: writeDelta(delta) };
    }
  } catch (thrown) {
    throw errorOf(failureOf(thrown), "task.watch", requestId);
  }
}
