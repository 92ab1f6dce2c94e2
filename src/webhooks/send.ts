import type { Cipher } from "../core/cipher.ts";
import { traceHeaders } from "../core/trace.ts";
import type { SendWebhook, SignDelivery } from "../core/webhooks/delivery.ts";
import { openWebhookSecret } from "../core/webhooks/new-webhook.ts";
import type { DeliveryKeys } from "./keys.ts";
import { guardedPost, type PostParts } from "./post.ts";
import { signedHeaders } from "./sign.ts";

export interface SendParts extends PostParts {
  readonly cipher: Pick<Cipher, "open">;
  readonly keys: Pick<DeliveryKeys, "signing">;
  /** Name and version of the service. */
  readonly userAgent: string;
}

const never = new AbortController().signal;

/** Creates the only function that sends requests to webhooks: signed, guarded, and limited to 10 s. */
export function webhookSender(parts: SendParts): SendWebhook {
  const sign = deliverySigner(parts);
  const post = guardedPost(parts);
  return async (webhook, event, signal = never) => {
    const at = parts.clock.now();
    const headers = { ...(await sign(webhook, event, at)), ...traceHeaders() };
    const { id, accountId, url } = webhook;
    return post({ holder: id, accountId, url }, { body: Buffer.from(event.body), headers, at }, signal);
  };
}

/** The most opened secrets in memory: with their keys at most 300 bytes each. */
const secretsMax = 1_000;

/**
 * Opens secrets, and keeps them by webhook and stored bytes. The caller has just read these bytes, so a
 * secret that was replaced or deleted is not used again.
 */
export function secretOpener(
  cipher: Pick<Cipher, "open">,
): (webhookId: string, sealed: Uint8Array) => Uint8Array {
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
export function deliverySigner({
  keys,
  cipher,
  userAgent,
}: Pick<SendParts, "keys" | "cipher" | "userAgent">): SignDelivery {
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
