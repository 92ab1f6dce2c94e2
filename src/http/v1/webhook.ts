import { z } from "zod";
import { WebhookEventType } from "../../gen/proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "../../gen/proto/webhook/v2/webhook_service_pb.ts";
import { isoTime } from "./file-object.ts";
import { type Route, route } from "./route.ts";

/** The address stands in `webhook`, or beside it, as several clients assume (contract/v1.md 8). */
const newWebhook = z.object({ webhook: z.object({ url: z.string().optional() }).default({}), url: z.string().optional() });

/** v1 documents three types of event, and has no way to choose (contract/decisions.md 47). */
const eventTypes = [WebhookEventType.TASK_CREATED, WebhookEventType.TASK_PROGRESS, WebhookEventType.TASK_STOPPED];

/** Some receivers fetch it without a key (contract/clients.md 29). */
const publicKey: Route = {
  ...route("GET /v1/webhook/public_key", WebhookService.method.getWebhookPublicKey, z.object({}), {
    request: () => ({}),
    response: ({ publicKey, algorithm, createdAt }) => ({ public_key: publicKey, algorithm, created_at: isoTime(createdAt) }),
  }),
  open: true,
};

/** Webhooks of v1 (contract/v1.md 6); there is no list of them. */
export const webhookRoutes = [
  route("POST /v1/webhooks", WebhookService.method.createWebhook, newWebhook, {
    request: ({ webhook, url = "" }) => ({ url: webhook.url ?? url, eventTypes }),
    response: ({ webhook }) => ({ webhook_id: webhook?.id }),
    named: (path) => (path === "url" ? "webhook.url" : path),
  }),
  route("DELETE /v1/webhooks/{webhook_id}", WebhookService.method.deleteWebhook, z.object({ webhook_id: z.string() }), {
    request: ({ webhook_id: webhookId }) => ({ webhookId }),
    response: () => null,
  }),
  publicKey,
];
