import type { IncomingMessage, ServerResponse } from "node:http";
import { cors as connectCors, type ServiceImpl } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import cors from "@fastify/cors";
import { type FastifyInstance, type FastifyRequest, type FastifyServerFactoryHandler, fastify } from "fastify";
import type { Admit } from "../call/admit.ts";
import type { Limits } from "../call/limit.ts";
import type { Performer } from "../call/perform.ts";
import type { Clock } from "../core/clock.ts";
import { type Failure, invalid } from "../core/failure.ts";
import type { Blobs } from "../core/files/blobs.ts";
import type { Uploads } from "../core/files/uploads.ts";
import type { Tx } from "../core/store.ts";
import { Health } from "../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { type OperationTable, rpcName } from "../operations.ts";
import { services } from "../services.ts";
import { auditDownload } from "./audit/download.ts";
import { anonymousBound, anonymousBytes, boundOf } from "./bounds/bound.ts";
import { boundMessages, type MethodBound } from "./bounds/connect-body.ts";
import { compressions } from "./bounds/decompression.ts";
import { connectRoutes } from "./connect.ts";
import { binaryOptions } from "./connect-json.ts";
import { connectUnary } from "./connect-unary.ts";
import { contentTypeCheck } from "./content-type.ts";
import { askForBody } from "./continue.ts";
import { boundDeadline } from "./deadline.ts";
import { exportJson } from "./export-json.ts";
import type { Front } from "./front.ts";
import { plainGrpcMessage } from "./grpc-message.ts";
import { healthService, type Readiness } from "./health.ts";
import { openaiRoutes } from "./openai/routes.ts";
import { probes } from "./probes.ts";
import { reflectionService } from "./reflection.ts";
import type { ReadRequest } from "./request.ts";
import type { ReadSessionCookie } from "./session-cookie.ts";
import { v1Routes } from "./v1/routes.ts";
import { v2Refusal, v2Routes } from "./v2/route.ts";

/** What the server needs of the rest. */
export interface ServerParts {
  readonly front: Front;
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly admitAnybody: Admit;
  readonly anonymous: Limits["anonymous"];
  readonly performer: Performer;
  readonly readRequest: ReadRequest;
  readonly readSession: ReadSessionCookie;
  readonly clock: Clock;
  readonly readiness: Readiness;
  readonly bodyLimit: number;
  /** Where the bytes of files come in and go out. */
  readonly uploads: Uploads;
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  /** Where callers reach this server. */
  readonly baseUrl: string;
  /** Origins that browsers may call from; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** A process that runs tasks and takes no calls: probes, gRPC health, and the streams both ways that have to come to it. */
  readonly conversationsOnly: boolean;
  readonly report: (failure: Failure, requestId: string) => void;
  /** The websites that agents built: what comes for their hosts goes to them, and to nothing else. */
  readonly sites?: SiteServer;
  /** Routes of other rooms; each keeps its hooks and handlers to itself. */
  readonly routes?: readonly ((app: FastifyInstance) => void)[];
}

/** Whoever answers for hosts of their own, in front of every route. */
export interface SiteServer {
  /** Whether a request is for one of these hosts; then it is answered. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

/** What pages of other origins may read of an answer, beside its body. */
const exposedHeaders = [
  ...["X-Request-Id", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Idempotent-Replayed"],
  ...["X-Request-Warnings", "Preference-Applied"],
  ...["WWW-Authenticate", "X-Accepted-Credentials"],
  ...connectCors.exposedHeaders,
];

/** All wire forms on one port: Connect, gRPC, gRPC-Web, v2, v1, the OpenAI-style facade, health and reflection. */
export function httpServer(parts: ServerParts): FastifyInstance {
  const { front, readiness, corsOrigins, conversationsOnly } = parts;
  const refuse = v2Refusal(parts);
  const app = fastify({
    serverFactory: (handler, options) => front.serverFactory(sitesFirst(parts, handler), options),
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: false,
    // Where a scope has no reader of bodies of its own.
    bodyLimit: anonymousBytes,
    // A URL that no router can read.
    frameworkErrors: (error, request, reply) => void refuse(request, reply, error),
  });
  app.addHook("onRequest", async ({ raw, routeOptions }, reply) => {
    // Where no route is, there is no configuration, whatever its type says.
    if (!routeOptions.config?.asksForBody) askForBody(raw, reply.raw);
  });
  probes(app, readiness);
  // An OPTIONS that asks for no leave gets an empty answer as well, for text would be no envelope.
  void app.register(async (calls) => {
    if (corsOrigins.length > 0) void calls.register(cors, { origin: [...corsOrigins], exposedHeaders, strictPreflight: false });
    callRoutes(calls, parts);
  });
  if (!conversationsOnly) for (const routes of parts.routes ?? []) void app.register(async (scope) => routes(scope));
  return app;
}

/** No route of ours is reachable on a website's host, and no website on ours. */
function sitesFirst({ sites, conversationsOnly }: ServerParts, handler: FastifyServerFactoryHandler): FastifyServerFactoryHandler {
  if (sites === undefined || conversationsOnly) return handler;
  return (request, response) => {
    if (!sites.answer(request, response)) handler(request, response);
  };
}

/** Connect, gRPC, v2, v1 and the facade: what the configured origins may call from a browser. */
function callRoutes(app: FastifyInstance, parts: ServerParts): void {
  const refuse = v2Refusal(parts);
  void app.register(async (scope) => {
    // Connect reads the URL with its host; without one it would answer 200 and nothing else.
    scope.addHook("onRequest", async (request, reply) =>
      namesHost(request) ? undefined : refuse(request, reply, invalid("Host", "must name a host")),
    );
    if (!parts.conversationsOnly) {
      exportJson(scope, parts);
      scope.addHook("onRequest", connectUnary(parts));
    }
    const checkType = contentTypeCheck(parts.operations);
    scope.addHook("onRequest", async (request, reply) => {
      checkType(request.raw);
      boundDeadline(request.raw.headers);
      plainGrpcMessage(reply.raw);
    });
    // Connect answers for itself; what reaches this is of no type that it reads.
    scope.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown));
    boundMessages(scope, methodBounds(parts));
    void scope.register(fastifyConnectPlugin, connectOptions(parts));
  });
  if (parts.conversationsOnly) return;
  void app.register(async (scope) => v2Routes(scope, parts));
  void app.register(async (scope) => auditDownload(scope, parts));
  void app.register(async (scope) => v1Routes(scope, parts));
  void app.register(async (scope) => openaiRoutes(scope, parts));
}

/** How large messages may be, by the path of their method. */
function methodBounds({ operations, bodyLimit }: ServerParts): ReadonlyMap<string, MethodBound> {
  const standard = [Health, ServerReflection, ServerReflectionAlpha].flatMap(({ methods }) => methods);
  const bounds = [
    ...standard.map((method): MethodBound => ({ ...anonymousBound(method), method })),
    ...operations.all.map((operation): MethodBound => ({ ...boundOf(operation, bodyLimit), method: operation.method })),
  ];
  return new Map(bounds.map((bound) => [`/${rpcName(bound.method)}`, bound]));
}

/** Connect, gRPC and gRPC-Web: the operations, health, and reflection of both. */
function connectOptions(parts: ServerParts): Parameters<typeof fastifyConnectPlugin>[1] {
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
      const reflection = reflectionService([...served, Health]);
      router.service(ServerReflection, reflection);
      // The two versions differ in nothing but the package's name.
      router.service(ServerReflectionAlpha, reflection as unknown as ServiceImpl<typeof ServerReflectionAlpha>);
    },
  };
}

const namesHost = ({ headers }: FastifyRequest): boolean => URL.canParse(`http://${headers.host ?? headers[":authority"] ?? ""}`);

/** The operators' port: the probes alone, which answer there for as long as the process lives. */
export function adminServer(readiness: Readiness): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true });
  probes(app, readiness);
  return app;
}
