import { Resolver } from "node:dns/promises";
import { limitConcurrency } from "../../async/limit.ts";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { Clock } from "../../core/clock.ts";
import { type ProveDomain, proofName, proofPath } from "../../core/websites/domain.ts";
import { type GuardParts, guardedAgent } from "./agent.ts";
import { lookUpBounds } from "./look-up.ts";
import type { Resolve } from "./resolve.ts";
import { limitTime, unlessAborted } from "./time-limit.ts";
import { undici } from "./undici.ts";

/** The time for one proof in all. */
const proofMs = 15_000;
/** The time for each request. */
const requestMs = 5_000;
/** The most bytes of an answer that are read. */
const answerBytes = 1_024;
/** Proofs that one process looks for at the same time. The others wait within their time. */
const atOnce = 16;

/** The inputs of `createProveDomain`. */
export interface ProofParts {
  readonly clock: Clock;
  readonly resolve: Resolve;
  /** Name servers in the form of `dns.setServers`; by default the system's. */
  readonly servers?: readonly string[] | undefined;
  /** Addresses that need not be public. */
  readonly allowed?: readonly AllowedAddresses[];
  /** The ports of https and http. */
  readonly ports?: readonly [https: number, http: number];
}

/**
 * Looks for the proof of a custom domain: first in the DNS, then over https and over http. Redirects are not
 * followed.
 */
export function createProveDomain({
  clock,
  resolve,
  servers,
  allowed = [],
  ports = [443, 80],
}: ProofParts): ProveDomain {
  const inTurn = limitConcurrency(atOnce);
  const [https, http] = ports;

  /** @throws any error of DNS, connection or time limit. */
  async function serves(url: string, token: string, by: GuardParts["by"]): Promise<boolean> {
    const time = limitTime(clock, requestMs, by.signal);
    const agent = guardedAgent({
      reach: { ports: [...ports], plain: true, allowed },
      resolve,
      by: { ...by, signal: time.signal },
    });
    try {
      return await unlessAborted(time.signal, readsToken(url, token, time.signal, agent));
    } finally {
      time.stop();
      // Ends a look-up or a connection that ignores the signal.
      void agent.destroy();
    }
  }

  return async (domain, token, by) => {
    const time = limitTime(clock, proofMs, by.signal);
    const asker = { ...by, signal: time.signal };
    const ways = [
      () => unlessAborted(time.signal, hasRecord(proofName(domain), token, time.signal, servers)),
      () => serves(`https://${domain}:${https}${proofPath}`, token, asker),
      () => serves(`http://${domain}:${http}${proofPath}`, token, asker),
    ];
    try {
      return await inTurn(async () => {
        for (const look of ways) if (!time.signal.aborted && (await look().catch(() => false))) return true;
        return false;
      });
    } finally {
      time.stop();
    }
  };
}

async function hasRecord(
  name: string,
  token: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<boolean> {
  const resolver = new Resolver(lookUpBounds);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    // A record may be split into texts of at most 255 bytes (RFC 1035 3.3.14).
    return (await resolver.resolveTxt(name)).some((texts) => texts.join("") === token);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Names the service but not its operator. */
const headers = { "user-agent": "agent-task-platform", accept: "text/plain", "accept-encoding": "identity" };

async function readsToken(
  url: string,
  token: string,
  signal: AbortSignal,
  dispatcher: ReturnType<typeof guardedAgent>,
): Promise<boolean> {
  const { statusCode, body } = await undici().request(url, { dispatcher, headers, signal });
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (statusCode === 200) {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > answerBytes) break;
    }
  }
  // The rest is not read, and its errors are ignored.
  body.on("error", () => undefined).destroy();
  return statusCode === 200 && bytes <= answerBytes && Buffer.concat(chunks).toString().trim() === token;
}
