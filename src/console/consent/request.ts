import type { FastifyRequest } from "fastify";
import { isClientId } from "../../core/oauth/client.ts";
import type { Tx } from "../../core/store.ts";
import { type Authorization, readAuthorization } from "../../oauth/authorize/request.ts";

/** The path of the authorization endpoint (contract/oauth.md 4). */
export const authorizePath = "/openapi/oauth";

/** A request's query, written anew: the same parameters in a form that comes through sign-in and forms as it is. */
export const queryOf = (request: FastifyRequest): string => new URLSearchParams(request.url.split("?").slice(1).join("?")).toString();

/** Reads a request by the app as it is now; a text that cannot be a client's id never reaches the store. */
export const authorizationIn = (query: string, issuer: string, find: Tx["apps"]["find"]): Promise<Authorization> =>
  readAuthorization(new URLSearchParams(query), async (clientId) => (isClientId(clientId) ? find(clientId) : null), issuer);
