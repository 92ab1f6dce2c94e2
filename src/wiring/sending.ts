import about from "../../package.json" with { type: "json" };
import type { SendWebhook } from "../core/webhooks/send.ts";
import { type DeliveryKeys, deliveryKeys } from "../delivery/keys.ts";
import { webhookSender } from "../delivery/send.ts";
import type { Ground } from "./ground.ts";

/** What requests to webhooks are made and verified with. */
export interface Sending {
  readonly send: SendWebhook;
  readonly keys: DeliveryKeys;
}

/** One for a process: the operations test and ping with it, deliveries are made with it. */
export function sendingOf({ config, store, cipher, clock, ids, resolve }: Ground): Sending {
  const keys = deliveryKeys({ store, cipher, clock, ids });
  return {
    keys,
    send: webhookSender({ clock, cipher, keys, resolve, allowed: config.webhookAllow, userAgent: `${about.name}/${about.version}` }),
  };
}
