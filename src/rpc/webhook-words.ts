import type { MessageInitShape } from "@bufbuild/protobuf";
import { eventId } from "../core/tasks/event.ts";
import { type DeliveryAttempt, deliveryStates } from "../core/webhooks/delivery.ts";
import type { LoggedDelivery } from "../core/webhooks/delivery-log.ts";
import { type Webhook, webhookEventTypes } from "../core/webhooks/webhook.ts";
import {
  type DeliveryAttemptSchema,
  type DeliverySchema,
  DeliveryStateSchema,
  WebhookEventTypeSchema,
  type WebhookSchema,
  WebhookStatusSchema,
} from "../gen/proto/webhook/v2/webhook_pb.ts";
import { seconds } from "./time.ts";
import { wordsOf } from "./words.ts";

/** The contract's words (contract/webhooks.md 1, 2). */
export const eventType = wordsOf(WebhookEventTypeSchema, webhookEventTypes);
export const webhookStatus = wordsOf(WebhookStatusSchema, ["active", "inactive"] as const);
export const deliveryState = wordsOf(DeliveryStateSchema, deliveryStates);

/** The webhook as callers see it: never its secrets. */
export const webhookMessage = (webhook: Webhook): MessageInitShape<typeof WebhookSchema> => ({
  id: webhook.id,
  url: webhook.url,
  status: webhookStatus.toValue(webhook.status),
  createdAt: seconds(webhook.createdAt),
  eventTypes: webhook.eventTypes.map(eventType.toValue),
  ...(webhook.inactiveReason === null ? {} : { inactiveReason: webhook.inactiveReason }),
  doubleHash: webhook.doubleHash,
});

export const deliveryMessage = (delivery: LoggedDelivery): MessageInitShape<typeof DeliverySchema> => ({
  id: delivery.id,
  webhookId: delivery.webhookId,
  eventId: delivery.eventId,
  eventType: eventType.toValue(delivery.type),
  taskId: delivery.taskId,
  taskEventId: eventId(delivery.taskId, delivery.seq),
  seq: delivery.seq,
  state: deliveryState.toValue(delivery.state),
  attempts: delivery.attempts,
  createdAt: seconds(delivery.createdAt),
  ...(delivery.nextAt === null ? {} : { nextAttemptAt: seconds(delivery.nextAt) }),
  ...(delivery.settledAt === null ? {} : { settledAt: seconds(delivery.settledAt) }),
  ...(delivery.body === null ? {} : { body: delivery.body }),
});

export const attemptMessage = (attempt: Omit<DeliveryAttempt, "deliveryId">): MessageInitShape<typeof DeliveryAttemptSchema> => ({
  number: attempt.number,
  at: seconds(attempt.at),
  ...(attempt.status === null ? {} : { status: attempt.status }),
  ...(attempt.failure === null ? {} : { failure: attempt.failure }),
  latencyMs: Math.round(attempt.latencyMs),
  ...(attempt.response === null ? {} : { response: attempt.response }),
});
