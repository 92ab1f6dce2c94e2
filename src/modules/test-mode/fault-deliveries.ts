import { systemClock } from "../../core/clock.ts";
import type { AttemptResult } from "../../core/webhooks/delivery.ts";
import type { Post, PostedRequest } from "../../webhooks/post.ts";
import type { ArmedFaults } from "./armed.ts";
import type { Fault } from "./fault.ts";

export interface FaultyDeliveries {
  readonly post: (post: Post) => Post;
  /** The number of requests that wait for a later one. */
  held(): number;
}

/** The longest wait for the next request, after which a held one is sent. */
const reorderMs = 2_000;

type Sent = readonly [to: Parameters<Post>[0], request: PostedRequest, signal: AbortSignal];

/**
 * @param postpone makes the delivery of an event to a webhook due this many milliseconds later.
 */
export function faultyDeliveries(
  armed: ArmedFaults,
  postpone: (webhookId: string, eventId: string, ms: number) => Promise<void>,
): FaultyDeliveries {
  const held = new Map<string, () => void>();

  /** The first answer is that of a receiver which got the request; it gets it after the next one. */
  function holdBack(post: Post, [to, request]: Sent): AttemptResult {
    const isNext = Promise.withResolvers<void>();
    held.get(to.holder)?.();
    held.set(to.holder, isNext.resolve);
    const never = new AbortController().signal;
    const send = Promise.race([isNext.promise, systemClock.sleep(reorderMs)]).then(() =>
      post(to, request, never),
    );
    void send
      .finally(() => held.get(to.holder) === isNext.resolve && held.delete(to.holder))
      .catch(() => undefined);
    return { ...ofStatus(200, request), delivered: true };
  }

  async function send(fault: Fault, post: Post, sent: Sent): Promise<AttemptResult> {
    const [to, request, signal] = sent;
    if (fault.lateMs !== null) {
      await postpone(to.holder, request.headers["webhook-id"] ?? "", fault.lateMs);
      throw new Error("a fault of the test: the delivery is late");
    }
    if (fault.delayMs > 0) await systemClock.sleep(fault.delayMs, signal);
    if (fault.reset) return { ...ofStatus(null, request), failure: "connection" };
    if (fault.status !== null)
      return { ...ofStatus(fault.status, request), retryAfter: fault.retryAfter?.toString() ?? null };
    if (fault.reorder) return holdBack(post, sent);
    if (fault.duplicate) await post(to, request, signal);
    return post(
      to,
      fault.badSignature ? { ...request, headers: withBadSignatures(request.headers) } : request,
      signal,
    );
  }

  return {
    held: () => held.size,
    post: (post) => async (to, request, signal) => {
      const fault = armed.take({ wire: "webhook", names: [to.holder, "*"] }, true);
      const answer = await (fault === null
        ? post(to, request, signal)
        : send(fault, post, [to, request, signal]));
      if (!fault?.reorder) held.get(to.holder)?.();
      return answer;
    },
  };
}

const ofStatus = (status: number | null, { at }: PostedRequest): AttemptResult => ({
  at,
  latencyMs: 0,
  status,
  failure: null,
  response: null,
  delivered: false,
  retryAfter: null,
});

/** Every signature of a request, with other bytes in the same form. */
const withBadSignatures = (headers: PostedRequest["headers"]): PostedRequest["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      /signature$/.test(name) ? value.replace(/[A-Za-z0-9+/]{8,}/g, reversed) : value,
    ]),
  );

const reversed = (text: string): string => [...text].reverse().join("");
