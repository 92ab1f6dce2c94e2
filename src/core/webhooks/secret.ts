import type { Cipher } from "../cipher.ts";
import { invalid } from "../failure.ts";
import type { Random } from "../ids.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The lengths that Standard Webhooks allows, in bytes, and that of our own secrets. */
const [leastBytes, mostBytes] = [24, 64];
const length = 32;
const prefix = "whsec_";

/** What one webhook's deliveries are signed with by Standard Webhooks. */
export const newWebhookSecret = (random: Random): Uint8Array => random(length);

/** As its owner is told, once: `whsec_` and base64. */
export const shownWebhookSecret = (secret: Uint8Array): string => `${prefix}${Buffer.from(secret).toString("base64")}`;

/**
 * A secret that the caller has chosen, in the form of `shownWebhookSecret`: the same
 * text comes back when it is shown, so only base64 with its padding is taken.
 *
 * @throws Failure `invalid` at `path`; the text is never repeated.
 */
export function readWebhookSecret(path: string, text: string): Uint8Array {
  const secret = Buffer.from(text.slice(prefix.length), "base64");
  const isWhole = secret.length >= leastBytes && secret.length <= mostBytes && shownWebhookSecret(secret) === text;
  const rule = `must be "${prefix}" and the standard base64, with padding, of ${leastBytes} to ${mostBytes} random bytes`;
  if (!isWhole) throw invalid(path, rule);
  return secret;
}

/** As it is kept in the webhook's row. */
export const sealWebhookSecret = (cipher: Pick<Cipher, "seal">, webhookId: string, secret: Uint8Array): Bytes =>
  cipher.seal(secret, contextOf(webhookId));

/** @throws Error when it was sealed for another webhook, or with another key. */
export const openWebhookSecret = (cipher: Pick<Cipher, "open">, webhookId: string, sealed: Uint8Array): Bytes =>
  cipher.open(sealed, contextOf(webhookId));

const contextOf = (webhookId: string): string => `webhook_secret:${webhookId}`;
