import type { MessageInitShape } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import { defined } from "../core/defined.ts";
import { isTaskPushId, listTaskPushes, removeTaskPush, type TaskPush } from "../core/push/task-pushes.ts";
import { eventId } from "../core/tasks/event.ts";
import { type DeliveryAttempt, deliveryStates } from "../core/webhooks/delivery.ts";
import type {
  Deliveries,
  DeliveryFilter,
  DeliveryLogEntry,
  DeliveryTally,
} from "../core/webhooks/delivery-log.ts";
import type { WebhookListener } from "../core/webhooks/listener.ts";
import { type Listeners, type ListenMessage, signedUrlOf } from "../core/webhooks/listeners.ts";
import {
  type HeldWebhook,
  type PublicWebhookKey,
  type Webhook,
  type WebhookEventType,
  type WebhookKeyAlgorithm,
  type WebhookKeys,
  webhookEventTypes,
} from "../core/webhooks/webhook.ts";
import type { Webhooks } from "../core/webhooks/webhooks.ts";
import {
  type DeliveryAttemptSchema,
  type DeliverySchema,
  DeliveryStateSchema,
  type WebhookEventType as EventTypeValue,
  type TeamWebhookSchema,
  WebhookEventTypeSchema,
  WebhookKind,
  type WebhookSchema,
  WebhookStatusSchema,
} from "../gen/proto/webhook/v2/webhook_pb.ts";
import {
  type GetWebhookHealthResponseSchema,
  type ListDeliveriesRequest,
  type ListenWebhookResponseSchema,
  type WebhookPublicKeySchema,
  WebhookService,
} from "../gen/proto/webhook/v2/webhook_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter, pageEnd, seconds } from "./wire-values.ts";

/** Names of enum values (spec/webhooks.md 1, 2). */
export const eventType = enumConverter(WebhookEventTypeSchema, webhookEventTypes);
const webhookStatus = enumConverter(WebhookStatusSchema, ["active", "inactive"] as const);
const deliveryState = enumConverter(DeliveryStateSchema, deliveryStates);

/** The wire form of a webhook, without its secrets. */
export const toWebhook = (webhook: Webhook): MessageInitShape<typeof WebhookSchema> => ({
  id: webhook.id,
  url: webhook.url,
  status: webhookStatus.toValue(webhook.status),
  createdAt: seconds(webhook.createdAt),
  eventTypes: webhook.eventTypes.map(eventType.toValue),
  ...(webhook.inactiveReason === null ? {} : { inactiveReason: webhook.inactiveReason }),
  doubleHash: webhook.doubleHash,
  ...(webhook.name === null ? {} : { name: webhook.name }),
  ...(webhook.projectId === null ? {} : { projectId: webhook.projectId }),
  metadata: { ...webhook.metadata },
});

/** The wire form of a push notification configuration in a list of webhooks. */
const toTaskPush = ({
  id,
  taskId,
  url,
  state,
  lastError,
  createdAt,
}: TaskPush): MessageInitShape<typeof WebhookSchema> => ({
  id,
  url,
  kind: WebhookKind.A2A_PUSH,
  taskId,
  createdAt: seconds(createdAt),
  status: webhookStatus.toValue(state === "active" ? "active" : "inactive"),
  ...(state === "active"
    ? {}
    : { inactiveReason: state === "failed" ? `given up: ${lastError}` : "the task is over" }),
});

const keyAlgorithms: Readonly<Record<WebhookKeyAlgorithm, string>> = {
  rsa: "RSA-SHA256",
  ed25519: "ed25519",
};

const toPublicKey = ({ algorithm, text, createdAt, signsFrom, retiresAt }: PublicWebhookKey) =>
  ({
    publicKey: text,
    algorithm: keyAlgorithms[algorithm],
    createdAt: seconds(createdAt),
    // Keys of releases before 0.2.0 have no separate time.
    signsFrom: seconds(signsFrom === 0 ? createdAt : signsFrom),
    ...(retiresAt === null ? {} : { retiresAt: seconds(retiresAt) }),
  }) satisfies MessageInitShape<typeof WebhookPublicKeySchema>;

/**
 * The wire form of a member's webhook. Path and query of its address can be secret (spec/decisions.md 44).
 */
const toTeamWebhook = (webhook: HeldWebhook): MessageInitShape<typeof TeamWebhookSchema> => ({
  id: webhook.id,
  host: new URL(webhook.url).host,
  ...(webhook.name === null ? {} : { name: webhook.name }),
  status: webhookStatus.toValue(webhook.status),
  ...(webhook.inactiveReason === null ? {} : { inactiveReason: webhook.inactiveReason }),
  eventTypes: webhook.eventTypes.map(eventType.toValue),
  createdAt: seconds(webhook.createdAt),
  ...failingIn(webhook),
  userId: webhook.accountId,
  email: webhook.email ?? "",
});

const failingIn = ({ failingSince }: Pick<Webhook, "failingSince">) =>
  failingSince === null ? {} : { failingSince: seconds(failingSince) };

function toHealth({ delivered, failed, pending, ...webhook }: DeliveryTally & Pick<Webhook, "failingSince">) {
  const ended = delivered + failed;
  return {
    delivered,
    failed,
    pending,
    ...(ended === 0 ? {} : { failureRate: failed / ended }),
    ...failingIn(webhook),
  } satisfies MessageInitShape<typeof GetWebhookHealthResponseSchema>;
}

export const toDelivery = (delivery: DeliveryLogEntry): MessageInitShape<typeof DeliverySchema> => ({
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
  ...(delivery.lastStatus === null ? {} : { lastStatus: delivery.lastStatus }),
});

export const toAttempt = (
  attempt: Omit<DeliveryAttempt, "deliveryId">,
): MessageInitShape<typeof DeliveryAttemptSchema> => ({
  number: attempt.number,
  at: seconds(attempt.at),
  ...(attempt.status === null ? {} : { status: attempt.status }),
  ...(attempt.failure === null ? {} : { failure: attempt.failure }),
  latencyMs: Math.round(attempt.latencyMs),
  ...(attempt.response === null ? {} : { response: attempt.response }),
});

export interface WebhookServiceParts {
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly listeners: Listeners;
  readonly keys: WebhookKeys;
}

/** Webhooks, their keys and their deliveries (spec/api.md 8.15 to 8.18, spec/webhooks.md 1, 9). */
export function webhookHandlers({ webhooks, deliveries, listeners, keys }: WebhookServiceParts) {
  return implement(WebhookService, {
    createWebhook: {
      async prepare({ url, eventTypes, signingSecret, projectId, metadata, name }, caller) {
        const create = await webhooks.create(caller, {
          url,
          eventTypes: typesOf(eventTypes),
          secret: signingSecret,
          projectId,
          metadata,
          name,
        });
        return async (tx) => {
          const { webhook, secret } = await create(tx);
          return { webhook: toWebhook(webhook), signingSecret: secret };
        };
      },
    },
    async listWebhooks(tx, caller, { includeTaskPushes }) {
      const pushes = includeTaskPushes ? await listTaskPushes(tx, caller) : [];
      return { data: [...(await webhooks.list(tx, caller)).map(toWebhook), ...pushes.map(toTaskPush)] };
    },
    async listTeamWebhooks(tx, caller, { limit = 20, cursor }) {
      const { items, next } = await webhooks.listOfSpace(tx, caller, { limit, cursor });
      return { data: items.map(toTeamWebhook), ...pageEnd(next) };
    },
    async getWebhookHealth(tx, caller, { webhookId }) {
      return toHealth(await deliveries.health(tx, caller, webhookId));
    },
    async deleteWebhook(tx, caller, { webhookId }) {
      if (isTaskPushId(webhookId)) await removeTaskPush(tx, caller, webhookId);
      else await webhooks.remove(tx, caller, webhookId);
      return {};
    },
    async getWebhookPublicKey() {
      const { rsa, ed25519, all } = await keys.publicKeys();
      const { publicKey, algorithm, createdAt } = toPublicKey(rsa);
      return { publicKey, algorithm, ed25519PublicKey: ed25519.text, createdAt, keys: all.map(toPublicKey) };
    },
    updateWebhook: {
      async prepare(
        { webhookId, status = 0, eventTypes: types, doubleHash, projectId, metadata, name, url },
        caller,
      ) {
        const eventTypes = types.length === 0 ? undefined : typesOf(types);
        const edit = {
          status: webhookStatus.toName(status),
          eventTypes,
          doubleHash,
          projectId,
          metadata,
          name,
          url,
        };
        const update = await webhooks.update(caller, webhookId, edit);
        return async (tx) => ({ webhook: toWebhook(await update(tx)) });
      },
    },
    async rotateWebhookSecret(tx, caller, { webhookId }) {
      const { webhook, secret } = await webhooks.rotate(tx, caller, webhookId);
      return { webhook: toWebhook(webhook), signingSecret: secret };
    },
    pingWebhook: {
      async prepare({ webhookId, eventType: type = 0 }, caller) {
        const ping = await webhooks.ping(caller, webhookId, eventType.toName(type));
        return async (tx) => {
          const sent = await ping(tx);
          return { delivered: sent.delivered, attempt: toAttempt({ ...sent, number: 1 }) };
        };
      },
    },
    async listDeliveries(tx, caller, request) {
      const { webhookId, limit = 20, cursor } = request;
      const { items, next } = await deliveries.list(tx, caller, webhookId, filterOf(request), {
        limit,
        cursor,
      });
      return { data: items.map(toDelivery), ...pageEnd(next) };
    },
    async listDeliveryAttempts(tx, caller, { deliveryId }) {
      return { data: (await deliveries.attempts(tx, caller, deliveryId)).map(toAttempt) };
    },
    async resendDelivery(tx, caller, { deliveryId }) {
      return { delivery: toDelivery(await deliveries.resend(tx, caller, deliveryId)) };
    },
    async recoverDeliveries(tx, caller, { webhookId, since }) {
      return { recovered: await deliveries.recover(tx, caller, webhookId, milliseconds(since)) };
    },
    listenWebhook: {
      async begin(tx, call, { eventTypes, projectId }) {
        const created = await listeners.create(tx, call.caller, {
          eventTypes: typesOf(eventTypes),
          projectId,
        });
        return () => mapIterable(listeners.open(call, created), toListenAnswer);
      },
    },
  });
}

type ListenAnswer = MessageInitShape<typeof ListenWebhookResponseSchema>;

const toListener = (listener: WebhookListener, signingSecret: string): ListenAnswer["listener"] => ({
  id: listener.id,
  signingSecret,
  signedUrl: signedUrlOf(listener),
  eventTypes: listener.eventTypes.map(eventType.toValue),
  ...(listener.projectId === null ? {} : { projectId: listener.projectId }),
  expiresAt: seconds(listener.expiresAt),
});

function toListenAnswer(message: ListenMessage): ListenAnswer {
  if ("listener" in message) return { listener: toListener(message.listener, message.secret) };
  if ("dropped" in message) return { dropped: { count: message.dropped } };
  const { event, headers } = message;
  return {
    delivery: {
      eventId: event.id,
      eventType: eventType.toValue(event.type),
      body: event.body,
      headers: { ...headers },
    },
  };
}

const typesOf = (values: readonly EventTypeValue[]): WebhookEventType[] =>
  values.flatMap((value) => eventType.toName(value) ?? []);

/** A 64-bit time may exceed the safe integers: it is then later than every stored time. */
const milliseconds = (time: bigint): number => Math.min(Number(time) * 1000, Number.MAX_SAFE_INTEGER);

/** The filter of a list. Unspecified values do not filter. */
function filterOf({
  eventType: type = 0,
  state = 0,
  taskId,
  createdAfter,
  createdBefore,
}: ListDeliveriesRequest): DeliveryFilter {
  const typeName = eventType.toName(type);
  const stateName = deliveryState.toName(state);
  return {
    ...defined({ type: typeName, state: stateName }),
    ...(taskId ? { taskId } : {}),
    // `created_after` excludes its second, with all milliseconds of it.
    ...(createdAfter === undefined ? {} : { createdAfter: milliseconds(createdAfter) + 999 }),
    ...(createdBefore === undefined ? {} : { createdBefore: milliseconds(createdBefore) }),
  };
}
