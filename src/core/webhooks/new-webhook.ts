import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { invalidArgument } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Webhook } from "./webhook.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The lengths in bytes that Standard Webhooks allows, and the length of secrets created here. */
const [leastBytes, mostBytes] = [24, 64];
const length = 32;
const prefix = "whsec_";

/** A new secret that signs one webhook's deliveries by Standard Webhooks. */
export const newWebhookSecret = (random: Random): Uint8Array => random(length);

/** The secret as its owner receives it, once: `whsec_` and base64. */
export const encodeWebhookSecret = (secret: Uint8Array): string =>
  `${prefix}${Buffer.from(secret).toString("base64")}`;

/**
 * Reads a secret that the caller has chosen, in the form of `encodeWebhookSecret`. Only base64 with
 * padding is accepted, so that the stored bytes encode to the same text.
 *
 * @throws Failure `invalid_argument` at `path`; its text never contains the secret.
 */
export function readWebhookSecret(path: string, text: string): Uint8Array {
  const secret = Buffer.from(text.slice(prefix.length), "base64");
  const isValid =
    secret.length >= leastBytes && secret.length <= mostBytes && encodeWebhookSecret(secret) === text;
  const rule = `must be "${prefix}" and the standard base64, with padding, of ${leastBytes} to ${mostBytes} random bytes`;
  if (!isValid) throw invalidArgument(path, rule);
  return secret;
}

/** The form stored in the webhook's row. */
export const sealWebhookSecret = (
  cipher: Pick<Cipher, "seal">,
  webhookId: string,
  secret: Uint8Array,
): Bytes => cipher.seal(secret, webhookSecretContext(webhookId));

/** @throws Error when it was sealed for another webhook, or with another key. */
export const openWebhookSecret = (
  cipher: Pick<Cipher, "open">,
  webhookId: string,
  sealed: Uint8Array,
): Bytes => cipher.open(sealed, webhookSecretContext(webhookId));

/** Binds a sealed secret to its webhook. */
export const webhookSecretContext = (webhookId: string): string => `webhook_secret:${webhookId}`;

/** The sources of new webhooks and secrets. */
export interface WebhookCreationContext {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly random: Random;
  readonly cipher: Cipher;
}

/** A webhook with its secret, returned only once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** A secret in its stored and its readable form: 32 random bytes unless the caller chose one. */
export function newSealedSecret(
  { random, cipher }: Pick<WebhookCreationContext, "random" | "cipher">,
  webhookId: string,
  secret = newWebhookSecret(random),
) {
  return { sealed: sealWebhookSecret(cipher, webhookId, secret), text: encodeWebhookSecret(secret) };
}

/** The input of a new webhook; without `ownSecret` a secret is created. */
export interface WebhookInput
  extends Pick<Webhook, "accountId" | "spaceId" | "clientId" | "url" | "eventTypes">,
    Partial<Pick<Webhook, "projectId" | "metadata" | "name">> {
  readonly ownSecret?: Uint8Array | undefined;
}

export function newWebhook(
  parts: WebhookCreationContext,
  {
    accountId,
    spaceId,
    clientId,
    url,
    eventTypes,
    projectId = null,
    metadata = {},
    name = null,
    ownSecret,
  }: WebhookInput,
): WebhookWithSecret {
  const id = parts.ids.short();
  const { sealed, text } = newSealedSecret(parts, id, ownSecret);
  const webhook: Webhook = {
    id,
    accountId,
    spaceId,
    clientId,
    url,
    eventTypes,
    projectId,
    metadata,
    name,
    status: "active",
    inactiveReason: null,
    doubleHash: false,
    secret: sealed,
    oldSecret: null,
    oldSecretUntil: null,
    createdAt: parts.clock.now(),
    failingSince: null,
    failures: 0,
    deletedAt: null,
  };
  return { webhook, secret: text };
}
