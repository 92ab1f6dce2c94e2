import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import type { ConnectorChanges, InstalledConnector } from "./connector.ts";
import {
  type ConnectorSignIns,
  type OAuthCredentials,
  openCredentials,
  type ServerAddress,
  ServerFault,
  sealCredentials,
} from "./server.ts";

/** Longer than any refresh takes. A process that has not finished by then has died. */
const claimMs = 45_000;
/** How often a process checks while another one renews. */
const pollMs = 100;

/** A user has to sign in to the connector again. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

export interface RenewParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly signIns: ConnectorSignIns;
}

/**
 * Renews the tokens of a connector if its access token is the spent one, or if it has none.
 *
 * A refresh token is valid once, and a server that receives one twice may revoke all tokens issued from it.
 * So only one refresh runs at a time. In a process all callers share it. Between processes, the one that
 * writes its claim into the credentials runs it.
 *
 * @throws SignInNeeded, after which the connector is `expired`; ServerFault when the authorization server
 * returned no tokens.
 */
export function renewals(parts: RenewParts) {
  const renewing = new Map<string, Promise<OAuthCredentials>>();
  return (connector: InstalledConnector, spent: string | null): Promise<OAuthCredentials> => {
    const renewal =
      renewing.get(connector.id) ??
      renew(parts, connector, spent).finally(() => renewing.delete(connector.id));
    renewing.set(connector.id, renewal);
    return renewal;
  };
}

/** The tokens of a connector. @throws SignInNeeded if no user is signed in. */
function tokensOf({ cipher }: Pick<RenewParts, "cipher">, connector: InstalledConnector): OAuthCredentials {
  const credentials = openCredentials(cipher, connector);
  if (credentials?.kind !== "oauth" || credentials.tokens === null || connector.state === "expired")
    throw new SignInNeeded();
  return credentials;
}

/**
 * @param spent the access token to replace. If another process has replaced it already, the new one is
 * returned.
 */
async function renew(
  parts: RenewParts,
  connector: InstalledConnector,
  spent: string | null,
): Promise<OAuthCredentials> {
  const { store, clock } = parts;
  const scope = { accountId: connector.accountId ?? "", spaceId: connector.spaceId };
  for (;;) {
    const now = await store.connectors.find(scope, connector.id);
    if (now === null) throw new SignInNeeded();
    const current = tokensOf(parts, now);
    if (current.tokens?.access !== spent) return current;
    const claim = await claimRenewal(parts, now, current);
    if (claim) return refresh(parts, claim, current);
    await clock.sleep(pollMs);
  }
}

interface Claim {
  readonly id: string;
  /** The owner of the connector: an account or, for a connector of the entire space, the space. */
  readonly accountId: string;
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** Claims the renewal; null while another process has the claim. */
async function claimRenewal(
  { store, clock, cipher }: RenewParts,
  { id, accountId, spaceId, credentials }: InstalledConnector,
  current: OAuthCredentials,
) {
  const now = clock.now();
  if ((current.renewingUntil ?? 0) > now || credentials === null) return null;
  const sealed = sealCredentials(cipher, id, { ...current, renewingUntil: now + claimMs });
  const isClaimed = await store.change((tx) =>
    tx.connectors.update(id, { credentials: sealed }, credentials),
  );
  return isClaimed ? { id, accountId: accountId ?? spaceId, sealed } : null;
}

async function refresh(
  parts: RenewParts,
  { id, accountId, sealed }: Claim,
  current: OAuthCredentials,
): Promise<OAuthCredentials> {
  const { store, clock, cipher, signIns } = parts;
  // Compare with the claimed credentials: a user who has signed in again in the meantime stays signed in.
  const end = (changes: ConnectorChanges) =>
    store.change((tx) => tx.connectors.update(id, { ...changes, updatedAt: clock.now() }, sealed));
  const { renewingUntil: _ended, ...free } = current;
  try {
    const next = await signIns.refresh(free, { accountId, signal: new AbortController().signal });
    await end({ credentials: sealCredentials(cipher, id, next) });
    return next;
  } catch (thrown) {
    const refused = thrown instanceof ServerFault && thrown.kind === "refused";
    await end({ credentials: sealCredentials(cipher, id, free), ...(refused ? { state: "expired" } : {}) });
    throw refused ? new SignInNeeded() : thrown;
  }
}

/** A token is renewed when it expires within this time. */
const earlyMs = 60_000;

/** Calls a connector's server with its credentials, which are renewed if necessary. */
export type ReachServer = <T>(
  connector: InstalledConnector,
  work: (at: ServerAddress) => Promise<T>,
) => Promise<T>;

/**
 * The returned function: @throws SignInNeeded, ServerFault. A connector whose refresh token is refused
 * becomes `expired`.
 */
export function reachServers(parts: RenewParts): ReachServer {
  const renewTokens = renewals(parts);

  async function byTokens<T>(
    connector: InstalledConnector,
    url: string,
    work: (at: ServerAddress) => Promise<T>,
  ): Promise<T> {
    const at = ({ tokens }: OAuthCredentials): ServerAddress => ({
      transport: "http",
      url,
      headers: { authorization: `Bearer ${tokens?.access}` },
    });
    const current = tokensOf(parts, connector);
    const leftMs = (current.tokens?.expiresAt ?? Number.POSITIVE_INFINITY) - parts.clock.now();
    const first = leftMs < earlyMs ? await renewEarly(connector, current, leftMs) : current;
    try {
      return await work(at(first));
    } catch (thrown) {
      if (!(thrown instanceof ServerFault && thrown.kind === "refused")) throw thrown;
      // The token may have been revoked before it expired: try again with a new one.
      return work(at(await renewTokens(connector, first.tokens?.access ?? null)));
    }
  }

  /** Uses the current token while it is still valid, if it cannot be renewed now. */
  const renewEarly = (
    connector: InstalledConnector,
    current: OAuthCredentials,
    leftMs: number,
  ): Promise<OAuthCredentials> =>
    renewTokens(connector, current.tokens?.access ?? null).catch((thrown) => {
      if (leftMs > 0 && thrown instanceof ServerFault) return current;
      throw thrown;
    });

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
