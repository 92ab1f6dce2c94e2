import type { Config } from "../config/config.ts";
import { userAgent } from "../config/version.ts";
import type { SendWebhook, SignDelivery } from "../core/webhooks/delivery.ts";
import { testRequests } from "../core/webhooks/test-request.ts";
import type { WebhookParts } from "../core/webhooks/webhooks.ts";
import { type DeliveryKeys, deliveryKeys } from "../webhooks/keys.ts";
import { deliverySigner, webhookSender } from "../webhooks/send.ts";
import type { ProcessContext } from "./process-context.ts";

/** Sends and signs webhook requests. */
export interface Sending {
  readonly send: SendWebhook;
  readonly sign: SignDelivery;
  readonly keys: DeliveryKeys;
}

/** One per process, shared by deliveries and by the operations that send test requests. */
export function openSending({ config, store, cipher, clock, ids, resolve, test }: ProcessContext): Sending {
  const keys = deliveryKeys({ store, cipher, clock, ids });
  const signing = { cipher, keys, userAgent };
  const send = webhookSender({
    ...signing,
    clock,
    resolve,
    allowed: config.webhookAllow,
    around: test?.post,
  });
  return { keys, sign: deliverySigner(signing), send };
}

/** What sets up a webhook, for several services. */
export function webhookParts(
  { config, store, clock, ids, random, cipher }: ProcessContext,
  { send }: Pick<Sending, "send">,
): WebhookParts {
  return {
    store,
    clock,
    ids,
    random,
    cipher,
    tests: testRequests({ send, clock, appUrl: config.appUrl }),
    rules: plainLoopback(config),
  };
}

/** Whether addresses of this machine may use http. */
export const plainLoopback = ({ webhookAllow }: Pick<Config, "webhookAllow">) => ({
  plainLoopback: webhookAllow.some(({ kind }) => kind === "loopback"),
});
