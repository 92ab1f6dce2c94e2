import type { FastifyInstance } from "fastify";
import { auditDownloadLinks } from "../core/audit/download-links.ts";
import { watchLinks } from "../core/tasks/watch-links.ts";
import type { Front } from "../http/front.ts";
import type { Readiness } from "../http/health.ts";
import { sessionCookieReader } from "../http/request.ts";
import { httpServer } from "../http/server.ts";
import { admitAnonymous } from "../pipeline/admit.ts";
import { handlerTable } from "../pipeline/handlers.ts";
import { services } from "../pipeline/services.ts";
import { createA2a } from "./a2a.ts";
import { createAgUiRoutes } from "./agui.ts";
import { createMcpRoutes } from "./mcp.ts";
import type { Module, ModuleContext } from "./module.ts";
import { createPages } from "./pages.ts";
import { configuredProfiles } from "./profiles.ts";

interface ServerModules {
  readonly front: Front;
  readonly readiness: Readiness;
  readonly modules: readonly Module[];
  /** Learns of the tasks that get a configuration of push notifications. */
  readonly pushCreated: (taskId: string) => void;
}

/** The server of all wires and pages, over the handlers and routes of the modules. */
export function createServer(
  context: ModuleContext,
  { front, readiness, modules, pushCreated }: ServerModules,
): FastifyInstance {
  const { config, store, cipher, clock, test, files, sites, calls } = context;
  const ofServices = handlerTable(
    services,
    modules.flatMap(({ handlers = [] }) => handlers),
  );
  const performer = calls.performWith(
    test ? new Map([...ofServices, ...test.handlers(context)]) : ofServices,
  );
  const ofProtocols = { ...calls, performer };
  const a2a = createA2a(context, files, ofProtocols, pushCreated);
  const pages = createPages(context);
  const { baseUrl, bodyLimit, hsts, responsesStatus, corsOrigins } = config;
  return httpServer({
    ...ofProtocols,
    front,
    readiness,
    clock,
    store,
    bodyLimit,
    baseUrl,
    hsts,
    responsesStatus,
    corsOrigins,
    admitAnonymous: admitAnonymous(calls.limits),
    readSession: sessionCookieReader(config.consentUrl),
    uploads: files.uploads,
    blobs: files.blobs,
    watchLinks: watchLinks(cipher, baseUrl),
    auditLinks: auditDownloadLinks(cipher, baseUrl),
    profiles: configuredProfiles(config).names,
    conversationsOnly: config.role === "worker",
    sites: sites.server,
    ...(test && { around: test.serve }),
    protocols: [
      createMcpRoutes(context, files, ofProtocols),
      createAgUiRoutes(context, files, ofProtocols),
      a2a.routes,
    ],
    protocolServices: [a2a.service],
    routes: [...modules, pages].flatMap(({ routes = [] }) => routes),
    notFoundPage: pages.notFoundPage,
  });
}
