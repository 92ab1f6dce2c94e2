import type { ServerResponse } from "node:http";
import { constants, type Http2ServerResponse } from "node:http2";
import type { Fault } from "./fault.ts";

/**
 * Ends the connection of an answer before it is complete. Over HTTP/2 its stream ends, and the others
 * continue.
 */
export function endConnection(response: ServerResponse | Http2ServerResponse): void {
  if ("stream" in response) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** Replaces what an answer writes. `write` gets every chunk; null is the end. */
function intercept(response: ServerResponse, write: (chunk: Buffer | null) => void): void {
  const bytesOf = (chunk: unknown): Buffer | null =>
    typeof chunk === "string" ? Buffer.from(chunk) : chunk instanceof Uint8Array ? Buffer.from(chunk) : null;
  const forms = {
    write(chunk: unknown, ...rest: readonly unknown[]) {
      const bytes = bytesOf(chunk);
      if (bytes) write(bytes);
      const done = rest.findLast((each) => typeof each === "function");
      if (done) setImmediate(done as () => void);
      return true;
    },
    end(chunk?: unknown) {
      const bytes = bytesOf(chunk);
      if (bytes) write(bytes);
      write(null);
      return response;
    },
  };
  Object.assign(response, forms);
}

/** Lets the call happen, and ends the connection instead of its answer. */
export function loseAnswer(response: ServerResponse): void {
  intercept(response, () => endConnection(response));
}

/** Ends the connection after a number of bytes or events; a shorter answer is complete. */
export function cutAnswer(
  response: ServerResponse,
  { cut, cutEvent }: Pick<Fault, "cut" | "cutEvent">,
): void {
  const write = response.write.bind(response) as (chunk: Buffer, done?: () => void) => boolean;
  const end = response.end.bind(response) as () => unknown;
  const lengthOf = cutEvent === null ? () => cut : eventCutter(response, cutEvent);
  let sent = 0;
  let held = Buffer.alloc(0);
  let isOver = false;
  intercept(response, (chunk) => {
    if (isOver) return;
    if (chunk === null) return void end();
    held = Buffer.concat([held, chunk]);
    const allowed = lengthOf(held);
    const part = held.subarray(sent, allowed ?? held.length);
    sent += part.length;
    isOver = allowed !== null && held.length >= allowed;
    if (!isOver) return void write(part);
    if (part.length > 0) write(part, () => endConnection(response));
    else {
      response.flushHeaders();
      setImmediate(() => endConnection(response));
    }
  });
}

/** Returns the length of the first `count` events of a stream; null while there are fewer. */
function eventCutter(response: ServerResponse, count: number): (bytes: Buffer) => number | null {
  return (bytes) => {
    const type = String(response.getHeader("content-type") ?? "");
    return type.startsWith("text/event-stream") ? endOfEvents(bytes, count) : endOfMessages(bytes, count);
  };
}

/** Comments, which keep a connection open, do not count. */
function endOfEvents(bytes: Buffer, count: number): number | null {
  let [from, left] = [0, count];
  while (left > 0) {
    const end = bytes.indexOf("\n\n", from);
    if (end < 0) return null;
    if (/^(?:data|event|id):/m.test(bytes.toString("utf8", from, end))) left -= 1;
    from = end + 2;
  }
  return from;
}

/** Each message of Connect and gRPC has a head of five bytes, whose last four are its length. */
function endOfMessages(bytes: Buffer, count: number): number | null {
  let from = 0;
  for (let left = count; left > 0; left -= 1) {
    if (bytes.length < from + 5) return null;
    from += 5 + bytes.readUInt32BE(from + 1);
  }
  return bytes.length >= from ? from : null;
}
