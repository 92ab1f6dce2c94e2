import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../../core/failure.ts";
import { Access_Credential } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";
import { TeamUserManagementApiV2Service } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import { bearerHeaders, callHeaders, retryHeaders, setHeaders } from "../../http/answer-headers.ts";
import { boundOf } from "../../http/bounds/bound.ts";
import { failureOfError } from "../../http/failure.ts";
import type { ReadRequest } from "../../http/request.ts";
import { boundedBodies } from "../../http/request-body.ts";
import { type Call, type Handle, hasBody, inSteps, wire } from "../../http/wire/wire.ts";
import type { Request } from "../../pipeline/admission.ts";
import type { Admit } from "../../pipeline/admit.ts";
import { type Operation, type OperationTable, rpcName } from "../../pipeline/operations.ts";
import { documents } from "./discovery.ts";
import { type Answer, type Endpoint, type Endpoints, userEndpoints } from "./endpoints.ts";
import { answerOf, refusalBody } from "./failure.ts";
import { groupEndpoints } from "./group-endpoints.ts";
import { type ScimGroupsParts, scimGroups } from "./groups.ts";
import { type ScimUsersParts, scimUsers } from "./users.ts";

export interface ScimRoutesParts extends Omit<ScimUsersParts & ScimGroupsParts, "base" | "operationOf"> {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
  readonly bodyLimit: number;
  /** The URL at which callers reach this server. */
  readonly baseUrl: string;
}

/**
 * Registers SCIM 2.0 at `/scim/v2` (RFC 7643, RFC 7644): an identity provider adds, changes and removes the
 * members and groups of a team with the team's Team User Management key as Bearer. Credential and limit are
 * those of the equivalent `team.user.*` operation (spec/decisions.md 45).
 */
export function scimRoutes(app: FastifyInstance, parts: ScimRoutesParts): void {
  const base = `${parts.baseUrl}/scim/v2`;
  const operationOf = (method: DescMethod): Operation => operationIn(parts.operations, method);
  const endpoints = {
    ...userEndpoints(scimUsers({ ...parts, base, operationOf })),
    ...groupEndpoints(scimGroups({ ...parts, base, operationOf })),
  };
  // For unknown addresses.
  boundedBodies(app);
  const scim = wire({
    name: "scim",
    readHead: (raw) => withKey(parts.readRequest(raw)),
    failureIn: failureOfError,
    report: parts.report,
    refuse,
  });
  app.setErrorHandler((thrown, request, reply) => scim.refuse(request, reply, thrown));
  function serve(path: string, verbs: Endpoints): void {
    const handles = Object.entries(verbs).map(
      ([verb, endpoint]) => [verb, handleOf(endpoint, parts)] as const,
    );
    const text = (allowed: readonly string[]) => `this address accepts ${allowed.join(", ")}`;
    scim.route(app, `/scim/v2${path}`, Object.fromEntries(handles), { text });
  }
  for (const [path, verbs] of Object.entries(endpoints)) serve(path, verbs);
  const { listUsers } = TeamUserManagementApiV2Service.method;
  for (const [path, body] of documents(base)) {
    // Escape colons: in Fastify's paths a colon begins a parameter.
    serve(path.replaceAll(":", "::"), {
      GET: { method: listUsers, answer: async () => ({ status: 200, body }) },
    });
  }
  app.all("/scim/*", (request, reply) =>
    scim.refuse(request, reply, new Failure("not_found", "unknown address")),
  );
}

function handleOf(
  { method, maxBytes, answer }: Endpoint,
  { admit, operations, bodyLimit }: ScimRoutesParts,
): Handle {
  const equivalent = operationIn(operations, method);
  const operation = restricted({ ...equivalent, maxRequestBytes: maxBytes ?? equivalent.maxRequestBytes });
  return inSteps({
    admit: ({ head }) => admit(operation, head),
    bound(call) {
      checkType(call.request);
      return hasBody(call) ? boundOf(operation, bodyLimit) : null;
    },
    decode: (_call, body) => body,
    encode: async (call, admission, body) => send(call, await answer(admission, call.request, body)),
  });
}

function operationIn(operations: OperationTable, method: DescMethod): Operation {
  const operation = operations.byRpc(rpcName(method));
  if (!operation) throw new Error(`${rpcName(method)} is not an operation`);
  return operation;
}

/** The operation, restricted to Team User Management keys. */
const restricted = (operation: Operation): Operation => ({
  ...operation,
  access: {
    credentials: new Set([Access_Credential.TEAM_USER_MGMT]),
    anyScope: [],
    roles: new Set(),
    personal: false,
    operator: false,
    keyScope: null,
    inProjects: false,
  },
});

/**
 * Reads the key from `Authorization: Bearer`. Only SCIM does this; a key in another header is a second
 * credential.
 */
function withKey(head: Request): Request {
  const { keys, bearer } = head.credentials;
  return {
    ...head,
    credentials: {
      keys: bearer === null ? [] : [...new Set([bearer, ...keys])],
      bearer: null,
      session: null,
    },
  };
}

function checkType({ headers }: FastifyRequest): void {
  const type = headers["content-type"];
  if (type !== undefined && !/^application\/(scim\+)?json\s*(;|$)/i.test(type))
    throw new Failure(
      "unsupported_media_type",
      "Content-Type: must be application/scim+json or application/json",
    );
}

/** Answers a failure in SCIM's form (RFC 7644 3.12). */
async function refuse(call: Call, failure: Failure): Promise<void> {
  const wasSent = call.request.headers.authorization !== undefined;
  setHeaders(call.reply, [...retryHeaders(failure), ...bearerHeaders(failure.reason, wasSent)]);
  send(call, { status: answerOf(failure).status, body: refusalBody(failure) });
}

function send({ request, reply, head }: Call, { status, body, headers = {} }: Answer): void {
  setHeaders(reply, callHeaders(head.requestId));
  reply.code(status).headers(headers);
  if (body === undefined) reply.send();
  else reply.header("Content-Type", `${typeFor(request)}; charset=utf-8`).send(JSON.stringify(body));
}

/** The content type: plain JSON for clients that accept it and not SCIM's type. */
function typeFor({ headers: { accept = "" } }: FastifyRequest): string {
  return /\bapplication\/json\b/i.test(accept) && !/scim\+json|\*\/\*/i.test(accept)
    ? "application/json"
    : "application/scim+json";
}
