import OpenAI from "openai";
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
