import type { InstalledConnector } from "./connector.ts";
import { type OAuthCredentials, openCredentials } from "./credentials.ts";
import { type RenewParts, renewals, tokensOf } from "./renew.ts";
import { type ServerAddress, ServerFault } from "./server.ts";

/** A token is renewed when it has less than this to live. */
const earlyMs = 60_000;

/** Uses a connector's server with what opens it, which is renewed when it has to be. */
export type ReachServer = <T>(connector: InstalledConnector, work: (at: ServerAddress) => Promise<T>) => Promise<T>;

/**
 * Of the answer: @throws SignInNeeded, ServerFault. A connector whose tokens are refused for good is `expired` from then on.
 */
export function reachServers(parts: RenewParts): ReachServer {
  const renewed = renewals(parts);

  async function byTokens<T>(connector: InstalledConnector, url: string, work: (at: ServerAddress) => Promise<T>): Promise<T> {
    const at = ({ tokens }: OAuthCredentials): ServerAddress => ({
      transport: "http",
      url,
      headers: { authorization: `Bearer ${tokens?.access}` },
    });
    const has = tokensOf(parts, connector);
    const leftMs = (has.tokens?.expiresAt ?? Number.POSITIVE_INFINITY) - parts.clock.now();
    const first = leftMs < earlyMs ? await early(connector, has, leftMs) : has;
    try {
      return await work(at(first));
    } catch (thrown) {
      if (!(thrown instanceof ServerFault && thrown.kind === "refused")) throw thrown;
      // It may have been taken back before its time: once more with another.
      return work(at(await renewed(connector, first.tokens?.access ?? null)));
    }
  }

  /** What is still good does, where no other can be had just now. */
  const early = (connector: InstalledConnector, has: OAuthCredentials, leftMs: number): Promise<OAuthCredentials> =>
    renewed(connector, has.tokens?.access ?? null).catch((thrown) => {
      if (leftMs > 0 && thrown instanceof ServerFault) return has;
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
