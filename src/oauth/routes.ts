import type { FastifyInstance } from "fastify";
import { Failure, notFound } from "../core/failure.ts";
import { failureOfError } from "../http/failure.ts";
import type { ReadRequest } from "../http/request.ts";
import { anonymousBodyBound } from "../http/request-body.ts";
import {
  anonymousSteps,
  type Call,
  type Handle,
  inSteps,
  sendJson,
  type Wire,
  wire,
} from "../http/wire/wire.ts";
import type { Request } from "../pipeline/admission.ts";
import { deviceEndpoint } from "./device.ts";
import { type Endpoint, type OAuthParts, readForm } from "./endpoint.ts";
import { OAuthFailure, toOAuthAnswer } from "./failure.ts";
import { devicePath, metadataDocuments, registrationPath, userinfoPath } from "./metadata.ts";
import {
  type ManagementRequest,
  type RegistrationParts,
  type Registrations,
  registrations,
} from "./registration.ts";
import { introspectEndpoint, revokeEndpoint, tokenEndpoint } from "./token.ts";
import { type UserinfoParts, userinfo } from "./userinfo.ts";

/** Dependencies of the routes in addition to those of the endpoints. */
export interface OAuthRoutesParts extends OAuthParts, RegistrationParts, UserinfoParts {
  readonly store: OAuthParts["store"];
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** The headers that a page of another origin may send and read (spec/decisions.md 36). */
const preflightHeaders = {
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "7200",
} as const;

/** Headers of every answer (spec/oauth.md 5.1, RFC 6749 5.1). */
const answerHeaders = {
  "Cache-Control": "no-store",
  Pragma: "no-cache",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, WWW-Authenticate",
} as const;

/** The endpoints that OAuth clients call: token, revocation, introspection, metadata and keys. */
export function oauthRoutes(app: FastifyInstance, parts: OAuthRoutesParts): void {
  const { clock, keys, readRequest } = parts;
  const report = (failure: Failure | OAuthFailure, requestId: string) => {
    if (failure instanceof Failure) parts.report(failure, requestId);
  };
  const oauth = wire({
    name: "oauth",
    readHead: readRequest,
    failureIn: oauthFailureIn,
    report,
    refuse: sendFailure,
  });
  app.setErrorHandler((thrown, request, reply) => oauth.refuse(request, reply, thrown));
  const route = (url: string, method: "GET" | "POST", handle: Handle) => {
    const text = () => `this endpoint requires ${method}`;
    oauth.route(app, url, { [method]: handle, OPTIONS: preflight(method) }, { text, allow: [method] });
  };

  const post = (url: string, endpoint: Endpoint) =>
    route(
      url,
      "POST",
      inSteps({
        ...anonymousSteps,
        bound: () => anonymousBodyBound,
        decode: (_call, body) => body,
        async encode(call, _admitted, body) {
          const { requestId, address } = call.head;
          const now = clock.now();
          const { authorization, "content-type": type } = call.request.headers;
          send(
            call,
            200,
            await endpoint({
              form: await readCountedForm(type, body, address, parts),
              authorization,
              requestId,
              address,
              now,
            }),
          );
        },
      }),
    );
  registrationRoutes(app, oauth, parts.registration ? registrations(parts) : null);
  const get = (url: string, read: (head: Request) => Promise<object>) =>
    route(url, "GET", async (call) => send(call, 200, await read(call.head)));
  post("/oauth/token", tokenEndpoint(parts));
  post("/oauth/revoke", revokeEndpoint(parts));
  post("/oauth/introspect", introspectEndpoint(parts));
  post(devicePath, deviceEndpoint(parts));
  for (const [path, document] of Object.entries(metadataDocuments(parts))) get(path, async () => document);
  get(userinfoPath, userinfo(parts));
  get("/oauth/jwks", async () => ({ keys: await keys.listPublicKeys() }));
}

const isOff = async (): Promise<never> => {
  throw notFound("address");
};
const noRegistrations: Registrations = { register: isOff, read: isOff, update: isOff, remove: isOff };

/** The addresses at which clients register and manage themselves; null: not found. */
function registrationRoutes(app: FastifyInstance, oauth: Wire, switchedOn: Registrations | null): void {
  const { register, read, update, remove } = switchedOn ?? noRegistrations;
  const withBody = {
    ...anonymousSteps,
    bound: () => anonymousBodyBound,
    decode: (_call: Call, body: Uint8Array) => body,
  };
  const requestOf = ({ request, head }: Call): ManagementRequest => ({
    clientId: (request.params as { clientId: string }).clientId, // The route has this parameter.
    token: head.credentials.bearer,
    address: head.address,
  });
  const post = inSteps({
    ...withBody,
    encode: async (call, _admitted, body) => send(call, 201, await register(body, call.head.address)),
  });
  const put = inSteps({
    ...withBody,
    encode: async (call, _admitted, body) => send(call, 200, await update(requestOf(call), body)),
  });
  const get: Handle = async (call) => send(call, 200, await read(requestOf(call)));
  const del: Handle = async (call) => {
    await remove(requestOf(call));
    call.reply.headers({ "X-Request-Id": call.head.requestId, ...answerHeaders });
    call.reply.code(204).send();
  };
  const text = (allowed: readonly string[]) => `this endpoint requires ${allowed.join(" or ")}`;
  const managing = ["GET", "PUT", "DELETE"];
  oauth.route(app, registrationPath, { POST: post, OPTIONS: preflight("POST") }, { text, allow: ["POST"] });
  const handles = { GET: get, PUT: put, DELETE: del, OPTIONS: preflight(managing.join(", ")) };
  oauth.route(app, `${registrationPath}/:clientId`, handles, { text, allow: managing });
}

/** Reads the form; an unreadable body counts as an unauthenticated request. */
async function readCountedForm(
  type: string | undefined,
  body: Uint8Array,
  address: string,
  { limits }: OAuthRoutesParts,
) {
  try {
    return readForm(type, body);
  } catch (thrown) {
    await limits.unauthenticatedClient(address);
    throw thrown;
  }
}

/** Answers a CORS preflight request. */
const preflight =
  (method: string): Handle =>
  async ({ reply, head }) => {
    reply.headers({ Allow: method, "X-Request-Id": head.requestId, ...answerHeaders });
    reply
      .code(204)
      .headers({ ...preflightHeaders, "Access-Control-Allow-Methods": method })
      .send();
  };

/**
 * Answers a failure in OAuth's form (RFC 6749 5.2); texts of failures other than OAuthFailure are not shown.
 */
async function sendFailure(call: Call, failure: Failure | OAuthFailure): Promise<void> {
  if (failure instanceof Failure && failure.retryAfter !== undefined)
    call.reply.header("Retry-After", String(failure.retryAfter));
  const { status, error, description } = toOAuthAnswer(failure);
  if (error === "insufficient_scope")
    call.reply.header(
      "WWW-Authenticate",
      'Bearer realm="oauth", error="insufficient_scope", scope="profile email"',
    );
  else if (error === "invalid_token")
    call.reply.header("WWW-Authenticate", 'Bearer realm="oauth", error="invalid_token"');
  else if (status === 401 && call.request.headers.authorization !== undefined)
    call.reply.header("WWW-Authenticate", 'Basic realm="oauth", charset="UTF-8"');
  send(call, status, { error, error_description: description });
}

function send({ reply, head }: Call, status: number, body: object): void {
  reply.headers({ "X-Request-Id": head.requestId, ...answerHeaders });
  sendJson(reply, status, JSON.stringify(body));
}

const oauthFailureIn = (thrown: unknown): Failure | OAuthFailure =>
  thrown instanceof OAuthFailure ? thrown : failureOfError(thrown);
