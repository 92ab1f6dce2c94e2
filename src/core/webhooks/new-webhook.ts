import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Ids, Random } from "../ids.ts";
import { newWebhookSecret, sealWebhookSecret, shownWebhookSecret } from "./secret.ts";
import type { Webhook } from "./webhook.ts";

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

/** A secret as it is stored and as it is shown: 32 random bytes unless the caller gave its own. */
export function newSecret(
  { random, cipher }: Pick<MakingWebhooks, "random" | "cipher">,
  webhookId: string,
  secret = newWebhookSecret(random),
) {
  return { sealed: sealWebhookSecret(cipher, webhookId, secret), text: shownWebhookSecret(secret) };
}

/** What a new webhook is given; without `ownSecret` its secret is made here. */
export interface WebhookWanted extends Pick<Webhook, "accountId" | "spaceId" | "clientId" | "url" | "eventTypes"> {
  readonly ownSecret?: Uint8Array | undefined;
}

/** A webhook as it begins, active. */
export function newWebhook(
  parts: MakingWebhooks,
  { accountId, spaceId, clientId, url, eventTypes, ownSecret }: WebhookWanted,
): WebhookWithSecret {
  const id = parts.ids.short();
  const { sealed, text } = newSecret(parts, id, ownSecret);
  const webhook: Webhook = {
    ...{ id, accountId, spaceId, clientId, url, eventTypes },
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
