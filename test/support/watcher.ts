import { type EventEmitter, once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type IncomingHttpStatusHeader } from "node:http2";
import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { TaskEventTypeSchema } from "../../src/gen/proto/task/v2/task_event_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { framesIn } from "./event-stream.ts";
import type { Calling } from "./service.ts";
import { clientOf, type RpcWire, rpcWires, type V2Body } from "./wires.ts";

/** Ways to watch a task: server-sent events by GET, by POST and over HTTP/2, and the RPC wires. */
export const watchWires = ["sse", "sse-post", "sse-http2", ...rpcWires] as const;
export type WatchWire = (typeof watchWires)[number];

/** The parts of an event that are equal on all wires. */
export interface WatchedEvent {
  readonly id: string;
  readonly seq: number;
  /** In v2's name. */
  readonly type: string;
}

/** The request; `lastEventId` on server-sent events only. */
export interface WatchQuery {
  readonly taskId: string;
  readonly afterSeq?: number;
  readonly untilSettled?: boolean;
  readonly lastEventId?: string;
  readonly deltas?: boolean;
  readonly reads?: boolean;
}

/** A part of a text, equal on all wires. */
export interface WatchedDelta {
  readonly delta: {
    readonly messageKey: string;
    readonly attempt: number;
    readonly offset: number;
    readonly text: string;
    readonly type: string;
  };
}

/** The messages up to this event are read; equal on all wires. */
export interface WatchedRead {
  readonly readSeq: number;
}

/** A watcher of a task, over real sockets. */
export interface Watcher {
  /** The events received so far. */
  readonly events: readonly WatchedEvent[];
  /** The parts of texts so far, and the number of events before each. */
  readonly deltas: readonly (WatchedDelta["delta"] & { readonly after: number })[];
  /** How far the messages are read, after each change. */
  readonly reads: readonly number[];
  /** Comments so far; only on server-sent events. */
  readonly comments: readonly string[];
  /** Resolves once this many events have arrived. @throws when the stream ends before. */
  until(count: number): Promise<void>;
  /** `ok`, or the code and text of the refusal or the end: equal on all wires, except the 401. */
  readonly end: Promise<string>;
  /** From the answer's head. */
  readonly headers: Promise<Headers>;
  /** The details of the error at the end, as an RPC client sees them; empty without one. */
  readonly metadata: Promise<Headers>;
  /** Disconnects. */
  close(): void;
}

/** How a wire's stream reaches a watcher. */
interface Stream {
  readonly events: AsyncIterable<WatchedEvent | WatchedDelta | WatchedRead | { readonly comment: string }>;
  close(): void;
}

/** Begins to watch at once. */
export function watcher(url: string, person: Calling, wire: WatchWire, query: WatchQuery): Watcher {
  const events: WatchedEvent[] = [];
  const deltas: Watcher["deltas"][number][] = [];
  const reads: number[] = [];
  const comments: string[] = [];
  const headers = Promise.withResolvers<Headers>();
  headers.promise.catch(() => undefined);
  const bell = new EventTarget();
  const stream = isRpc(wire)
    ? overRpc(url, person, wire, query, headers.resolve)
    : overEvents(url, person, wire, query, headers.resolve);
  let ended: string | undefined;

  async function read(): Promise<Ended> {
    try {
      for await (const next of stream.events) {
        if ("comment" in next) comments.push(next.comment);
        else if ("readSeq" in next) reads.push(next.readSeq);
        else if ("delta" in next) deltas.push({ ...next.delta, after: events.length });
        else events.push(next);
        bell.dispatchEvent(new Event("told"));
      }
      return new Ended("ok");
    } catch (thrown) {
      return thrown instanceof Ended ? thrown : new Ended(`broken: ${thrown}`);
    }
  }
  const end = read().then((how) => {
    ended = how.message;
    bell.dispatchEvent(new Event("told"));
    return how;
  });

  return {
    events: events,
    deltas,
    reads,
    comments,
    async until(count) {
      while (events.length < count && ended === undefined) await once(bell, "told");
      if (events.length < count) throw new Error(`ended with ${events.length} of ${count} events: ${ended}`);
    },
    end: end.then(({ message }) => message),
    headers: headers.promise,
    metadata: end.then(({ metadata }) => metadata),
    close: stream.close,
  };
}

/** How a stream ended. */
class Ended extends Error {
  readonly metadata: Headers;

  constructor(words: string, metadata = new Headers()) {
    super(words);
    this.metadata = metadata;
  }
}

const isRpc = (wire: WatchWire): wire is RpcWire => (rpcWires as readonly string[]).includes(wire);

function overRpc(
  url: string,
  { headers }: Calling,
  wire: RpcWire,
  { taskId, afterSeq, untilSettled = false, deltas = false, reads = false }: WatchQuery,
  tell: (headers: Headers) => void,
): Stream {
  const away = new AbortController();
  const request = { taskId, untilSettled, deltas, reads, ...(afterSeq === undefined ? {} : { afterSeq }) };
  const answers = clientOf(TaskService, wire, url, headers).watchTask(request, {
    signal: away.signal,
    onHeader: tell,
  });
  async function* events(): AsyncGenerator<WatchedEvent | WatchedDelta | WatchedRead> {
    try {
      for await (const { event, delta, messageRead } of answers) {
        if (messageRead) {
          yield { readSeq: messageRead.readSeq };
          continue;
        }
        if (delta) {
          yield {
            delta: {
              ...delta,
              attempt: Number(delta.attempt),
              type: TaskEventTypeSchema.value[delta.type]?.localName.toLowerCase() ?? "",
            },
          };
          continue;
        }
        if (!event) throw new Error("an answer without an event");
        yield {
          id: event.id,
          seq: event.seq,
          type: TaskEventTypeSchema.value[event.type]?.localName.toLowerCase() ?? "",
        };
      }
    } catch (thrown) {
      const error = ConnectError.from(thrown);
      throw new Ended(`${snake(Code[error.code] ?? "")}: ${error.rawMessage}`, error.metadata);
    }
  }
  return { events: events(), close: () => away.abort() };
}

const snake = (name: string): string => name.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase();

function overEvents(
  url: string,
  person: Calling,
  wire: WatchWire,
  query: WatchQuery,
  tell: (headers: Headers) => void,
): Stream {
  const { lastEventId, taskId: task_id, afterSeq: after_seq, untilSettled: until_settled } = query;
  const { deltas, reads } = query;
  const headers = {
    ...person.headers,
    ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
  };
  const body = JSON.parse(JSON.stringify({ task_id, after_seq, until_settled, deltas, reads })) as Record<
    string,
    string
  >;
  const send = wire === "sse-http2" ? overHttp2 : overHttp1;
  const { answer, close } = send(`${url}/v2/task.watch`, wire === "sse-post" ? "POST" : "GET", headers, body);
  async function* events() {
    const { status, headers: given, body } = await answer;
    tell(given);
    if (status === 204) return;
    if (given.get("content-type") !== "text/event-stream; charset=utf-8") throw await refusal(status, body);
    yield* eventsIn(body);
  }
  return { events: events(), close };
}

async function refusal(status: number, body: Readable): Promise<Ended> {
  const { error } = JSON.parse(Buffer.concat(await body.toArray()).toString()) as V2Body;
  return new Ended(`${error?.code}: ${error?.message} (${status})`);
}

/** The events of a stream; each frame's fields repeat the event's. */
async function* eventsIn(
  body: Readable,
): AsyncGenerator<WatchedEvent | WatchedDelta | WatchedRead | { readonly comment: string }> {
  for await (const frame of framesIn(body)) {
    if ("comment" in frame) {
      yield frame;
      continue;
    }
    const data = JSON.parse(frame.data) as V2Body;
    if (frame.event === "end") {
      if (data.ok) return;
      throw new Ended(`${data.error?.code}: ${data.error?.message}`);
    }
    if (frame.event === "text_delta") {
      const { message_key: messageKey, attempt, offset, text, type } = data;
      yield { delta: { messageKey, attempt, offset: offset ?? 0, text, type } };
      continue;
    }
    if (frame.event === "message_read") {
      yield { readSeq: data["read_seq"] };
      continue;
    }
    const { id, seq, type } = data as unknown as WatchedEvent;
    if (frame.event !== type || frame.lastEventId !== `${seq}`)
      throw new Error(`the frame ${frame.event} ${frame.lastEventId} holds ${frame.data}`);
    yield { id, seq, type };
  }
  throw new Ended("broken: no end");
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

interface Sent {
  readonly answer: Promise<Answer>;
  close(): void;
}

type Headed = Readonly<Record<string, string>>;

function overHttp1(url: string, method: string, headers: Headed, asked: Record<string, string>): Sent {
  const sent = request(method === "GET" ? `${url}?${new URLSearchParams(asked)}` : url, {
    method,
    headers,
    agent: false,
  });
  sent.on("error", () => undefined);
  sent.end(method === "GET" ? undefined : JSON.stringify(asked));
  async function answer(): Promise<Answer> {
    const response = await headOf<IncomingMessage>(sent);
    return { status: response.statusCode ?? 0, headers: headersOf(response.headers), body: response };
  }
  return { answer: answer(), close: () => sent.destroy() };
}

function overHttp2(url: string, method: string, headers: Headed, asked: Record<string, string>): Sent {
  const { origin, pathname } = new URL(url);
  const session = connect(origin);
  session.on("error", () => undefined);
  const stream = session.request({
    ":method": method,
    ":path": `${pathname}?${new URLSearchParams(asked)}`,
    ...headers,
  });
  stream.on("error", () => undefined);
  stream.once("close", () => session.close());
  async function answer(): Promise<Answer> {
    const { ":status": status, ...fields } = await headOf<IncomingHttpHeaders & IncomingHttpStatusHeader>(
      stream,
    );
    return { status: status ?? 0, headers: headersOf(fields), body: stream };
  }
  return { answer: answer(), close: () => session.destroy() };
}

/** The result of a request's "response"; an aborted request has none. */
async function headOf<T>(sent: EventEmitter): Promise<T> {
  const closed = once(sent, "close").then(() => Promise.reject(new Ended("broken: gone")));
  const [head] = await Promise.race([once(sent, "response"), closed]);
  return head;
}

const headersOf = (fields: IncomingHttpHeaders): Headers =>
  new Headers(Object.entries(fields).map(([name, value]) => [name, String(value)]));
