import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import type { InstalledConnector } from "./connector.ts";
import { type OAuthCredentials, openCredentials, sealCredentials } from "./credentials.ts";
import { type ConnectorSignIns, type ServerAddress, ServerFault } from "./server.ts";

/** A token is renewed when it has less than this to live. */
const earlyMs = 60_000;

/** Somebody has to sign in to the connector again. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

/** What connectors are reached with. */
export interface ReachParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly signIns: ConnectorSignIns;
}

/** Uses a connector's server with what opens it, which is renewed when it has to be. */
export type ReachServer = <T>(connector: InstalledConnector, work: (at: ServerAddress) => Promise<T>) => Promise<T>;

/**
 * Of the answer: @throws SignInNeeded, ServerFault. A connector whose tokens are refused for good is `expired` from then on.
 */
export function reachServers(parts: ReachParts): ReachServer {
  /** One refresh of a connector at a time, for all who wait for it: a refresh token is good once. */
  const renewing = new Map<string, Promise<OAuthCredentials>>();

  function renewed(connector: InstalledConnector, spent: string | null): Promise<OAuthCredentials> {
    const found = renewing.get(connector.id) ?? renew(parts, connector, spent).finally(() => renewing.delete(connector.id));
    renewing.set(connector.id, found);
    return found;
  }

  async function byTokens<T>(connector: InstalledConnector, url: string, work: (at: ServerAddress) => Promise<T>): Promise<T> {
    const at = ({ tokens }: OAuthCredentials): ServerAddress => ({
      transport: "http",
      url,
      headers: { authorization: `Bearer ${tokens?.access}` },
    });
    const has = oauthOf(parts, connector);
    const late = (has.tokens?.expiresAt ?? Number.POSITIVE_INFINITY) - parts.clock.now() < earlyMs;
    const first = late ? await renewed(connector, has.tokens?.access ?? null) : has;
    try {
      return await work(at(first));
    } catch (thrown) {
      if (!(thrown instanceof ServerFault && thrown.kind === "refused")) throw thrown;
      // It may have been taken back before its time: once more with another.
      return work(at(await renewed(connector, first.tokens?.access ?? null)));
    }
  }

  return async (connector, work) => {
    const { server } = connector;
    if (server.transport === "none") throw new ServerFault("unreachable", "the connector has no server");
    if (server.transport === "stdio") return work({ transport: "stdio", command: server.command });
    if (server.auth === "oauth") return byTokens(connector, server.url, work);
    const credentials = openCredentials(parts.cipher, connector);
    const headers = credentials?.kind === "header" ? { [server.header]: credentials.value } : {};
    return work({ transport: "http", url: server.url, headers });
  };
}

/** @throws SignInNeeded where nobody is signed in. */
function oauthOf({ cipher }: ReachParts, connector: InstalledConnector): OAuthCredentials {
  const credentials = openCredentials(cipher, connector);
  if (credentials?.kind !== "oauth" || credentials.tokens === null || connector.state === "expired") throw new SignInNeeded();
  return credentials;
}

/** @param spent the access token that is to be replaced: where another has replaced it already, that one's is taken. */
async function renew(parts: ReachParts, connector: InstalledConnector, spent: string | null): Promise<OAuthCredentials> {
  const { store, signIns, cipher, clock } = parts;
  const scope = { accountId: connector.accountId ?? "", spaceId: connector.spaceId };
  const look = async () => {
    const now = await store.connectors.find(scope, connector.id);
    if (now === null) throw new SignInNeeded();
    return oauthOf(parts, now);
  };
  const has = await look();
  if (has.tokens?.access !== spent) return has;
  try {
    const next = await signIns.refresh(has, new AbortController().signal);
    const credentials = sealCredentials(cipher, connector.id, next);
    await store.change((tx) => tx.connectors.update(connector.id, { credentials, updatedAt: clock.now() }));
    return next;
  } catch (thrown) {
    if (!(thrown instanceof ServerFault && thrown.kind === "refused")) throw thrown;
    // Another process may have turned it over at the same time.
    const other = await look();
    if (other.tokens?.access !== spent) return other;
    await store.change((tx) => tx.connectors.update(connector.id, { state: "expired", updatedAt: clock.now() }));
    throw new SignInNeeded();
  }
}
