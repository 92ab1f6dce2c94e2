import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { Failure } from "../../core/failure.ts";
import type { Project } from "../../gen/proto/project/v2/project_pb.ts";
import { ProjectService } from "../../gen/proto/project/v2/project_service_pb.ts";
import { WebhookEventType } from "../../gen/proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "../../gen/proto/webhook/v2/webhook_service_pb.ts";
import type { Operation } from "../../pipeline/operations.ts";
import { openaiRefusal } from "../openai/refusal.ts";
import { integer } from "./fields.ts";
import { fileRoutes, isoTime } from "./file.ts";
import { type Route, route } from "./route.ts";
import { type Family, familyWire, type RestParts, refusalBody, serveRoutes } from "./serve.ts";
import { taskRoutes } from "./task.ts";

/** The URL is in `webhook` or at the top level, as several clients assume (spec/v1.md 8). */
const newWebhook = z.object({
  webhook: z.object({ url: z.string().optional() }).default({}),
  url: z.string().optional(),
});

/** v1 documents three types of event, and has no way to choose (spec/decisions.md 47). */
const eventTypes = [
  WebhookEventType.TASK_CREATED,
  WebhookEventType.TASK_PROGRESS,
  WebhookEventType.TASK_STOPPED,
];

/** Some receivers fetch it without a key (spec/clients.md 29). */
const publicKey: Route = {
  ...route("GET /v1/webhook/public_key", WebhookService.method.getWebhookPublicKey, z.object({}), {
    request: () => ({}),
    response: ({ publicKey, algorithm, createdAt }) => ({
      public_key: publicKey,
      algorithm,
      created_at: isoTime(createdAt),
    }),
  }),
  isPublic: true,
};

/** Webhooks of v1 (spec/v1.md 6); there is no list of them. */
const webhookRoutes = [
  route("POST /v1/webhooks", WebhookService.method.createWebhook, newWebhook, {
    request: ({ webhook, url = "" }) => ({ url: webhook.url ?? url, eventTypes }),
    response: ({ webhook }) => ({ webhook_id: webhook?.id }),
    nameField: (path) => (path === "url" ? "webhook.url" : path),
  }),
  route(
    "DELETE /v1/webhooks/{webhook_id}",
    WebhookService.method.deleteWebhook,
    z.object({ webhook_id: z.string() }),
    {
      request: ({ webhook_id: webhookId }) => ({ webhookId }),
      response: () => null,
    },
  ),
  publicKey,
];

const project = ({ id, name, instruction, createdAt }: Project) => ({
  id,
  object: "project",
  name,
  ...(instruction === "" ? {} : { instruction }),
  created_at: Number(createdAt),
});

/** Projects of v1 (spec/v1.md 3). */
const projectRoutes = [
  route(
    "POST /v1/projects",
    ProjectService.method.createProject,
    z.object({ name: z.string().max(200), instruction: z.string().optional() }),
    {
      request: (input) => input,
      response: ({ project: made }) => (made ? project(made) : {}),
    },
  ),
  route(
    "GET /v1/projects",
    ProjectService.method.listProjects,
    z.object({ limit: integer.pipe(z.int().min(1).max(1000)).default(100) }),
    {
      request: () => ({}),
      response: ({ data }, { limit }) => ({ object: "list", data: data.slice(0, limit).map(project) }),
    },
  ),
];

/**
 * When v1 was deprecated. It is still served, with a link to its successor (spec/v1.md: deprecated in favour
 * of v2).
 */
const deprecatedSince = Date.UTC(2026, 0, 1) / 1000;

/** Every address of v1. */
export const v1Table: readonly Route[] = [
  ...projectRoutes,
  ...taskRoutes,
  ...fileRoutes("/v1", isoTime),
  ...webhookRoutes,
];

export interface V1Parts extends RestParts {
  readonly baseUrl: string;
}

/** Registers the REST API below `/v1`: each route performs operations that v2 also has (spec/v1.md). */
export function v1Routes(app: FastifyInstance, parts: V1Parts): void {
  const family: Family = {
    name: "v1",
    headers: (operation) => successor(operation, parts),
    refusal: refusalBody,
    hasWarnings: true,
  };
  serveRoutes(app, parts, v1Table, family);
  // OpenAI's SDKs with base URL `/v1` request addresses that are not here; they print the member `error`.
  const sdk = familyWire(parts, { name: "v1", refusal: openaiRefusal });
  app.all("/v1/*", (request, reply) =>
    sdk.refuse(request, reply, new Failure("not_found", "unknown address")),
  );
}

/** Headers of deprecation: RFC 9745, and RFC 5829 for the equivalent operation of v2. */
function successor(
  { name, countedAs }: Operation,
  { baseUrl, operations }: V1Parts,
): readonly (readonly [string, string])[] {
  const v2Name = name ?? operations.byRpc(countedAs)?.name ?? null;
  const link =
    v2Name === null ? [] : [["Link", `<${baseUrl}/v2/${v2Name}>; rel="successor-version"`] as const];
  return [["Deprecation", `@${deprecatedSince}`], ...link];
}
