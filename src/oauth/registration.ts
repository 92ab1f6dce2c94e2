import { listedScopes } from "../core/accounts/caller.ts";
import { Failure } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import type { OAuthApp } from "../core/oauth/app.ts";
import { managedClient, type Registered, register, updateRegistered } from "../core/oauth/registration.ts";
import type { Tx } from "../core/store.ts";
import type { OAuthParts } from "./endpoint.ts";
import { OAuthFailure } from "./failure.ts";
import { registrationPath } from "./metadata.ts";

export interface RegistrationParts extends Pick<OAuthParts, "store" | "clock" | "ids" | "limits" | "issuer"> {
  readonly random: Random;
}

export interface ManagementRequest {
  readonly clientId: string;
  /** The text after `Bearer`; null without one. */
  readonly token: string | null;
  readonly address: string;
}

/**
 * What the registration endpoints do (RFC 7591, RFC 7592). Each throws OAuthFailure, or a Failure of a limit
 * or of the store.
 */
export interface Registrations {
  register(body: Uint8Array, address: string): Promise<object>;
  read(request: ManagementRequest): Promise<object>;
  update(request: ManagementRequest, body: Uint8Array): Promise<object>;
  remove(request: ManagementRequest): Promise<void>;
}

export function registrations({
  store,
  clock,
  ids,
  random,
  limits,
  issuer,
}: RegistrationParts): Registrations {
  /** The members of RFC 7591 3.2.1 and RFC 7592 3. The token is shown to who has it. */
  const answer = ({ app, token }: Registered): object => ({
    client_id: app.clientId,
    client_id_issued_at: Math.floor(app.createdAt / 1000),
    registration_client_uri: `${issuer}${registrationPath}/${app.clientId}`,
    registration_access_token: token,
    client_name: app.name,
    redirect_uris: app.redirectUris,
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: listedScopes(app.scopes).join(" "),
  });

  async function manage<T>(
    { clientId, token, address }: ManagementRequest,
    work: (tx: Tx, app: OAuthApp) => Promise<T>,
  ): Promise<T> {
    await limits.unauthenticatedClient(address);
    try {
      return await store.change(async (tx) => work(tx, await managedClient(tx, clientId, token ?? "")));
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.reason === "unauthenticated")
        throw new OAuthFailure({ refused: "invalid_token", description: thrown.message });
      throw refusalOf(thrown);
    }
  }

  return {
    async register(body, address) {
      await limits.registration(address);
      const json = parseJson(body);
      const making = { now: clock.now(), ids, random };
      return answer(await store.change((tx) => register(tx, making, json)).catch(throwRefusal));
    },
    read: (request) => manage(request, async (_tx, app) => answer({ app, token: request.token ?? "" })),
    async update(request, body) {
      const json = parseJson(body);
      return manage(request, async (tx, app) =>
        answer({ app: await updateRegistered(tx, app, json, clock.now()), token: request.token ?? "" }),
      );
    },
    remove: (request) => manage(request, (tx, app) => tx.apps.remove(app.clientId, clock.now())),
  };
}

/** @throws OAuthFailure `invalid_client_metadata` */
function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new OAuthFailure({ refused: "invalid_client_metadata", description: "the body is not JSON" });
  }
}

/** Rules of metadata have their own error codes (RFC 7591 3.2.2). */
function refusalOf(thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.reason !== "invalid_argument") return thrown;
  const refused = thrown.path?.startsWith("redirect_uris")
    ? "invalid_redirect_uri"
    : "invalid_client_metadata";
  return new OAuthFailure({ refused, description: thrown.message.replaceAll(/["\\]/g, "'") });
}

const throwRefusal = (thrown: unknown): never => {
  throw refusalOf(thrown);
};
