import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure, failureOf } from "../core/failure.ts";
import type { ReadRequest } from "../http/request.ts";
import { boundedBodies } from "../http/request-body.ts";
import type { Endpoint, OAuthParts } from "./endpoint.ts";
import { answerOf, OAuthFailure } from "./failure.ts";
import { readForm } from "./form.ts";
import { introspectEndpoint } from "./introspect.ts";
import { metadata } from "./metadata.ts";
import { revokeEndpoint } from "./revoke.ts";
import { tokenEndpoint } from "./token.ts";

/** What the routes need beside their endpoints. */
export interface OAuthRoutesParts extends OAuthParts {
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
}

/** What a page of another origin may send and read (contract/decisions.md 36). */
const preflightHeaders = {
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "7200",
} as const;

declare module "fastify" {
  interface FastifyRequest {
    oauth?: { readonly requestId: string; readonly address: string };
  }
}

/** The endpoints that OAuth clients call: token, revocation, introspection, metadata and keys. */
export function oauthRoutes(app: FastifyInstance, parts: OAuthRoutesParts): void {
  const { clock, keys, issuer, consentUrl } = parts;
  boundedBodies(app, () => undefined);
  app.addHook("onRequest", async (request, reply) => begin(request, reply, parts));
  app.setErrorHandler((thrown, request, reply) => refuse(request, reply, thrown, parts));

  const post = (url: string, endpoint: Endpoint) =>
    route(app, url, "POST", async (request) => {
      const { requestId = "", address = "" } = request.oauth ?? {};
      const now = clock.now();
      const { authorization, "content-type": type } = request.headers;
      const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      return endpoint({ form: await formOf(type, body, address, parts), authorization, requestId, address, now });
    });
  post("/oauth/token", tokenEndpoint(parts));
  post("/oauth/revoke", revokeEndpoint(parts));
  post("/oauth/introspect", introspectEndpoint(parts));
  const described = metadata(issuer, consentUrl);
  route(app, "/.well-known/oauth-authorization-server", "GET", async () => described);
  route(app, "/oauth/jwks", "GET", async () => ({ keys: await keys.published() }));
}

/** A body that cannot be read proves nothing either. */
async function formOf(type: string | undefined, body: Uint8Array, address: string, { limits }: OAuthRoutesParts) {
  try {
    return readForm(type, body);
  } catch (thrown) {
    await limits.unproven(address);
    throw thrown;
  }
}

/** One method, its preflight, and 405 for the others. */
function route(app: FastifyInstance, url: string, method: "GET" | "POST", answer: (request: FastifyRequest) => Promise<object>): void {
  app.route({
    method: [...app.supportedMethods],
    url,
    exposeHeadRoute: false,
    async onRequest(request, reply) {
      if (request.method === method) return;
      reply.header("Allow", method);
      if (request.method !== "OPTIONS") throw new Failure("wrong_method", `this endpoint takes ${method}`);
      await reply
        .code(204)
        .headers({ ...preflightHeaders, "Access-Control-Allow-Methods": method })
        .send();
    },
    handler: async (request, reply) => send(reply, 200, await answer(request)),
  });
}

/** Headers of every answer (contract/oauth.md 5.1, RFC 6749 5.1). */
function begin(request: FastifyRequest, reply: FastifyReply, { readRequest }: OAuthRoutesParts): void {
  const { requestId, address } = readRequest(request.raw);
  request.oauth = { requestId, address };
  reply.headers({
    "X-Request-Id": requestId,
    "Cache-Control": "no-store",
    Pragma: "no-cache",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, WWW-Authenticate",
  });
}

/** Answers a refusal in OAuth's own form (RFC 6749 5.2); a stranger's text goes nowhere. */
function refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown, { report }: OAuthRoutesParts): FastifyReply {
  const failure = thrown instanceof OAuthFailure ? thrown : (fromFastify(thrown) ?? failureOf(thrown));
  if (failure instanceof Failure) {
    report(failure, request.oauth?.requestId ?? "");
    if (failure.retryAfter !== undefined) reply.header("Retry-After", String(failure.retryAfter));
  }
  const { status, error, description } = answerOf(failure);
  if (status === 401 && request.headers.authorization !== undefined)
    reply.header("WWW-Authenticate", 'Basic realm="oauth", charset="UTF-8"');
  // Fastify's, on a body that is left unread; HTTP/2 has no such header.
  if (request.raw.httpVersionMajor > 1) reply.removeHeader("Connection");
  return send(reply, status, { error, error_description: description });
}

const send = (reply: FastifyReply, status: number, body: object): FastifyReply =>
  reply.code(status).header("Content-Type", "application/json; charset=utf-8").send(JSON.stringify(body));

/** Fastify's own refusals, and a body that breaks off. */
const strangeFailures: Readonly<Record<string, Failure["reason"]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "unsupported_media",
  FST_ERR_CTP_BODY_TOO_LARGE: "too_large",
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: "invalid",
  ECONNRESET: "cancelled",
};

function fromFastify(thrown: unknown): Failure | undefined {
  const reason = thrown instanceof Error && "code" in thrown ? strangeFailures[String(thrown.code)] : undefined;
  return reason && new Failure(reason, "refused", { cause: thrown });
}
