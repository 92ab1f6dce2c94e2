import { once } from "node:events";
import OpenAI from "openai";
import { framesIn } from "../../support/event-stream.ts";
import type { Calling, Person } from "../../support/service.ts";

/** Under which the facade is served: SDKs are given the bare host (contract/v1.md 7.1). */
export const prefixes = ["", "/v1"] as const;
export type Prefix = (typeof prefixes)[number];

/** The unmodified SDK, as people configure it: the key in a header, a placeholder where the SDK wants one. */
export const sdk = (url: string, { key }: Pick<Person, "key">, prefix: Prefix = ""): OpenAI =>
  new OpenAI({ baseURL: url + prefix, apiKey: "placeholder", defaultHeaders: { API_KEY: key }, maxRetries: 0 });

/** An answer of the facade, as it is on the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly body: any;
}

/** Calls without an SDK. */
export async function call(url: string, who: Pick<Person, "key"> | Calling, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { API_KEY: "key" in who ? who.key : "", "Content-Type": "application/json" };
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? null : JSON.parse(text) };
}

/** An event of a stream as it is on the wire. */
export interface Told {
  readonly type: string;
  readonly sequence_number: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
  readonly [member: string]: any;
}

/** Somebody who reads a stream. */
export interface Streaming {
  readonly head: Promise<Pick<Answer, "status" | "headers" | "body">>;
  readonly told: readonly Told[];
  readonly comments: readonly string[];
  /** Resolves once so many events were told. @throws when it ends before. */
  until(count: number): Promise<void>;
  /** Resolves when the stream has ended, in whatever way, with all that it told. */
  readonly end: Promise<readonly Told[]>;
  /** Goes away without a word. */
  close(): void;
}

/** Begins to read a stream at once. A refusal is its head. */
export function streaming(url: string, { key }: Pick<Person, "key">, path: string, body?: object): Streaming {
  const away = new AbortController();
  const bell = new EventTarget();
  const told: Told[] = [];
  const comments: string[] = [];
  const head = Promise.withResolvers<Pick<Answer, "status" | "headers" | "body">>();
  let over = false;
  async function read(): Promise<readonly Told[]> {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(url + path, { headers: { API_KEY: key }, signal: away.signal, ...sent });
    const { status, headers } = answer;
    const streams = status === 200 && headers.get("content-type") === "text/event-stream; charset=utf-8";
    head.resolve({ status, headers, body: streams ? null : await answer.json() });
    if (!streams || !answer.body) return told;
    for await (const frame of framesIn(answer.body)) {
      if ("comment" in frame) comments.push(frame.comment);
      else told.push({ ...JSON.parse(frame.data), named: frame.event });
      bell.dispatchEvent(new Event("told"));
    }
    return told;
  }
  const end = read()
    .catch(() => told)
    .finally(() => {
      over = true;
      bell.dispatchEvent(new Event("told"));
    });
  return {
    head: head.promise,
    told,
    comments,
    async until(count) {
      while (told.length < count && !over) await once(bell, "told");
      if (told.length < count) throw new Error(`ended with ${told.length} of ${count} events`);
    },
    end,
    close: () => away.abort(),
  };
}
