import type { AllowedAddresses } from "../../config/address-range.ts";
import type { OnBehalf } from "../../core/accounts/caller.ts";
import { guardedAgent, RefusedDestination } from "./agent.ts";
import type { Resolve } from "./resolve.ts";
import { undici } from "./undici.ts";

/** `fetch` for addresses from users, for one operation. */
export interface GuardedFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Closes all open connections. */
  end(): void;
}

/**
 * The limits of one operation. Its signal is aborted when the time is over, or the caller no longer waits.
 */
export interface FetchBounds extends OnBehalf {
  /** Bytes of all answers together, after decoding. */
  readonly bytesMax: number;
  /** Called when the bytes are used up. */
  readonly onTooMuch: () => void;
}

/**
 * Requests to public addresses over https on port 443, and to addresses that the operator allows. Redirects
 * are never followed: each would send our credential to another address from outside. Answers have no
 * `Location`, which libraries follow.
 */
export function guardedFetch(
  allowed: readonly AllowedAddresses[],
  resolve: Resolve,
  { bytesMax, accountId, signal, onTooMuch }: FetchBounds,
): GuardedFetch {
  const agent = guardedAgent({
    reach: { ports: [443], plain: false, allowed },
    resolve,
    by: { accountId, signal },
  });
  const end = () => void agent.destroy();
  signal.addEventListener("abort", end, { once: true });
  let bytes = 0;

  function metered(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    return body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, to) {
          bytes += chunk.byteLength;
          if (bytes <= bytesMax) return to.enqueue(chunk);
          onTooMuch();
          to.error(new RefusedDestination("more bytes than allowed"));
        },
      }),
    );
  }

  return {
    async fetch(url, { body: sent = null, ...init } = {}) {
      const { protocol, username, password } = new URL(url);
      if (!["http:", "https:"].includes(protocol) || username !== "" || password !== "")
        throw new RefusedDestination("not an http or https URL without user information");
      // undici's FormData and Node's are different classes.
      if (sent instanceof FormData) throw new TypeError("a form is not sent");
      const headers = new Headers(init.headers);
      headers.set("user-agent", "agent-task-platform");
      headers.set("accept-encoding", "identity");
      const both = init.signal ? AbortSignal.any([init.signal, signal]) : signal;
      const request = {
        ...init,
        body: sent,
        headers: [...headers],
        redirect: "manual" as const,
        signal: both,
        dispatcher: agent,
      };
      const answer = await undici().fetch(url, request);
      const { status, statusText } = answer;
      const empty = answer.body === null || [101, 204, 205, 304].includes(status);
      const body = empty || answer.body === null ? null : metered(answer.body);
      return new Response(body, {
        status,
        statusText,
        headers: [...answer.headers].filter(([name]) => name !== "location"),
      });
    },
    end() {
      signal.removeEventListener("abort", end);
      end();
    },
  };
}
