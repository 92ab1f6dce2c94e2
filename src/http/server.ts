import { cors as connectCors, type ServiceImpl } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import cors from "@fastify/cors";
import { type FastifyInstance, fastify } from "fastify";
import type { Admit } from "../call/admit.ts";
import type { Limits } from "../call/limit.ts";
import type { Perform } from "../call/perform.ts";
import type { Failure } from "../core/failure.ts";
import { Health } from "../gen/proto/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import type { OperationTable } from "../operations.ts";
import { services } from "../services.ts";
import { connectRoutes } from "./connect.ts";
import type { Front } from "./front.ts";
import { healthService, type Readiness } from "./health.ts";
import { probes } from "./probes.ts";
import { reflectionService } from "./reflection.ts";
import type { ReadRequest } from "./request.ts";
import { v2Refusal, v2Routes } from "./v2/route.ts";

/** What the server needs of the rest. */
export interface ServerParts {
  readonly front: Front;
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly anonymous: Limits["anonymous"];
  readonly perform: Perform;
  readonly readRequest: ReadRequest;
  readonly readiness: Readiness;
  readonly bodyLimit: number;
  /** Origins that browsers may call from; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Only probes and gRPC health are served: a process that takes no calls. */
  readonly probesOnly: boolean;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** What pages of other origins may read of an answer, beside its body. */
const exposedHeaders = [
  ...["X-Request-Id", "Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Idempotent-Replayed"],
  ...connectCors.exposedHeaders,
];

/** Connect JSON as it comes by default, but bytes that are no UTF-8 are refused: otherwise they become U+FFFD. */
const jsonOptions = { ignoreUnknownFields: true, textDecoder: new TextDecoder("utf-8", { fatal: true }) };

/** All wire forms on one port: Connect, gRPC, gRPC-Web, v2, health and reflection. */
export function httpServer(parts: ServerParts): FastifyInstance {
  const { front, readiness, bodyLimit, corsOrigins, probesOnly } = parts;
  const refuse = v2Refusal(parts);
  const app = fastify({
    serverFactory: front.serverFactory,
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: false,
    // A URL that no router can read.
    frameworkErrors: (error, request, reply) => void refuse(request, reply, error),
  });
  probes(app, readiness);
  // Without Origin an OPTIONS is a call like any other: it gets no answer of its own.
  if (corsOrigins.length > 0) void app.register(cors, { origin: [...corsOrigins], exposedHeaders, strictPreflight: false });

  const connect = connectRoutes(parts);
  const served = probesOnly ? [] : services;
  void app.register(fastifyConnectPlugin, {
    requestGate: connect.requestGate,
    contextValues: connect.contextValues,
    readMaxBytes: bodyLimit,
    jsonOptions,
    shutdownSignal: readiness.draining,
    routes(router) {
      router.service(
        Health,
        healthService(
          readiness,
          served.map(({ typeName }) => typeName),
        ),
      );
      if (probesOnly) return;
      connect.routes(router);
      const reflection = reflectionService([...served, Health]);
      router.service(ServerReflection, reflection);
      // The two versions differ in nothing but the package's name.
      router.service(ServerReflectionAlpha, reflection as unknown as ServiceImpl<typeof ServerReflectionAlpha>);
    },
  });
  if (!probesOnly) void app.register(async (scope) => v2Routes(scope, parts));
  return app;
}

/** The operators' port: the probes alone, which answer there for as long as the process lives. */
export function adminServer(readiness: Readiness): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true });
  probes(app, readiness);
  return app;
}
