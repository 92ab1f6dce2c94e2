import { generateKeyPairSync } from "node:crypto";
import type { Resolve } from "../../src/adapters/egress/resolve.ts";
import { allowedAddresses } from "../../src/config/address-range.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { SendWebhook } from "../../src/core/webhooks/delivery.ts";
import { newWebhookSecret, sealWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { webhookSender } from "../../src/webhooks/send.ts";
import { cipher } from "../support/cipher.ts";

const pairs = {
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  ed25519: generateKeyPairSync("ed25519"),
};
/** The keys with which receivers verify. */
export const publicKeys = { rsa: pairs.rsa.publicKey, ed25519: pairs.ed25519.publicKey };
export const secret = newWebhookSecret(systemRandom);
export const event = {
  id: "task_created_AbC_1700000000",
  body: '{"event_id":"task_created_AbC_1700000000","text":"Grüße"}',
};

interface SenderOptions {
  readonly allow?: string;
  readonly clock?: Clock;
  readonly resolve?: Resolve;
}

/** Makes requests as a process does; names lead nowhere unless the test says where. */
export function senderWith({
  allow = "loopback",
  clock = systemClock,
  resolve,
}: SenderOptions = {}): SendWebhook {
  const allowed = allow === "" ? [] : allowedAddresses.parse(allow);
  const keys = { signing: async () => ({ rsa: pairs.rsa.privateKey, ed25519: [pairs.ed25519.privateKey] }) };
  const nowhere: Resolve = (host) => Promise.reject(Object.assign(new Error(host), { code: "ENOTFOUND" }));
  return webhookSender({
    clock,
    cipher,
    keys,
    allowed,
    userAgent: "agent-task-platform/0.1.0",
    resolve: resolve ?? nowhere,
  });
}

/** A webhook at an address. */
export function webhookAt(url: string): Parameters<SendWebhook>[0] {
  const id = systemIds.short();
  return {
    id,
    accountId: "owner",
    url,
    secret: sealWebhookSecret(cipher, id, secret),
    oldSecret: null,
    oldSecretUntil: null,
    doubleHash: false,
  };
}
