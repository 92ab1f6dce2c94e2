import { once } from "node:events";
import OpenAI from "openai";
import { framesIn } from "../../support/event-stream.ts";
import type { Calling, Person } from "../../support/service.ts";

/** Prefixes under which the facade is served; SDKs get the bare host (spec/v1.md 7.1). */
export const prefixes = ["", "/v1"] as const;
export type Prefix = (typeof prefixes)[number];

/**
 * The unmodified SDK in its usual configuration: the key in a header, a placeholder where the SDK requires
 * one.
 */
export const sdk = (url: string, { key }: Pick<Person, "key">, prefix: Prefix = ""): OpenAI =>
  new OpenAI({
    baseURL: url + prefix,
    apiKey: "placeholder",
    defaultHeaders: { API_KEY: key },
    maxRetries: 0,
  });

/** An answer of the facade as received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly body: any;
}

/** Calls without an SDK. */
export async function call(
  url: string,
  who: Pick<Person, "key"> | Calling,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { API_KEY: "key" in who ? who.key : "", "Content-Type": "application/json" };
  const answer = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? null : JSON.parse(text) };
}

/** An event of a stream as received. */
export interface StreamEvent {
  readonly type: string;
  readonly sequence_number: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly [member: string]: any;
}

/** A reader of a stream. */
export interface StreamReader {
  readonly head: Promise<Pick<Answer, "status" | "headers" | "body">>;
  readonly events: readonly StreamEvent[];
  readonly comments: readonly string[];
  /** Resolves once this many events have arrived. @throws when the stream ends before. */
  until(count: number): Promise<void>;
  /** Resolves with all events when the stream has ended, normally or not. */
  readonly end: Promise<readonly StreamEvent[]>;
  /** Disconnects. */
  close(): void;
}

/** Begins to read a stream at once. A refusal has only a head. */
export function readStream(
  url: string,
  { key }: Pick<Person, "key">,
  path: string,
  body?: object,
): StreamReader {
  const away = new AbortController();
  const bell = new EventTarget();
  const events: StreamEvent[] = [];
  const comments: string[] = [];
  const head = Promise.withResolvers<Pick<Answer, "status" | "headers" | "body">>();
  let over = false;
  async function read(): Promise<readonly StreamEvent[]> {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(url + path, { headers: { API_KEY: key }, signal: away.signal, ...sent });
    const { status, headers } = answer;
    const streams = status === 200 && headers.get("content-type") === "text/event-stream; charset=utf-8";
    head.resolve({ status, headers, body: streams ? null : await answer.json() });
    if (!streams || !answer.body) return events;
    for await (const frame of framesIn(answer.body)) {
      if ("comment" in frame) comments.push(frame.comment);
      else events.push({ ...JSON.parse(frame.data), named: frame.event });
      bell.dispatchEvent(new Event("told"));
    }
    return events;
  }
  const end = read()
    .catch(() => events)
    .finally(() => {
      over = true;
      bell.dispatchEvent(new Event("told"));
    });
  return {
    head: head.promise,
    events: events,
    comments,
    async until(count) {
      while (events.length < count && !over) await once(bell, "told");
      if (events.length < count) throw new Error(`ended with ${events.length} of ${count} events`);
    },
    end,
    close: () => away.abort(),
  };
}
