import { expect } from "vitest";
import type { Person } from "../../support/service.ts";

/** An answer as received; the body is null for an empty one. */
export interface V1Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly body: any;
}

/** Calls an address, for instance `GET /v1/tasks?limit=5`, with an optional body. */
export type CallV1 = (
  at: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<V1Reply>;

/** A client of v1 that sends these headers on every call. */
export const v1With =
  (service: { readonly url: string }, shown: Readonly<Record<string, string>>): CallV1 =>
  async (at, body, headers = {}) => {
    const [method = "", path = ""] = at.split(" ");
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(service.url + path, {
      method,
      ...sent,
      headers: { "Content-Type": "application/json", ...shown, ...headers },
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text === "" ? null : JSON.parse(text) };
  };

/** A person's client, with the placeholder that the SDK sends in addition to the key (spec/v1.md 1.1). */
export const v1Of = (service: { readonly url: string }, { key }: Pick<Person, "key">): CallV1 =>
  v1With(service, { API_KEY: key, Authorization: "Bearer placeholder" });

/** What every refusal says about its call. */
export const ofCall = {
  request_id: expect.stringMatching(/^req_/),
  doc_url: expect.stringMatching(/^http.*\/\w+$/),
};

/** The body of v1's refusal with this code and text. */
export const refusal = (code: number, named: string | RegExp) => ({
  code,
  message: expect.stringMatching(named),
  details: [],
  ...ofCall,
});
