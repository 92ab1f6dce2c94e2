import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { classifyFault, RefusedDestination } from "../adapters/egress/agent.ts";
import { checkedPools } from "../adapters/egress/checked-pools.ts";
import { isPublic } from "../adapters/egress/public-address.ts";
import type { Resolve } from "../adapters/egress/resolve.ts";
import { limitTime, unlessAborted } from "../adapters/egress/time-limit.ts";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { Clock } from "../core/clock.ts";
import type { AttemptResult } from "../core/webhooks/delivery.ts";

/**
 * The bytes of a response that are read, so that the receiver can send it completely, and the bytes that are
 * stored.
 */
const bodyMax = 64 * 1024;
const storedMax = 1024;

/**
 * Reads the beginning of a body as text, and at most 64 kB of it. An incomplete or late body is not an error,
 * because the status was received.
 */
export async function readBeginning(body: Readable): Promise<string> {
  const kept: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      // undici yields bytes
      if (length < storedMax) kept.push(chunk.subarray(0, storedMax - length));
      length += chunk.length;
      if (length >= bodyMax) break;
    }
  } catch {
    // Keeps the bytes received before the error.
  }
  return textOf(Buffer.concat(kept));
}

/** Omits an incomplete character at the end, and replaces U+0000, which PostgreSQL cannot store. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\ufffd");

/** The time limit from the start of the look-up to the response's status (spec/webhooks.md 4). */
export const answerMs = 10_000;

/** The inputs for requests to receivers. */
export interface PostParts {
  readonly clock: Clock;
  /** Addresses that need not be public (`WEBHOOK_ALLOW`). */
  readonly allowed: readonly AllowedAddresses[];
  readonly resolve: Resolve;
  /** Changes what is sent, in test mode. */
  readonly around?: ((post: Post) => Post) | undefined;
}

export interface Receiver {
  readonly url: string;
  /** Its requests share connections with no other holder. */
  readonly holder: string;
  /** Name lookups count toward this account. */
  readonly accountId: string;
}

export interface PostedRequest {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Unix milliseconds. */
  readonly at: number;
}

/**
 * Sends a request. Never throws for a fault of the receiver; rejects with the signal's reason once that is
 * aborted.
 */
export type Post = (to: Receiver, request: PostedRequest, signal: AbortSignal) => Promise<AttemptResult>;

/** Creates the function that sends requests to addresses of receivers: guarded, and limited to 10 s. */
export function guardedPost({ clock, allowed, resolve, around = (sent) => sent }: PostParts): Post {
  const pools = checkedPools(clock, { reach: { ports: [443], plain: false, allowed }, resolve });

  async function post(
    { url: text, holder, accountId }: Receiver,
    { headers, body }: PostedRequest,
    signal: AbortSignal,
  ) {
    const url = parseUrl(text);
    const { pool, addresses } = await unlessAborted(signal, pools(url, holder, { accountId, signal }));
    const answer = await unlessAborted(
      signal,
      pool.request({ path: url.pathname + url.search, method: "POST", headers, body, signal }),
    );
    return { answer, isPublicAnswer: addresses.every(isPublic) };
  }

  return around(async (to, request, signal) => {
    const { at } = request;
    const began = clock.monotonic();
    const latency = () => Math.round(clock.monotonic() - began);
    const time = limitTime(clock, answerMs, signal);
    try {
      const { answer, isPublicAnswer } = await post(to, request, time.signal);
      return { at, latencyMs: latency(), ...(await readAnswer(answer, isPublicAnswer)) };
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = time.signal.aborted ? "timeout" : classifyFault(thrown);
      return {
        at,
        latencyMs: latency(),
        status: null,
        failure,
        response: null,
        delivered: false,
        retryAfter: null,
      };
    } finally {
      time.stop();
    }
  });
}

/**
 * @throws RefusedDestination for a URL that no webhook may have: with another scheme, user information or a
 * fragment.
 */
function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password !== "" ||
    text.includes("#")
  )
    throw new RefusedDestination("not an https URL without user information and fragment");
  return url;
}

/** Reads a response. A redirect is handled like any other response and is not followed. */
async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  isPublicAnswer: boolean,
): Promise<Omit<AttemptResult, "at" | "latencyMs">> {
  const [retryAfter] = [headers["retry-after"] ?? null].flat();
  const beginning = await readBeginning(body);
  return {
    status: statusCode,
    failure: null,
    // Responses of addresses that are not public are never shown (spec/decisions.md 39).
    response: isPublicAnswer ? beginning : null,
    delivered: statusCode >= 200 && statusCode < 300,
    retryAfter: retryAfter ?? null,
  };
}
