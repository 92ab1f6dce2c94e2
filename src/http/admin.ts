import { createHash, timingSafeEqual } from "node:crypto";
import { type FastifyInstance, type FastifyReply, fastify } from "fastify";
import { z } from "zod";
import type { Build } from "../config/version.ts";
import { probes, type Readiness } from "./health.ts";
import { noSchemas } from "./no-schemas.ts";

/** Whether a host name is an active custom domain of a website. */
export type IsCustomDomain = (name: string) => Promise<boolean>;

/** The text formats of metrics, by their content types. */
const formats = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const;

/** The metrics of this process, and who may read them. */
export interface MetricsAccess {
  readonly text: (format: keyof typeof formats) => Promise<string>;
  /** Callers need this token; null: none. */
  readonly token: string | null;
  /** Only this machine can connect. */
  readonly isLocal: boolean;
}

/**
 * Creates the server of the operators' port, until the process ends. It serves the probes, `/metrics`, and
 * `/ask` for proxies that get certificates on demand: 200 for an active custom domain, otherwise 404
 * (spec/api.md 8.56, 8.96).
 */
export function adminServer(
  readiness: Readiness,
  isCustomDomain: IsCustomDomain,
  metrics: MetricsAccess,
  build: Build,
): FastifyInstance {
  const app = fastify({ logger: false, schemaController: noSchemas, forceCloseConnections: true });
  probes(app, readiness, { "X-ATP-Version": build.version, "X-ATP-Commit": build.commit });
  app.get("/ask", async (request, reply) => {
    const { domain } = z.object({ domain: z.string().max(254).catch("") }).parse(request.query);
    return reply.code((await isCustomDomain(domain)) ? 200 : 404).send();
  });
  app.get("/metrics", async ({ headers }, reply) => {
    reply.header("Cache-Control", "no-store").type("text/plain");
    if (metrics.token === null && !metrics.isLocal)
      return reply
        .code(403)
        .send("ADMIN_HOST is not an address of this machine only: set ADMIN_TOKEN_FILE\n");
    if (metrics.token !== null && !hasToken(headers.authorization, metrics.token)) return refuseToken(reply);
    const format = /\bapplication\/openmetrics-text\b/.test(headers.accept ?? "")
      ? "openmetrics"
      : "prometheus";
    return reply.type(formats[format]).send(await metrics.text(format));
  });
  return app;
}

const refuseToken = (reply: FastifyReply): FastifyReply =>
  reply
    .code(401)
    .header("WWW-Authenticate", 'Bearer realm="metrics"')
    .send("/metrics takes the token of ADMIN_TOKEN_FILE: Authorization: Bearer TOKEN\n");

/** Compares digests, in constant time, for any length of the sent token. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const [, sent] = /^bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? "") ?? [];
  return sent !== undefined && timingSafeEqual(digest(sent), digest(token));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
