import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Admission, Admit, Request } from "../call/admit.ts";
import { Failure } from "../core/failure.ts";
import { Access_Credential } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import { TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { bearerHeaders, callHeaders, rateHeaders, retryHeaders } from "../http/answer-headers.ts";
import { boundOf } from "../http/bounds/bound.ts";
import { failureIn } from "../http/failure.ts";
import type { ReadRequest } from "../http/request.ts";
import { boundedBodies } from "../http/request-body.ts";
import type { Operation, OperationTable } from "../operations.ts";
import { rpcName } from "../operations.ts";
import { documents } from "./discovery.ts";
import { type Answer, type Endpoint, userEndpoints, type Verb } from "./endpoints.ts";
import { answerOf, refusalBody } from "./failure.ts";
import { type ScimUsersParts, scimUsers } from "./users.ts";

/** What SCIM needs of the rest. */
export interface ScimRoutesParts extends Omit<ScimUsersParts, "base" | "operationOf"> {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
  readonly bodyLimit: number;
  /** Where callers reach this server. */
  readonly baseUrl: string;
}

declare module "fastify" {
  interface FastifyRequest {
    scim?: { readonly request: Request; admission?: Admission };
  }
}

/**
 * SCIM 2.0 at `/scim/v2` (RFC 7643, RFC 7644): an identity provider adds, changes and removes the members of
 * the team whose Team User Management key it shows as Bearer. Credential and limit are those of the
 * `team.user.*` operation that a request stands for (contract/decisions.md 45).
 */
export function scimRoutes(app: FastifyInstance, parts: ScimRoutesParts): void {
  const base = `${parts.baseUrl}/scim/v2`;
  const operationOf = (method: DescMethod): Operation => operationIn(parts.operations, method);
  const users = scimUsers({ ...parts, base, operationOf });
  boundedBodies(app, ({ scim }) => scim?.admission && boundOf(scim.admission.operation, parts.bodyLimit));
  app.setErrorHandler((thrown, request, reply) => refuse(parts, request, reply, thrown));
  for (const [path, endpoints] of Object.entries(userEndpoints(users))) serve(app, parts, path, endpoints);
  const { listUsers } = TeamUserManagementApiV2Service.method;
  for (const [path, body] of documents(base)) {
    // In Fastify's paths a colon begins a parameter.
    serve(app, parts, path.replaceAll(":", "::"), { GET: { method: listUsers, answer: async () => ({ status: 200, body }) } });
  }
  app.all("/scim/*", (request, reply) => refuse(parts, request, reply, new Failure("absent", "unknown address")));
}

function serve(app: FastifyInstance, parts: ScimRoutesParts, path: string, endpoints: Readonly<Partial<Record<Verb, Endpoint>>>): void {
  app.route({
    method: [...app.supportedMethods],
    url: `/scim/v2${path}`,
    exposeHeadRoute: false,
    async onRequest(request, reply) {
      const call: NonNullable<FastifyRequest["scim"]> = { request: begin(request, parts) };
      request.scim = call;
      const endpoint = endpointFor(request, reply, endpoints);
      call.admission = await parts.admit(narrowed(operationIn(parts.operations, endpoint.method)), call.request);
      reply.headers(Object.fromEntries(rateHeaders(call.admission.rate)));
      checkType(request);
    },
    async handler(request, reply) {
      const admission = request.scim?.admission;
      if (!admission) throw new Failure("internal", "internal error");
      return send(request, reply, await endpointFor(request, reply, endpoints).answer(admission, request));
    },
  });
}

function endpointFor(request: FastifyRequest, reply: FastifyReply, endpoints: Readonly<Partial<Record<Verb, Endpoint>>>): Endpoint {
  const verbs = Object.keys(endpoints);
  const endpoint = Object.hasOwn(endpoints, request.method) ? endpoints[request.method as Verb] : undefined; // It is one of them.
  if (endpoint) return endpoint;
  reply.header("Allow", verbs.join(", "));
  throw new Failure("wrong_method", `this address takes ${verbs.join(", ")}`);
}

function operationIn(operations: OperationTable, method: DescMethod): Operation {
  const operation = operations.byRpc(rpcName(method));
  if (!operation) throw new Error(`${rpcName(method)} is no operation`);
  return operation;
}

/** The operation, for a Team User Management key alone. */
const narrowed = (operation: Operation): Operation => ({
  ...operation,
  access: { credentials: new Set([Access_Credential.TEAM_USER_MGMT]), anyScope: [], roles: new Set(), personal: false },
});

/** The key stands behind Bearer, here alone; a key of the other headers is a second credential. */
function begin(request: FastifyRequest, { readRequest }: Pick<ScimRoutesParts, "readRequest">): Request {
  const read = readRequest(request.raw);
  const { keys, bearer } = read.credentials;
  return { ...read, credentials: { keys: bearer === null ? [] : [...new Set([bearer, ...keys])], bearer: null, session: null } };
}

function checkType({ headers, raw }: FastifyRequest): void {
  const type = headers["content-type"];
  if (type !== undefined && !/^application\/(scim\+)?json\s*(;|$)/i.test(type))
    throw new Failure("unsupported_media", "the body's type must be application/scim+json or application/json");
  // Fastify over HTTP/2 passes over a body that has none.
  raw.headers["content-type"] = "application/scim+json";
}

/** Answers a failure in SCIM's form (RFC 7644 3.12). */
function refuse(parts: ScimRoutesParts, request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const failure = failureIn(thrown);
  request.scim ??= { request: begin(request, parts) };
  parts.report(failure, request.scim.request.requestId);
  const shown = request.headers.authorization !== undefined;
  reply.headers(Object.fromEntries([...retryHeaders(failure), ...bearerHeaders(failure.reason, shown)]));
  // Fastify's, on a body that is left unread; HTTP/2 has no such header.
  if (request.raw.httpVersionMajor > 1) reply.removeHeader("Connection");
  return send(request, reply, { status: answerOf(failure).status, body: refusalBody(failure) });
}

function send(request: FastifyRequest, reply: FastifyReply, { status, body, headers }: Answer): FastifyReply {
  reply.code(status).headers({ ...Object.fromEntries(callHeaders(request.scim?.request.requestId ?? "")), ...headers });
  if (body === undefined) return reply.send();
  return reply.header("Content-Type", `${typeFor(request)}; charset=utf-8`).send(JSON.stringify(body));
}

/** Plain JSON for whoever takes that and nothing of SCIM. */
function typeFor({ headers: { accept = "" } }: FastifyRequest): string {
  return /\bapplication\/json\b/i.test(accept) && !/scim\+json|\*\/\*/i.test(accept) ? "application/json" : "application/scim+json";
}
