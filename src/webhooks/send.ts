import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import { traceHeaders } from "../core/trace.ts";
import type { AttemptResult, SendWebhook, SignDelivery } from "../core/webhooks/delivery.ts";
import { openWebhookSecret } from "../core/webhooks/new-webhook.ts";
import { classifyFault, RefusedDestination } from "../egress/agent.ts";
import { checkedPools } from "../egress/checked-pools.ts";
import { isPublic } from "../egress/public-address.ts";
import type { Resolve } from "../egress/resolve.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import type { DeliveryKeys } from "./keys.ts";
import { signedHeaders } from "./sign.ts";

/** The bytes of a response that are read, so that the receiver can send it completely, and the bytes that are stored. */
const bodyMax = 64 * 1024;
const storedMax = 1024;

/**
 * Reads the beginning of a body as text, and at most 64 kB of it. An incomplete or late body is not an error, because the
 * status was received.
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
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes, { stream: true }).replaceAll("\0", "\ufffd");

/** The time limit from the start of the look-up to the response's status (spec/webhooks.md 4). */
export const answerMs = 10_000;

/** The inputs for requests to webhooks. */
export interface SendParts {
  readonly clock: Clock;
  readonly cipher: Pick<Cipher, "open">;
  readonly keys: Pick<DeliveryKeys, "signing">;
  /** Addresses that need not be public (`WEBHOOK_ALLOW`). */
  readonly allowed: readonly AllowedAddresses[];
  /** Name and version of the service. */
  readonly userAgent: string;
  readonly resolve: Resolve;
}

type Webhook = Parameters<SendWebhook>[0];
const never = new AbortController().signal;

/** Creates the only function that sends requests to webhooks: signed, guarded, and limited to 10 s. */
export function webhookSender(parts: SendParts): SendWebhook {
  const { clock, allowed, resolve } = parts;
  const sign = deliverySigner(parts);
  const pools = checkedPools(clock, { reach: { ports: [443], plain: false, allowed }, resolve });

  async function post({ id, accountId, url: text }: Webhook, body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    const url = parseUrl(text);
    const { pool, addresses } = await unlessAborted(signal, pools(url, id, { accountId, signal }));
    const answer = await unlessAborted(signal, pool.request({ path: url.pathname + url.search, method: "POST", headers, body, signal }));
    return { answer, isPublicAnswer: addresses.every(isPublic) };
  }

  return async (webhook, event, signal = never) => {
    const at = clock.now();
    const headers = { ...(await sign(webhook, event, at)), ...traceHeaders() };
    const began = clock.monotonic();
    const latency = () => Math.round(clock.monotonic() - began);
    const time = limitTime(clock, answerMs, signal);
    try {
      const { answer, isPublicAnswer } = await post(webhook, Buffer.from(event.body), headers, time.signal);
      return { at, latencyMs: latency(), ...(await readAnswer(answer, isPublicAnswer)) };
    } catch (thrown) {
      signal.throwIfAborted();
      const failure = time.signal.aborted ? "timeout" : classifyFault(thrown);
      return { at, latencyMs: latency(), status: null, failure, response: null, delivered: false, retryAfter: null };
    } finally {
      time.stop();
    }
  };
}

/** The most opened secrets in memory: with their keys at most 300 bytes each. */
const secretsMax = 1_000;

/**
 * Opens secrets, and keeps them by webhook and stored bytes. The caller has just read these bytes, so a secret that was replaced
 * or deleted is not used again.
 */
export function secretOpener(cipher: Pick<Cipher, "open">): (webhookId: string, sealed: Uint8Array) => Uint8Array {
  const opened = new Map<string, Uint8Array>();
  return (webhookId, sealed) => {
    const key = `${webhookId} ${Buffer.from(sealed).toString("base64")}`;
    const secret = opened.get(key) ?? openWebhookSecret(cipher, webhookId, sealed);
    const [oldest] = opened.size < secretsMax || opened.has(key) ? [] : opened.keys();
    if (oldest !== undefined) opened.delete(oldest);
    opened.set(key, secret);
    return secret;
  };
}

/** Signs with both secrets while the old one is valid. */
export function deliverySigner({ keys, cipher, userAgent }: Pick<SendParts, "keys" | "cipher" | "userAgent">): SignDelivery {
  const open = secretOpener(cipher);
  return async ({ id, url, secret, oldSecret, oldSecretUntil, doubleHash }, event, at) => {
    const sealed = oldSecret !== null && (oldSecretUntil ?? 0) > at ? [secret, oldSecret] : [secret];
    const secrets = sealed.map((bytes) => open(id, bytes));
    const signable = { eventId: event.id, body: Buffer.from(event.body), url, at: Math.floor(at / 1000) };
    return {
      ...(await signedHeaders(signable, { keys: await keys.signing(), secrets, doubleHash })),
      "content-type": "application/json",
      "user-agent": userAgent,
      accept: "*/*",
      "accept-encoding": "identity",
    };
  };
}

/** @throws RefusedDestination for a URL that no webhook may have: with another scheme, user information or a fragment. */
function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== "" || text.includes("#"))
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
