import { ConnectionError, refusalIn } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import { timeLimit } from "./runtime.ts";
import type { Transport } from "./transport.ts";

/** One response of `WatchTasks`, in the JSON of Connect. */
export interface TaskChanges {
  readonly tasks?: readonly { readonly id: string; readonly status?: string }[];
  readonly removedIds?: readonly string[];
  readonly cursor?: string;
  readonly resync?: boolean;
}

const name = "task.v2.TaskService/WatchTasks";
/** The server sends a message after 15 s of silence: after 40 s the connection counts as lost. */
const silenceMs = 40_000;
/** The last message of a stream of Connect (https://connectrpc.com/docs/protocol, "Streaming-Response"). */
const lastFlag = 2;

/**
 * Changes of the caller's tasks from now on, or after a cursor; one connection. @throws ApiError,
 * ConnectionError
 */
export async function* taskChanges(
  http: Transport,
  cursor: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<TaskChanges> {
  const body = { follow: true, keepAlive: true, ...(cursor === undefined ? {} : { cursor }) };
  const limit = timeLimit(silenceMs, name, signal);
  try {
    const stream = await http.open(
      { operation: name, path: `/${name}`, body, isChange: false, isStream: true },
      limit,
    );
    for await (const { flags, message } of readMessages(stream, () => limit.renew())) {
      if (flags !== lastFlag) yield message;
      else if ("error" in message)
        throw refusalIn(message, { status: 0, operation: name, requestId: undefined, retryAfter: undefined });
      else return;
    }
    throw new ConnectionError(`the stream was cut: ${name}`);
  } finally {
    limit.stop();
  }
}

/** A message with its flags and length before it, as streams of Connect have it. */
export function envelope(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const whole = new Uint8Array(5 + bytes.length);
  new DataView(whole.buffer).setUint32(1, bytes.length);
  whole.set(bytes, 5);
  return whole;
}

async function* readMessages(
  body: ReadableStream<Uint8Array> | null,
  onBytes: () => void,
): AsyncGenerator<{ readonly flags: number; readonly message: JsonObject & TaskChanges }> {
  const reader = body?.getReader();
  let rest = new Uint8Array();
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || !value) return;
      onBytes();
      const all = new Uint8Array(rest.length + value.length);
      all.set(rest);
      all.set(value, rest.length);
      rest = all;
      for (let next = messageIn(rest); next; next = messageIn(rest)) {
        rest = rest.slice(next.length);
        yield next;
      }
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

/** The first message, if it is complete. */
function messageIn(bytes: Uint8Array) {
  if (bytes.length < 5) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = 5 + view.getUint32(1);
  if (bytes.length < length) return undefined;
  return {
    flags: view.getUint8(0),
    length,
    message: JSON.parse(new TextDecoder().decode(bytes.subarray(5, length))),
  };
}
