import type { Dispatcher } from "undici";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { openWebhookSecret } from "../core/webhooks/secret.ts";
import type { SendWebhook, Sent } from "../core/webhooks/send.ts";
import { RefusedDestination } from "../egress/agent.ts";
import { checkedPools } from "../egress/kept-pools.ts";
import { isPublic } from "../egress/public-address.ts";
import { requestFault } from "../egress/request-fault.ts";
import type { Resolve } from "../egress/resolve.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import { beginningOf } from "./answer.ts";
import type { DeliveryKeys } from "./keys.ts";
import { signedHeaders } from "./sign.ts";

/** From the beginning of the look-up to the answer's status (contract/webhooks.md 4). */
export const answerMs = 10_000;

/** What requests to webhooks are made with. */
export interface SendParts {
  readonly clock: Clock;
  readonly cipher: Pick<Cipher, "open">;
  readonly keys: Pick<DeliveryKeys, "signing">;
  /** Addresses that need not be public (`WEBHOOK_ALLOW`). */
  readonly allowed: readonly AllowedAddresses[];
  /** Service and version. */
  readonly userAgent: string;
  readonly resolve: Resolve;
}

type Webhook = Parameters<SendWebhook>[0];
const never = new AbortController().signal;

/** The one way to make a request to a webhook: signed, guarded, and over in ten seconds. */
export function webhookSender(parts: SendParts): SendWebhook {
  const { clock, allowed, resolve } = parts;
  const pools = checkedPools(clock, { reach: { ports: [443], plain: false, allowed }, resolve });

  async function post({ id, accountId, url: text }: Webhook, body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const url = addressOf(text);
    const { pool, addresses } = await unlessAborted(signal, pools(url, id, { accountId, signal }));
    const answer = await unlessAborted(signal, pool.request({ path: url.pathname + url.search, method: "POST", headers, body, signal }));
    return { answer, isKept: addresses.every(isPublic) };
  }

  return async (webhook, event, signal = never) => {
    const body = Buffer.from(event.body);
    const at = clock.now();
    const headers = { ...(await signed(parts, webhook, { eventId: event.id, body, at })), ...plainHeaders(parts) };
    const began = clock.monotonic();
    const latency = () => Math.round(clock.monotonic() - began);
    const time = limitTime(clock, answerMs, signal);
    try {
      const { answer, isKept } = await post(webhook, body, headers, time.signal);
      return { at, latencyMs: latency(), ...(await answered(answer, isKept)) };
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = time.signal.aborted ? "timeout" : requestFault(thrown);
      return { at, latencyMs: latency(), status: null, failure, response: null, delivered: false, retryAfter: null };
    } finally {
      time.stop();
    }
  };
}

const plainHeaders = ({ userAgent }: SendParts) => ({
  "content-type": "application/json",
  "user-agent": userAgent,
  accept: "*/*",
  "accept-encoding": "identity",
});

/** Both secrets are signed with while the old one is good. */
async function signed({ keys, cipher }: SendParts, webhook: Webhook, what: { eventId: string; body: Uint8Array; at: number }) {
  const { id, url, secret, oldSecret, oldSecretUntil, doubleHash } = webhook;
  const sealed = oldSecret !== null && (oldSecretUntil ?? 0) > what.at ? [secret, oldSecret] : [secret];
  const secrets = sealed.map((bytes) => openWebhookSecret(cipher, id, bytes));
  return signedHeaders({ ...what, url, at: Math.floor(what.at / 1000) }, { keys: await keys.signing(), secrets, doubleHash });
}

/** @throws RefusedDestination for what no webhook may have: another scheme, user information, a fragment. */
function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== "" || text.includes("#"))
    throw new RefusedDestination("not an https URL without user information and fragment");
  return url;
}

/** What the answer says. A redirect is an answer like another, and is not followed. */
async function answered({ statusCode, headers, body }: Dispatcher.ResponseData, isKept: boolean): Promise<Omit<Sent, "at" | "latencyMs">> {
  const [retryAfter] = [headers["retry-after"] ?? null].flat();
  const beginning = await beginningOf(body);
  return {
    status: statusCode,
    failure: null,
    // Of addresses that are not public nothing is shown (contract/decisions.md 39).
    response: isKept ? beginning : null,
    delivered: statusCode >= 200 && statusCode < 300,
    retryAfter: retryAfter ?? null,
  };
}
