import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import type { ConnectorChanges, InstalledConnector } from "./connector.ts";
import { type OAuthCredentials, openCredentials, sealCredentials } from "./credentials.ts";
import { type ConnectorSignIns, ServerFault } from "./server.ts";

/** Longer than any refresh takes: who has not come back by then has died. */
const claimMs = 45_000;
/** How often those look who wait for another process. */
const lookMs = 100;

/** Somebody has to sign in to the connector again. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

/** What tokens are renewed with. */
export interface RenewParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cipher: Cipher;
  readonly signIns: ConnectorSignIns;
}

/**
 * Tokens of a connector in place of a spent one, or of none.
 *
 * A refresh token is good once, and a server that sees one twice may take back all that came of it. So there is one refresh
 * at a time: in a process for all who wait, and of several processes for the one that writes its claim into the credentials.
 *
 * @throws SignInNeeded, from when on the connector is `expired`; ServerFault when the authorization server gave nothing.
 */
export function renewals(parts: RenewParts) {
  const renewing = new Map<string, Promise<OAuthCredentials>>();
  return (connector: InstalledConnector, spent: string | null): Promise<OAuthCredentials> => {
    const found = renewing.get(connector.id) ?? renew(parts, connector, spent).finally(() => renewing.delete(connector.id));
    renewing.set(connector.id, found);
    return found;
  };
}

/** The tokens of a connector. @throws SignInNeeded where nobody is signed in. */
export function tokensOf({ cipher }: Pick<RenewParts, "cipher">, connector: InstalledConnector): OAuthCredentials {
  const credentials = openCredentials(cipher, connector);
  if (credentials?.kind !== "oauth" || credentials.tokens === null || connector.state === "expired") throw new SignInNeeded();
  return credentials;
}

/** @param spent the access token that is to be replaced: where another has replaced it already, that one's is taken. */
async function renew(parts: RenewParts, connector: InstalledConnector, spent: string | null): Promise<OAuthCredentials> {
  const { store, clock } = parts;
  const scope = { accountId: connector.accountId ?? "", spaceId: connector.spaceId };
  for (;;) {
    const now = await store.connectors.find(scope, connector.id);
    if (now === null) throw new SignInNeeded();
    const has = tokensOf(parts, now);
    if (has.tokens?.access !== spent) return has;
    const claim = await claimed(parts, now, has);
    if (claim) return refreshed(parts, claim, has);
    await clock.sleep(lookMs);
  }
}

/** A renewal that is this process's. */
interface Claim {
  readonly id: string;
  /** Whose connector it is; a space's own counts as an account. */
  readonly accountId: string;
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** Null while another has the claim. */
async function claimed(
  { store, clock, cipher }: RenewParts,
  { id, accountId, spaceId, credentials }: InstalledConnector,
  has: OAuthCredentials,
) {
  const now = clock.now();
  if ((has.renewingUntil ?? 0) > now || credentials === null) return null;
  const sealed = sealCredentials(cipher, id, { ...has, renewingUntil: now + claimMs });
  const taken = await store.change((tx) => tx.connectors.update(id, { credentials: sealed }, credentials));
  return taken ? { id, accountId: accountId ?? spaceId, sealed } : null;
}

async function refreshed(parts: RenewParts, { id, accountId, sealed }: Claim, has: OAuthCredentials): Promise<OAuthCredentials> {
  const { store, clock, cipher, signIns } = parts;
  // Whoever has signed in anew meanwhile stays signed in.
  const end = (changes: ConnectorChanges) => store.change((tx) => tx.connectors.update(id, { ...changes, updatedAt: clock.now() }, sealed));
  const { renewingUntil: _over, ...free } = has;
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
