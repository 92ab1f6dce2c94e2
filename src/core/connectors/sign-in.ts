import { createHash } from "node:crypto";
import type { Caller, Scope } from "../caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Random } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import { type InstalledConnector, relisted } from "./connector.ts";
import { mine } from "./connectors.ts";
import { noTokens, openCredentials, openUnderWay, sealCredentials, sealUnderWay } from "./credentials.ts";
import { type ConnectorServers, type ConnectorSignIns, ServerFault } from "./server.ts";

/** A sign-in takes no longer. */
const underWayMs = 10 * 60_000;

/** What a browser brings back from an authorization server. */
export interface BroughtBack {
  readonly state: string;
  /** Empty where the server, or the user, refused. */
  readonly code: string;
  /** RFC 9207; empty: it said nothing. */
  readonly issuer: string;
}

/** Signing in to connectors that want OAuth. */
export interface SignIns {
  /** The address for the browser. @throws Failure `absent`, `forbidden`, `precondition`, `unavailable` */
  prepare(caller: Caller, id: string, gone: AbortSignal): Promise<(tx: Tx, caller: Caller) => Promise<string>>;
  /**
   * Takes what came back, once, from the account that began, in the same space. The caller writes the audit row, in `also`, in the same change.
   *
   * @throws Failure `absent` for a state that nobody knows, that has expired, or is another account's; `unavailable`.
   */
  finish(
    who: Pick<Scope, "accountId" | "spaceId">,
    back: BroughtBack,
    also: (tx: Tx, connector: InstalledConnector) => Promise<void>,
    gone: AbortSignal,
  ): Promise<InstalledConnector>;
}

export interface SignInsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly cipher: Cipher;
  readonly signIns: ConnectorSignIns;
  readonly servers: ConnectorServers;
}

const digestOf = (state: string): string => createHash("sha256").update(state).digest("hex");
const unavailable = (thrown: unknown): never => {
  if (thrown instanceof ServerFault) throw new Failure("unavailable", thrown.message, { cause: thrown });
  throw thrown;
};

export function signIns({ store, clock, random, cipher, signIns, servers }: SignInsParts): SignIns {
  return {
    async prepare(caller, id, gone) {
      const connector = mine(caller, await store.connectors.find(caller, id));
      const { server } = connector;
      if (server.transport !== "http" || server.auth !== "oauth")
        throw new Failure("precondition", "the connector has nothing to sign in to");
      const known = openCredentials(cipher, connector);
      const state = Buffer.from(random(32)).toString("base64url");
      const by = { accountId: caller.accountId, signal: gone };
      const begun = await signIns.begin(server.url, known?.kind === "oauth" ? known : noTokens, state, by).catch(unavailable);
      return async (tx, holder) => {
        mine(holder, await tx.connectors.lock(holder, id));
        const digest = digestOf(state);
        const { accountId, spaceId } = holder;
        const sealed = sealUnderWay(cipher, digest, begun);
        await tx.connectors.insertAuthorization({
          digest,
          connectorId: id,
          accountId,
          spaceId,
          sealed,
          expiresAt: clock.now() + underWayMs,
        });
        tx.audit.note({ subject: id, after: { signInAt: new URL(begun.url).origin } });
        return begun.url;
      };
    },

    async finish({ accountId, spaceId }, { state, code, issuer }, also, gone) {
      const digest = digestOf(state);
      const found = await store.change(async (tx) => {
        const taken = await tx.connectors.takeAuthorization(digest);
        // Another's is left where it is: whoever brings it may have been sent with it (RFC 6749 10.12).
        if (taken && (taken.accountId !== accountId || taken.spaceId !== spaceId)) throw absent("sign-in");
        return taken;
      });
      if (found === null || found.expiresAt <= clock.now() || code === "") throw absent("sign-in");
      const begun = openUnderWay(cipher, digest, found.sealed);
      const credentials = await signIns.finish(begun, { code, issuer }, { accountId, signal: gone }).catch(unavailable);
      const connector = await store.connectors.find(found, found.connectorId);
      if (connector?.server.transport !== "http") throw absent("sign-in");
      const at = {
        transport: "http",
        url: connector.server.url,
        headers: { authorization: `Bearer ${credentials.tokens?.access}` },
      } as const;
      // They can be listed later too.
      const tools = await servers.listTools(at, { accountId, signal: gone }).catch(() => null);
      const now = clock.now();
      const opened = { credentials: sealCredentials(cipher, connector.id, credentials), state: "ready" as const, updatedAt: now };
      return store.change(async (tx) => {
        const before = await tx.connectors.lock(found, connector.id);
        if (!before) throw absent("sign-in");
        const changes = { ...opened, ...(tools === null ? {} : relisted(before, tools, now)) };
        await tx.connectors.update(connector.id, changes);
        tx.audit.note({ subject: connector.id, before: { state: before.state }, after: { state: "ready" } });
        await also(tx, connector);
        return { ...before, ...changes };
      });
    },
  };
}
