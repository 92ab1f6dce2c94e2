import { expect } from "vitest";
import type { Person } from "../support/service.ts";
import { type RawReply, send } from "../wires/raw.ts";

/** Calls an address below `/scim/v2`, for instance `GET /Users?count=2`, with an optional body. */
export type CallScim = (
  at: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimReply>;

/** A received answer; the body is null if there is none. */
export interface ScimReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly body: any;
}

/** A provider that sends these headers on every call. */
export const scimWith =
  (service: { readonly url: string }, shown: Readonly<Record<string, string>>): CallScim =>
  async (at, body, headers = {}) => {
    const [method = "", path = ""] = at.split(/ (.*)/);
    const typed: Record<string, string> =
      body === undefined ? {} : { "Content-Type": "application/scim+json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const url = `${service.url}/scim/v2${path.replaceAll(" ", "%20").replaceAll('"', "%22")}`;
    return replyOf(await send(url, { method, body: text, headers: { ...typed, ...shown, ...headers } }));
  };

const replyOf = ({ status, headers, text, json }: RawReply): ScimReply => ({
  status,
  headers,
  body: text === "" ? null : json(),
});

/** A provider with a Team User Management key. */
export const scimOf = (service: { readonly url: string }, { key }: Pick<Person, "key">): CallScim =>
  scimWith(service, { Authorization: `Bearer ${key}`, Accept: "application/scim+json" });

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";

/** The operations of a PATCH. */
export const patchOf = (...Operations: readonly object[]) => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
  Operations,
});

/** A refusal in SCIM's form. */
export const refusal = (status: number, scimType?: string) => ({
  status,
  body: {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:Error"],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: expect.stringMatching(/./),
  },
});
