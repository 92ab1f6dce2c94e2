import { userAgent } from "../config/version.ts";
import { fileLinks } from "../core/files/links.ts";
import type { AfterTask } from "../core/store.ts";
import type { SendWebhook, SignDelivery } from "../core/webhooks/delivery.ts";
import { webhookOutbox } from "../core/webhooks/outbox.ts";
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
export function createSending({ config, store, cipher, clock, ids, resolve, test }: ProcessContext): Sending {
  const keys = deliveryKeys({ store, cipher, clock, ids });
  const signing = { cipher, keys, userAgent };
  const send = webhookSender({ ...signing, clock, resolve, allowed: config.webhookAllow, around: test?.post });
  return { keys, sign: deliverySigner(signing), send };
}

/** Writes the webhook events of every change of a task. */
export function createOutbox({ config, cipher, clock, ids }: Pick<ProcessContext, "config" | "cipher" | "clock" | "ids">): AfterTask {
  const links = fileLinks(cipher, config.baseUrl);
  return webhookOutbox({ clock, ids, appUrl: config.appUrl, link: (fileId) => links.download(fileId, clock.now()) });
}
