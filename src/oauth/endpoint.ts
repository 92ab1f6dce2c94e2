import type { Limits } from "../call/limit.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids } from "../core/ids.ts";
import type { ReadAccessToken } from "../core/oauth/access-token.ts";
import { isClientId, isSecretOf, type ProvenClient } from "../core/oauth/client.ts";
import type { RefreshTokens } from "../core/oauth/refresh-token.ts";
import type { ShownToken } from "../core/oauth/revoke.ts";
import type { SigningKeys } from "../core/oauth/signing-keys.ts";
import type { Store } from "../core/store.ts";
import { credentialsOf } from "./credentials.ts";
import { invalidClient } from "./failure.ts";
import type { Form } from "./form.ts";

/** What the OAuth endpoints need of the rest. */
export interface OAuthParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Pick<Limits, "client" | "proven" | "unproven">;
  readonly keys: SigningKeys;
  readonly readToken: ReadAccessToken;
  readonly refreshTokens: RefreshTokens;
  /** `BASE_URL` and `CONSENT_URL`. */
  readonly issuer: string;
  readonly consentUrl: string;
}

/** A request to an endpoint that clients post to. */
export interface Posted {
  readonly form: Form;
  readonly authorization: string | undefined;
  readonly requestId: string;
  readonly address: string;
  /** When it came, Unix milliseconds. */
  readonly now: number;
}

/** Answers with a body. @throws OAuthFailure, or a Failure of the store or of a limit */
export type Endpoint = (posted: Posted) => Promise<object>;

/** One endpoint: what a request without a secret can prove, and what it does. */
interface Rules {
  readonly name: "token" | "revoke" | "introspect";
  /** Whether it names a code or a token that was issued to this client. */
  readonly proves: (clientId: string, form: Form) => Promise<boolean>;
  readonly answer: (client: ProvenClient, posted: Posted) => Promise<object>;
}

/** Credentials and limits first, the same at every endpoint (contract/decisions.md 32). */
export function endpoint({ store, limits }: Pick<OAuthParts, "store" | "limits">, { name, proves, answer }: Rules): Endpoint {
  async function provenBy({ authorization, form, address }: Posted): Promise<ProvenClient & { readonly proven: boolean }> {
    const { clientId, secret } = credentialsOf(authorization, form);
    if (!isClientId(clientId)) throw invalidClient();
    const client = await store.clients.find(clientId);
    // No counter for an id that anybody made up: such requests count for their address alone.
    if (client !== null) await limits.client(name, clientId, address);
    // Compared where there is nothing to compare with as well.
    const bySecret = secret !== null && isSecretOf(client, secret);
    if (client === null || (secret !== null && !bySecret)) throw invalidClient();
    return { client, bySecret, proven: bySecret || (await proves(clientId, form)) };
  }

  async function identified(posted: Posted): Promise<ProvenClient> {
    let found: Awaited<ReturnType<typeof provenBy>> | undefined;
    try {
      found = await provenBy(posted);
    } finally {
      if (!found?.proven) await limits.unproven(posted.address);
    }
    if (found.proven) await limits.proven(name, found.client.clientId);
    return found;
  }

  return async (posted) => answer(await identified(posted), posted);
}

/** Which of this client's tokens a text is, be it alive or not: nothing is looked up. */
export async function shownToken({ refreshTokens, readToken }: OAuthParts, clientId: string, text: string): Promise<ShownToken> {
  const refreshFamilyId = refreshTokens.familyOf(text, clientId);
  const access = refreshFamilyId === null ? await readToken(text) : null;
  return { refreshFamilyId, access: access?.clientId === clientId ? access : null };
}
