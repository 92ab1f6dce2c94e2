import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { batchReads } from "../async/batch.ts";
import { readNamedClient } from "../core/oauth/access-tokens.ts";
import type { ClientRows } from "../core/oauth/app.ts";
import { isHttpsOrigin } from "../core/oauth/https-origin.ts";

/** The origins whose pages may call. */
export interface CorsParts {
  /** Those of `CORS_ORIGINS`: with every credential. */
  readonly corsOrigins: readonly string[];
  readonly clients: Pick<ClientRows, "allowsOrigin">;
}

/** What pages of other origins may do in a scope. */
interface CorsScope {
  /** Default: GET, HEAD and POST. */
  readonly methods?: string[];
  /** Headers that they may read in addition to the body. */
  readonly exposedHeaders: string[];
  /** Addresses that work without a credential: every origin that an app allows may open them. */
  readonly isSigned?: boolean;
}

/**
 * Answers preflights and lets pages of the allowed origins read answers, never with cookies
 * (spec/decisions.md 36, 107). An OPTIONS of an allowed origin that is not a preflight gets an empty answer
 * too: a text would not be in the envelope.
 */
export function allowOrigins(
  app: FastifyInstance,
  { corsOrigins, clients }: CorsParts,
  { isSigned = false, ...scope }: CorsScope,
): void {
  const options = { ...scope, strictPreflight: false };
  const configured = { ...options, origin: corsOrigins.length > 0 ? [...corsOrigins] : false };
  const known = batchReads<boolean>();

  async function optionsFor(request: FastifyRequest, origin: string): Promise<FastifyCorsOptions> {
    const client = isSigned || request.method === "OPTIONS" ? null : clientOf(request);
    // Preflights of all other addresses arrive here too, also those of pages: none of them has a route for
    // OPTIONS.
    if (client === undefined || request.routeOptions.url === "*") return configured;
    const isAllowed = await known(JSON.stringify([client, origin]), () =>
      clients.allowsOrigin(client, origin),
    );
    return isAllowed ? { ...options, origin: [origin] } : configured;
  }

  void app.register(cors, {
    delegator: (request, done) => {
      const { origin = "" } = request.headers;
      if (corsOrigins.includes(origin) || !isHttpsOrigin(origin)) done(null, configured);
      else optionsFor(request, origin).then((chosen) => done(null, chosen), done);
    },
  });
  // The plugin has answered preflights. Other OPTIONS of unknown addresses end before their body is read.
  app.after(() => {
    app.addHook("onRequest", async (request, reply) => {
      if (request.method === "OPTIONS" && request.routeOptions.url === "*") reply.callNotFound();
    });
  });
}

/** The app of the access token that is sent; undefined without a token. */
function clientOf({ headers: { authorization = "" } }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer +([^\s]+)$/i.exec(authorization) ?? [];
  return token === undefined ? undefined : readNamedClient(token);
}
