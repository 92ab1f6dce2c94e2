import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Request } from "../call/admit.ts";
import { presented } from "../call/credential.ts";
import { incomingBody } from "./incoming-body.ts";

/** Reads what a call needs of a request's head, the same way on every wire form. */
export type ReadRequest = (head: RequestHead) => Request;

/** The head as Node has it: HTTP/1.1 and HTTP/2 alike. */
export type RequestHead = Pick<IncomingMessage, "headers"> & { readonly socket: Pick<IncomingMessage["socket"], "remoteAddress"> };

/**
 * @param trustProxy the lower-case name of the header that names the client's
 * address, set by a proxy in front; null believes only the connection.
 */
export function requestReader(newRequestId: () => string, trustProxy: string | null): ReadRequest {
  const addressOf = addressReader(trustProxy);
  return (head) => {
    const { headers } = head;
    const header = (name: string) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    };
    return {
      // A caller's own X-Request-Id is never taken over (contract/decisions.md 12).
      requestId: newRequestId(),
      address: addressOf(head),
      credentials: presented(header),
      idempotencyKey: header("idempotency-key") ?? null,
      strict: isStrict(header("prefer") ?? ""),
      body: incomingBody(head),
    };
  };
}

/** Reads a caller's address; `trustProxy` as `requestReader` takes it. */
export function addressReader(trustProxy: string | null): (head: RequestHead) => string {
  return ({ headers, socket: { remoteAddress = "" } }) => {
    const forwarded = trustProxy === null ? undefined : headers[trustProxy];
    return lastAddress(Array.isArray(forwarded) ? forwarded.join(", ") : forwarded) ?? remoteAddress;
  };
}

/**
 * One preference of the list; a comma in quotes does not separate. A quote without an end lasts to the end of the text, so
 * that nothing is searched twice: the time is linear in the length of the header.
 */
const preferences = /(?:[^",]|"(?:\\.|[^"\\])*(?:"|\\?$))+/g;

/** The first `handling` that has a value counts (RFC 7240 2). */
function isStrict(prefer: string): boolean {
  for (const preference of prefer.match(preferences) ?? []) {
    const [name, value] = (preference.split(";", 1)[0] ?? "").split("=").map((text) => text.trim().toLowerCase());
    if (name === "handling" && value !== undefined) return value === "strict" || value === '"strict"';
  }
  return false;
}

/** The nearest proxy appends the address it saw; what stands before it is the client's own claim. */
function lastAddress(forwarded: string | undefined): string | undefined {
  const last = forwarded?.split(",").at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}
