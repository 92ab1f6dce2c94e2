import { createMailer, webhookOffMail } from "../adapters/mail/mail.ts";
import type { Dispatcher } from "../async/dispatcher.ts";
import type { Config } from "../config/config.ts";
import { deliveries } from "../core/webhooks/delivery-log.ts";
import { listeners } from "../core/webhooks/listeners.ts";
import { webhooks } from "../core/webhooks/webhooks.ts";
import { webhookHandlers } from "../rpc/webhook.ts";
import { type SenderParts, startSender } from "../webhooks/sender.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";
import type { Shared } from "./shared.ts";
import { createSubscriptions } from "./subscriptions.ts";

export const createWebhooks: CreateModule = (context) => {
  const { clock, hooks, sending, draining } = context;
  // The number of listeners is limited by their rows, so their subscriptions are not.
  const subscriptions = createSubscriptions(context, { limit: Number.POSITIVE_INFINITY, draining });
  const parts = {
    webhooks: webhooks(hooks),
    deliveries: deliveries(clock),
    listeners: listeners({ ...context, sign: sending.sign, subscriptions, draining }),
    keys: sending.keys,
  };
  return { handlers: [webhookHandlers(parts)] };
};

export const startDeliveries = (context: ProcessContext, { sending }: Shared): Dispatcher =>
  startSender({ ...context, send: sending.send, notify: notifier(context.config) });

/** Mails owners if a mail server is configured; the webhook itself shows the reason too. */
const notifier =
  ({ mail }: Config): SenderParts["notify"] =>
  async ({ email, url, reason }) => {
    if (mail !== null && email !== null) await createMailer(mail)(webhookOffMail({ email, url, reason }));
  };
