import { createHash } from "node:crypto";
import type { Caller, Scope } from "../accounts/caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Random } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import { type InstalledConnector, mergeTools } from "./connector.ts";
import { requireChangeableConnector } from "./connectors.ts";
import {
  type ConnectorServers,
  type ConnectorSignIns,
  noTokens,
  openCredentials,
  openPendingSignIn,
  ServerFault,
  sealCredentials,
  sealPendingSignIn,
} from "./server.ts";

/** The maximum duration of a sign-in, in milliseconds. */
const signInMs = 10 * 60_000;

/** The parameters of a browser's return from an authorization server. */
export interface SignInReturn {
  readonly state: string;
  /** Empty if the server or the user refused. */
  readonly code: string;
  /** RFC 9207; empty if absent. */
  readonly issuer: string;
}

export interface SignIns {
  /**
   * Prepares the URL for the browser. @throws Failure `not_found`, `permission_denied`,
   * `failed_precondition`, `unavailable`
   */
  prepare(
    caller: Caller,
    id: string,
    gone: AbortSignal,
  ): Promise<(tx: Tx, caller: Caller) => Promise<string>>;
  /**
   * Completes a sign-in, once, for the account that began it, in the same space. `also` runs in the same
   * change: there the caller writes the audit row.
   *
   * @throws Failure `not_found` for a state that is unknown, expired or another account's; `unavailable`.
   */
  finish(
    who: Pick<Scope, "accountId" | "spaceId">,
    back: SignInReturn,
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
const throwUnavailable = (thrown: unknown): never => {
  if (thrown instanceof ServerFault) throw new Failure("unavailable", thrown.message, { cause: thrown });
  throw thrown;
};

export function signIns({ store, clock, random, cipher, signIns, servers }: SignInsParts): SignIns {
  return {
    async prepare(caller, id, gone) {
      const connector = requireChangeableConnector(caller, await store.connectors.find(caller, id));
      const { server } = connector;
      if (server.transport !== "http" || server.auth !== "oauth")
        throw new Failure("failed_precondition", "the connector does not use OAuth");
      const known = openCredentials(cipher, connector);
      const state = Buffer.from(random(32)).toString("base64url");
      const by = { accountId: caller.accountId, signal: gone };
      const started = await signIns
        .begin(server.url, known?.kind === "oauth" ? known : noTokens, state, by)
        .catch(throwUnavailable);
      return async (tx, holder) => {
        requireChangeableConnector(holder, await tx.connectors.lock(holder, id));
        const digest = digestOf(state);
        const { accountId, spaceId } = holder;
        const sealed = sealPendingSignIn(cipher, digest, started);
        await tx.connectors.insertAuthorization({
          digest,
          connectorId: id,
          accountId,
          spaceId,
          sealed,
          expiresAt: clock.now() + signInMs,
        });
        tx.audit.note({ subject: id, after: { signInAt: new URL(started.url).origin } });
        return started.url;
      };
    },

    async finish({ accountId, spaceId }, { state, code, issuer }, also, gone) {
      const digest = digestOf(state);
      const pending = await store.change(async (tx) => {
        const authorization = await tx.connectors.takeAuthorization(digest);
        // The sign-in of another account stays: an attacker may have sent this user here with it (RFC 6749
        // 10.12).
        if (authorization && (authorization.accountId !== accountId || authorization.spaceId !== spaceId))
          throw notFound("sign-in");
        return authorization;
      });
      if (pending === null || pending.expiresAt <= clock.now() || code === "") throw notFound("sign-in");
      const started = openPendingSignIn(cipher, digest, pending.sealed);
      const credentials = await signIns
        .finish(started, { code, issuer }, { accountId, signal: gone })
        .catch(throwUnavailable);
      const connector = await store.connectors.find(pending, pending.connectorId);
      if (connector?.server.transport !== "http") throw notFound("sign-in");
      const at = {
        transport: "http",
        url: connector.server.url,
        headers: { authorization: `Bearer ${credentials.tokens?.access}` },
      } as const;
      // A failure has no effect: the tools can be listed later.
      const tools = await servers.listTools(at, { accountId, signal: gone }).catch(() => null);
      const now = clock.now();
      const signedIn = {
        credentials: sealCredentials(cipher, connector.id, credentials),
        state: "ready" as const,
        updatedAt: now,
      };
      return store.change(async (tx) => {
        const before = await tx.connectors.lock(pending, connector.id);
        if (!before) throw notFound("sign-in");
        const changes = { ...signedIn, ...(tools === null ? {} : mergeTools(before, tools, now)) };
        await tx.connectors.update(connector.id, changes);
        tx.audit.note({ subject: connector.id, before: { state: before.state }, after: { state: "ready" } });
        await also(tx, connector);
        return { ...before, ...changes };
      });
    },
  };
}
