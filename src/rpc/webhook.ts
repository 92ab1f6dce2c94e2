import type { Handlers } from "../call/handlers.ts";
import type { Deliveries } from "../core/webhooks/deliveries.ts";
import type { DeliveryFilter } from "../core/webhooks/delivery-log.ts";
import type { WebhookKeys } from "../core/webhooks/key.ts";
import type { WebhookEventType } from "../core/webhooks/webhook.ts";
import type { Webhooks } from "../core/webhooks/webhooks.ts";
import type { WebhookEventType as EventTypeValue } from "../gen/proto/webhook/v2/webhook_pb.ts";
import type { ListDeliveriesRequest, WebhookService } from "../gen/proto/webhook/v2/webhook_service_pb.ts";
import { seconds } from "./time.ts";
import { attemptMessage, deliveryMessage, deliveryState, eventType, webhookMessage, webhookStatus } from "./webhook-words.ts";

/** What the operations on webhooks are made of. */
export interface WebhookServiceParts {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly keys: WebhookKeys;
}

/** Webhooks, their keys and their log (contract/v2.md 8.15 to 8.18, contract/webhooks.md 1, 9). */
export function webhookHandlers({ webhooks, deliveries, keys }: WebhookServiceParts): Handlers<typeof WebhookService> {
  return {
    createWebhook: {
      async prepare({ url, eventTypes, signingSecret: secret }, caller) {
        const create = await webhooks.create(caller, { url, eventTypes: typesOf(eventTypes), secret });
        return async (tx) => {
          const { webhook, secret } = await create(tx);
          return { webhook: webhookMessage(webhook), signingSecret: secret };
        };
      },
    },
    async listWebhooks(tx, caller) {
      return { data: (await webhooks.list(tx, caller)).map(webhookMessage) };
    },
    async deleteWebhook(tx, caller, { webhookId }) {
      await webhooks.remove(tx, caller, webhookId);
      return {};
    },
    async getWebhookPublicKey() {
      const { rsaPem, rsaCreatedAt, ed25519 } = await keys.publicKeys();
      return { publicKey: rsaPem, algorithm: "RSA-SHA256", ed25519PublicKey: ed25519, createdAt: seconds(rsaCreatedAt) };
    },
    updateWebhook: {
      async prepare({ webhookId, status = 0, eventTypes, doubleHash }, caller) {
        const types = eventTypes.length === 0 ? undefined : typesOf(eventTypes);
        const update = await webhooks.update(caller, webhookId, { status: webhookStatus.toWord(status), eventTypes: types, doubleHash });
        return async (tx) => ({ webhook: webhookMessage(await update(tx)) });
      },
    },
    async rotateWebhookSecret(tx, caller, { webhookId }) {
      const { webhook, secret } = await webhooks.rotate(tx, caller, webhookId);
      return { webhook: webhookMessage(webhook), signingSecret: secret };
    },
    pingWebhook: {
      async prepare({ webhookId }, caller) {
        const ping = await webhooks.ping(caller, webhookId);
        return async (tx) => {
          const sent = await ping(tx);
          return { delivered: sent.delivered, attempt: attemptMessage({ ...sent, number: 1 }) };
        };
      },
    },
    async listDeliveries(tx, caller, request) {
      const { webhookId, limit = 20, cursor } = request;
      const { items, next } = await deliveries.list(tx, caller, webhookId, filterOf(request), { limit, cursor });
      return { data: items.map(deliveryMessage), hasMore: next !== undefined, ...(next === undefined ? {} : { nextCursor: next }) };
    },
    async listDeliveryAttempts(tx, caller, { deliveryId }) {
      return { data: (await deliveries.attempts(tx, caller, deliveryId)).map(attemptMessage) };
    },
    async resendDelivery(tx, caller, { deliveryId }) {
      return { delivery: deliveryMessage(await deliveries.resend(tx, caller, deliveryId)) };
    },
    async recoverDeliveries(tx, caller, { webhookId, since }) {
      return { recovered: await deliveries.recover(tx, caller, webhookId, milliseconds(since)) };
    },
  };
}

const typesOf = (values: readonly EventTypeValue[]): WebhookEventType[] => values.flatMap((value) => eventType.toWord(value) ?? []);

/** A time of 64 bits may be beyond what a number holds: then it is later than everything there is. */
const milliseconds = (time: bigint): number => Math.min(Number(time) * 1000, Number.MAX_SAFE_INTEGER);

/** What stands for nothing does not filter. */
function filterOf({ eventType: type = 0, state = 0, taskId, createdAfter, createdBefore }: ListDeliveriesRequest): DeliveryFilter {
  const typeWord = eventType.toWord(type);
  const stateWord = deliveryState.toWord(state);
  return {
    ...(typeWord === undefined ? {} : { type: typeWord }),
    ...(stateWord === undefined ? {} : { state: stateWord }),
    ...(taskId ? { taskId } : {}),
    // Of a second that is excluded, so is every millisecond.
    ...(createdAfter === undefined ? {} : { createdAfter: milliseconds(createdAfter) + 999 }),
    ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  };
}
