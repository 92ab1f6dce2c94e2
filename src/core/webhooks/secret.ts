import type { Cipher } from "../cipher.ts";
import type { Random } from "../ids.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Standard Webhooks has 24 to 64 bytes. */
const length = 32;

/** What one webhook's deliveries are signed with by Standard Webhooks. */
export const newWebhookSecret = (random: Random): Uint8Array => random(length);

/** As its owner is told, once: `whsec_` and base64. */
export const shownWebhookSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString("base64")}`;

/** As it is kept in the webhook's row. */
export const sealWebhookSecret = (cipher: Pick<Cipher, "seal">, webhookId: string, secret: Uint8Array): Bytes =>
  cipher.seal(secret, contextOf(webhookId));

/** @throws Error when it was sealed for another webhook, or with another key. */
export const openWebhookSecret = (cipher: Pick<Cipher, "open">, webhookId: string, sealed: Uint8Array): Bytes =>
  cipher.open(sealed, contextOf(webhookId));

const contextOf = (webhookId: string): string => `webhook_secret:${webhookId}`;
