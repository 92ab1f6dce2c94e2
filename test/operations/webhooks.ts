import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { WebhookService } from "../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import { putDelivery } from "../webhooks/deliveries.ts";
import { entries, noInput, type Prepare } from "./entry.ts";

/**
 * An address on this machine, for a platform that may reach it. It answers 200 to every request, and does not
 * delay a test.
 */
const hookUrl: Prepare = async () => {
  const server = createServer(
    (request, response) => void request.resume().once("end", () => response.end()),
  ).unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}/` };
};

const webhookId: Prepare = async (person, store) => {
  const { body } = await person.v2("webhook.create", await hookUrl(person, store));
  return { webhook_id: body["webhook"].id };
};

/** A delivery that failed. */
const deliveryId: Prepare = async (person, store) => {
  const { webhook_id } = await webhookId(person, store);
  const { id } = await putDelivery(store, {
    webhookId: String(webhook_id),
    state: "failed",
    nextAt: null,
    settledAt: 1,
  });
  return { delivery_id: id };
};

/** `webhook.v2.WebhookService`. */
export const webhookEntries = entries(WebhookService, {
  createWebhook: ["webhooks/create", hookUrl],
  listWebhooks: ["webhooks/create", noInput],
  getWebhookHealth: ["webhooks/settings", webhookId],
  listTeamWebhooks: ["webhooks/settings", noInput],
  deleteWebhook: ["webhooks/manage", webhookId],
  getWebhookPublicKey: ["webhooks/manage", noInput],
  updateWebhook: [
    "webhooks/log",
    async (person, store) => ({ ...(await webhookId(person, store)), status: "inactive" }),
  ],
  rotateWebhookSecret: ["webhooks/manage", webhookId],
  pingWebhook: ["webhooks/manage", webhookId],
  listDeliveries: ["webhooks/log", webhookId],
  listDeliveryAttempts: ["webhooks/log", deliveryId],
  resendDelivery: ["webhooks/log", deliveryId],
  listenWebhook: ["webhooks/listen", noInput],
  recoverDeliveries: [
    "webhooks/log",
    async (person, store) => ({ ...(await webhookId(person, store)), since: 0 }),
  ],
});
