import type { IncomingMessage, ServerResponse } from "node:http";
import { cors as connectCors } from "@connectrpc/connect";
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactoryHandler,
  fastify,
} from "fastify";
import type { Clock } from "../core/clock.ts";
import { invalidArgument } from "../core/failure.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { Uploads } from "../core/files/uploads.ts";
import type { Tx } from "../core/store.ts";
import { Health } from "../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import type { Admit } from "../pipeline/admit.ts";
import type { Limits } from "../pipeline/limit.ts";
import { anonymousBytes, type OperationTable, rpcName } from "../pipeline/operations.ts";
import type { Performer } from "../pipeline/perform.ts";
import { services } from "../pipeline/services.ts";
import { type AuditAddressParts, auditAddress } from "./audit/address.ts";
import { auditDownload } from "./audit/download.ts";
import { anonymousBound, boundOf, compressions } from "./bounds/bound.ts";
import { boundMessages, type MethodBound } from "./bounds/connect-body.ts";
import { connectRoutes } from "./connect.ts";
import { binaryOptions } from "./connect-json.ts";
import { connectServices, methodPath } from "./connect-services.ts";
import { connectUnary } from "./connect-unary.ts";
import { requestBody } from "./connection.ts";
import { allowOrigins } from "./cors.ts";
import { exportJson } from "./export-json.ts";
import type { Front } from "./front.ts";
import { healthService, probes, type Readiness } from "./health.ts";
import { noSchemas } from "./no-schemas.ts";
import type { FormRule } from "./openai/preferences.ts";
import { openaiRoutes } from "./openai/routes.ts";
import type { ProtocolService } from "./protocol-service.ts";
import { reflection } from "./reflection.ts";
import type { ReadSessionCookie } from "./request.ts";
import { boundDeadline, compressionCheck, contentTypeCheck, plainGrpcMessage } from "./request-hooks.ts";
import { answerUnread, withHttpsOnly, withNosniff } from "./security-headers.ts";
import { type ProtocolRoutes, type Unrouted, unrouted } from "./unrouted.ts";
import { v1Routes } from "./v1/routes.ts";
import { type RefusalParts, v2Wire } from "./v2/refusal.ts";
import { unknownOperation, type V2Parts, v2Routes } from "./v2/route.ts";
import { type WatchAddressParts, watchAddress } from "./v2/watch-address.ts";

export interface ServerParts
  extends RefusalParts,
    Pick<WatchAddressParts, "watchLinks">,
    Pick<AuditAddressParts, "auditLinks"> {
  readonly front: Front;
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly admitAnonymous: Admit;
  readonly anonymous: Limits["anonymous"];
  readonly performer: Performer;
  readonly readSession: ReadSessionCookie;
  readonly clock: Clock;
  readonly readiness: Readiness;
  readonly bodyLimit: number;
  /** Receives the bytes of files. */
  readonly uploads: Uploads;
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files" | "clients">;
  /** The URL at which callers reach this server. */
  readonly baseUrl: string;
  /** Answers tell browsers to use https only. */
  readonly hsts: boolean;
  /** The form of answers of the Responses API to callers that do not prefer one. */
  readonly responsesStatus: FormRule["responsesStatus"];
  /** The names of the profiles that tasks can have. */
  readonly profiles: readonly string[];
  /** Origins that browsers may call from, in addition to those of apps. */
  readonly corsOrigins: readonly string[];
  /**
   * For a process that runs tasks and serves no other calls: probes, gRPC health, and the streams both ways
   * that must reach it.
   */
  readonly conversationsOnly: boolean;
  /** The websites that agents built. All requests to their hosts go to them. */
  readonly sites?: SiteServer;
  /**
   * Other protocols that call the operations, which the same origins may call as the operations themselves.
   */
  readonly protocols?: readonly ProtocolRoutes[];
  /** The same on Connect, gRPC and gRPC-Web. */
  readonly protocolServices?: readonly ProtocolService[];
  /** A page for browsers at unknown addresses. Absent: they get JSON as programs do. */
  readonly notFoundPage?: V2Parts["notFoundPage"];
  /** Serves all requests, in test mode. */
  readonly around?: (handler: FastifyServerFactoryHandler) => FastifyServerFactoryHandler;
  /** Routes of other modules; the hooks and handlers of each apply only to its routes. */
  readonly routes?: readonly ((app: FastifyInstance) => void)[];
}

/** Serves its own hosts, before every route. */
export interface SiteServer {
  /** Answers a request for one of its hosts, and calls `other` for a request for any other host. */
  answer(request: IncomingMessage, response: ServerResponse, other: () => void): void;
}

/** Headers that pages of other origins may read in addition to the body. */
const exposedHeaders = [
  "X-Request-Id",
  "Retry-After",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Idempotent-Replayed",
  "X-Request-Warnings",
  "Preference-Applied",
  "ETag",
  "WWW-Authenticate",
  "X-Accepted-Credentials",
  ...connectCors.exposedHeaders,
];

/**
 * Creates the server of all wire forms on one port: Connect, gRPC, gRPC-Web, v2, v1, the OpenAI-style facade,
 * health and reflection.
 */
export function httpServer(parts: ServerParts): FastifyInstance {
  const { front, readiness, conversationsOnly } = parts;
  const { refuse } = v2Wire(parts);
  const unknown = unknownOperation(parts.operations);
  const elsewhere = unrouted();
  const { around = (handler) => handler } = parts;
  const app = fastify({
    serverFactory: (handler, options) =>
      front.serverFactory(
        around(withNosniff(sitesFirst(parts, withHttpsOnly(handler, parts.hsts)))),
        options,
      ),
    logger: false,
    schemaController: noSchemas,
    // The expressions in routes are our own, and the check of each takes as long as its route.
    routerOptions: { allowUnsafeRegex: true },
    forceCloseConnections: false,
    clientErrorHandler: answerUnread,
    // For scopes without their own body reader.
    bodyLimit: anonymousBytes,
    // Malformed URLs, and names beyond Fastify's limit for a parameter, which never reach a route.
    frameworkErrors: (error, request, reply) =>
      void elsewhere.refuse(
        request,
        reply,
        refuse,
        isLongName(error, request) ? unknown(request.url) : error,
      ),
  });
  app.addHook("onRequest", async ({ raw, routeOptions }, reply) => {
    // Without a route there is no configuration, despite its type.
    if (!routeOptions.config?.asksForBody) requestBody(raw, reply.raw);
  });
  probes(app, readiness);
  void app.register(async (calls) => {
    allowOrigins(calls, { corsOrigins: parts.corsOrigins, clients: parts.store.clients }, { exposedHeaders });
    callRoutes(calls, parts, elsewhere);
  });
  if (!conversationsOnly) void app.register(async (scope) => watchAddress(scope, parts));
  if (!conversationsOnly) void app.register(async (scope) => auditAddress(scope, parts));
  if (!conversationsOnly)
    for (const routes of parts.routes ?? []) void app.register(async (scope) => routes(scope));
  return app;
}

/** Whether a name below `/v2/` was too long for a parameter of a route: no operation has such a name. */
const isLongName = ({ code }: { code: string }, { url }: Pick<FastifyRequest, "url">): boolean =>
  code === "FST_ERR_MAX_PARAM_LENGTH" && url.startsWith("/v2/");

/**
 * Serves websites before all routes: no platform route is reachable on a website's host, and no website on
 * the platform's.
 */
function sitesFirst(
  { sites, conversationsOnly }: ServerParts,
  handler: FastifyServerFactoryHandler,
): FastifyServerFactoryHandler {
  if (sites === undefined || conversationsOnly) return handler;
  return (request, response) => {
    sites.answer(request, response, () => handler(request, response));
  };
}

/** Registers Connect, gRPC, v2, v1 and the facade, which the configured origins may call from a browser. */
function callRoutes(app: FastifyInstance, parts: ServerParts, elsewhere: Unrouted): void {
  const { refuse } = v2Wire(parts);
  void app.register(async (scope) => {
    // Connect reads the URL with its host; without a host it would send an empty 200.
    scope.addHook("onRequest", async (request, reply) =>
      namesHost(request) ? undefined : refuse(request, reply, invalidArgument("Host", "must name a host")),
    );
    if (!parts.conversationsOnly) {
      exportJson(scope, parts);
      scope.addHook("onRequest", connectUnary(parts));
    }
    scope.addHook("onRequest", async (request, reply) => observeRpc(request, reply, parts));
    const checkType = contentTypeCheck(parts.operations);
    const checkCompression = compressionCheck(parts.operations);
    scope.addHook("onRequest", async (request, reply) => {
      checkType(request.raw);
      checkCompression(request.raw);
      boundDeadline(request.raw.headers);
      plainGrpcMessage(reply.raw);
    });
    // Connect answers its own errors; this handler gets only requests of a type that Connect does not read.
    scope.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));
    boundMessages(scope, methodBounds(parts));
    void scope.register(async (connect) => connectServices(connect, connectOptions(parts)));
  });
  if (parts.conversationsOnly) return;
  void app.register(async (scope) => v2Routes(scope, parts, elsewhere));
  void app.register(async (scope) => auditDownload(scope, parts));
  void app.register(async (scope) => v1Routes(scope, parts));
  void app.register(async (scope) => openaiRoutes(scope, parts));
  for (const protocol of parts.protocols ?? [])
    void app.register(async (scope) => elsewhere.add(protocol(scope)));
}

/**
 * Begins the observation of a call to an operation that connect-es serves. Health and reflection do not count
 * as operations.
 */
function observeRpc(
  request: FastifyRequest,
  reply: FastifyReply,
  { operations, readRequest, protocolServices = [] }: ServerParts,
): void {
  const name = methodPath(request)?.slice(1) ?? "";
  const protocol = protocolServices.find(({ service }) => name.startsWith(`${service.typeName}/`));
  const operation = operations.byRpc(name) ?? protocol?.entrance;
  const { observed } = readRequest(request.raw);
  if (operation === undefined || observed === undefined) return;
  observed.operation = operation;
  const [, wire = "connect"] =
    /^application\/(grpc(?:-web)?)/.exec(request.headers["content-type"] ?? "") ?? [];
  observed.begin(wire === "grpc" || wire === "grpc-web" ? wire : "connect", reply.raw);
}

/** The largest message of each method, by the method's path. */
function methodBounds({
  operations,
  bodyLimit,
  protocolServices = [],
}: ServerParts): ReadonlyMap<string, MethodBound> {
  const standard = [Health, ServerReflection, ServerReflectionAlpha].flatMap(({ methods }) => methods);
  const bounds = [
    ...standard.map((method): MethodBound => ({ ...anonymousBound(method), method })),
    ...protocolServices.flatMap(({ service, maxBytes }) =>
      service.methods.map((method): MethodBound => ({ method, maxBytes, name: rpcName(method) })),
    ),
    ...operations.all.map(
      (operation): MethodBound => ({ ...boundOf(operation, bodyLimit), method: operation.method }),
    ),
  ];
  return new Map(bounds.map((bound) => [`/${rpcName(bound.method)}`, bound]));
}

/** Options for Connect, gRPC and gRPC-Web: the operations, health and reflection. */
function connectOptions(parts: ServerParts): Parameters<typeof connectServices>[1] {
  const { front, readiness, conversationsOnly } = parts;
  const connect = connectRoutes(parts);
  const served = conversationsOnly
    ? services.filter(({ methods }) => methods.some(({ methodKind }) => methodKind === "bidi_streaming"))
    : services;
  const names = served.map(({ typeName }) => typeName);
  return {
    requestGate: connect.requestGate,
    contextValues: connect.contextValues,
    interceptors: connect.interceptors,
    readMaxBytes: anonymousBytes,
    binaryOptions,
    acceptCompression: [...compressions],
    shutdownSignal: front.draining,
    routes(router) {
      router.service(Health, healthService(readiness, names));
      connect.routes(router, { conversationsOnly });
      if (conversationsOnly) return;
      const protocols = (parts.protocolServices ?? []).map(({ service }) => service);
      const reflect = reflection([...served, ...protocols, Health]);
      router.service(ServerReflection, { serverReflectionInfo: reflect });
      router.service(ServerReflectionAlpha, { serverReflectionInfo: reflect });
    },
  };
}

const namesHost = ({ headers }: FastifyRequest): boolean =>
  URL.canParse(`http://${headers.host ?? headers[":authority"] ?? ""}`);
