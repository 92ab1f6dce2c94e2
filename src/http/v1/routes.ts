import type { FastifyInstance } from "fastify";
import { Failure } from "../../core/failure.ts";
import type { Operation } from "../../operations.ts";
import { openaiRefusal } from "../openai/refusal.ts";
import { fileRoutes } from "./file.ts";
import { isoTime } from "./file-object.ts";
import { projectRoutes } from "./project.ts";
import type { Route } from "./route.ts";
import { type Family, type RestParts, refusalBody, refuse, serveRoutes } from "./serve.ts";
import { taskRoutes } from "./task.ts";
import { webhookRoutes } from "./webhook.ts";

/** v1 is served on, and its clients are told where it went on (contract/v1.md: deprecated in favour of v2). */
const deprecatedSince = Date.UTC(2026, 0, 1) / 1000;

/** Every address of v1. */
export const v1Table: readonly Route[] = [...projectRoutes, ...taskRoutes, ...fileRoutes("/v1", isoTime), ...webhookRoutes];

/** What v1 needs of the rest. */
export interface V1Parts extends RestParts {
  readonly baseUrl: string;
}

/** REST as `/v1` has it: each route points at operations that v2 has too (contract/v1.md). */
export function v1Routes(app: FastifyInstance, parts: V1Parts): void {
  const family: Family = { headers: (operation) => successor(operation, parts), refusal: refusalBody, warns: true };
  serveRoutes(app, parts, v1Table, family);
  // OpenAI's SDKs, given `/v1` as their base URL, ask for addresses that are not here: they print the member `error`.
  app.all("/v1/*", (request, reply) => refuse(parts, { refusal: openaiRefusal }, request, reply, new Failure("absent", "unknown address")));
}

/** RFC 9745, and RFC 5829 for the operation of v2 that does the same. */
function successor({ name, countedAs }: Operation, { baseUrl, operations }: V1Parts): readonly (readonly [string, string])[] {
  const v2Name = name ?? operations.byRpc(countedAs)?.name ?? null;
  const link = v2Name === null ? [] : [["Link", `<${baseUrl}/v2/${v2Name}>; rel="successor-version"`] as const];
  return [["Deprecation", `@${deprecatedSince}`], ...link];
}
