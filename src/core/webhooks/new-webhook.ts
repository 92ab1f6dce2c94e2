import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Ids, Random } from "../ids.ts";
import { newWebhookSecret, sealWebhookSecret, shownWebhookSecret } from "./secret.ts";
import { defaultEventTypes, type Webhook } from "./webhook.ts";

/** What new webhooks and secrets are made from. */
export interface MakingWebhooks {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly random: Random;
  readonly cipher: Cipher;
}

/** A webhook with its secret, told this once. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

/** A secret as it is kept and as it is told. */
export function newSecret({ random, cipher }: Pick<MakingWebhooks, "random" | "cipher">, webhookId: string) {
  const secret = newWebhookSecret(random);
  return { sealed: sealWebhookSecret(cipher, webhookId, secret), text: shownWebhookSecret(secret) };
}

/** A webhook as it begins, active; no types of event are the documented ones. */
export function newWebhook(
  parts: MakingWebhooks,
  { accountId, spaceId, clientId, url, eventTypes }: Pick<Webhook, "accountId" | "spaceId" | "clientId" | "url" | "eventTypes">,
): WebhookWithSecret {
  const id = parts.ids.short();
  const { sealed, text } = newSecret(parts, id);
  const webhook: Webhook = {
    ...{ id, accountId, spaceId, clientId, url },
    status: "active",
    inactiveReason: null,
    eventTypes: eventTypes.length === 0 ? defaultEventTypes : eventTypes,
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
