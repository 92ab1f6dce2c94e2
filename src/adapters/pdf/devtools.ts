import type { Readable, Writable } from "node:stream";
import { defined } from "../../core/defined.ts";
import type { Json, JsonObject } from "../../core/json.ts";

/** Answers and events of Chromium in one message; a PDF of 20 MiB in base64 fits. */
const messageBytesMax = 32 * 1024 * 1024;

/**
 * A connection to Chromium over its pipe, in the form of the Chrome DevTools Protocol: JSON, each message
 * ends with a zero byte.
 */
export interface DevTools {
  /** Calls a method. @throws Error when Chromium refuses it or the connection ends. */
  send(method: string, params?: JsonObject, sessionId?: string): Promise<JsonObject>;
  /** Sets the function that gets all events. */
  onEvent(receive: (event: DevToolsEvent) => void): void;
}

export interface DevToolsEvent {
  readonly method: string;
  readonly params: JsonObject;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: JsonObject;
  readonly error?: { message: string };
}

/** @param output what Chromium writes; its end, and a message that is too large, fail all calls. */
export function devTools(input: Writable, output: Readable): DevTools {
  const waiting = new Map<number, PromiseWithResolvers<JsonObject>>();
  let [lastId, ended, receive] = [0, false, (_: DevToolsEvent): void => undefined];

  function end(): void {
    ended = true;
    for (const { reject } of waiting.values()) reject(new Error("Chromium has ended"));
    waiting.clear();
  }
  function take({ id, method, params = {}, result = {}, error }: Message): void {
    if (method !== undefined) receive({ method, params });
    if (id === undefined) return;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error) call?.reject(new Error(`Chromium refused a call: ${error.message}`));
    else call?.resolve(result);
  }

  readMessages(output, take).then(end, end);
  input.on("error", end);
  return {
    async send(method, params = {}, sessionId) {
      if (ended) throw new Error("Chromium has ended");
      lastId += 1;
      const call = Promise.withResolvers<JsonObject>();
      waiting.set(lastId, call);
      input.write(`${JSON.stringify({ id: lastId, method, params, ...defined({ sessionId }) })}\0`);
      return call.promise;
    },
    onEvent(next) {
      receive = next;
    },
  };
}

async function readMessages(output: Readable, take: (message: Message) => void): Promise<void> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0)) {
      take(JSON.parse(Buffer.concat([...chunks, rest.subarray(0, end)]).toString()));
      [chunks, bytes, rest] = [[], 0, rest.subarray(end + 1)];
    }
    bytes += rest.length;
    if (bytes > messageBytesMax) throw new Error("a message of Chromium is too large");
    chunks.push(rest);
  }
}

/** A member that is a text; empty for any other value. */
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
