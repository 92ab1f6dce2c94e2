import { isIPv6 } from "node:net";
import { singleFlight } from "../async/coalesce.ts";
import type { Caller } from "../core/accounts/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { RateCounters } from "../core/processes/shared.ts";
import type { Operation, RateClass } from "./operations.ts";

/**
 * Calls per minute of one account to one operation, over all its keys and tokens, and as many over all its
 * sessions (spec/api.md 4).
 */
export const perMinute: Readonly<Record<RateClass, number>> = {
  start: 10,
  write: 40,
  read: 100,
  report: 600,
  stream: 12_000,
};

/**
 * Calls per minute from one address without a valid credential, and as many to services and operations that
 * need none.
 */
export const perMinuteAndAddress = 60;

/**
 * Decoded KiB of large bodies a minute of one account, or of one worker credential, and the bytes above which
 * a body is large.
 */
const bodyKibPerMinute = 256 * 1024;
export const largeBodyBytes = 262_144;

/**
 * Requests per minute of one OAuth client to one endpoint, and unauthenticated ones of one address
 * (spec/decisions.md 32).
 */
const perMinuteAndClient = 60;
const unprovenPerMinute = 300;

/** Fetches of metadata documents, and registrations, that one address can cause (spec/oauth.md 16). */
const documentsPerMinute = 10;
const registrationsPerHour = 10;

/** At this limit or above, a node reserves a tenth of it at a time and counts that down locally. */
const blockFrom = 100;

/** The state of a caller's limit, for the `RateLimit-*` headers. `reset` is in whole seconds. */
export interface RateState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** A call beyond a rate limit; its message names the limit and the calls that it counts. */
export class OverLimit extends Failure {
  readonly rate: RateState;

  /** @param calls what is counted, for instance ` for task.create`. */
  constructor(rate: RateState, calls: string) {
    super("rate_limited", `rate limit of ${rate.limit} calls a minute${calls} exceeded`, {
      retryAfter: rate.reset,
    });
    this.rate = rate;
  }
}

export interface Limits {
  /**
   * Counts the decoded bytes of a body above 256 KiB. A body that begins within the limit is taken whole.
   *
   * @param accountId the account, or the id of the worker.
   * @param bytes 0 counts nothing: a body is about to be read.
   * @throws Failure `rate_limited` when the bytes of the minute are used up.
   */
  bodyBytes(accountId: string, bytes: number): Promise<void>;
  /**
   * Counts a call of an account; null when limits are lifted. Calls by session count apart, so that a program
   * with the person's key cannot lock the person out of the pages.
   *
   * @throws OverLimit
   */
  account(caller: Pick<Caller, "accountId" | "credential">, operation: Operation): Promise<RateState | null>;
  /** Counts a call without a valid credential. @throws OverLimit */
  invalidCredential(address: string): Promise<void>;
  /**
   * Counts a call to a service that needs no credential; calls with a bad credential count separately.
   * @throws OverLimit
   */
  anonymous(address: string): Promise<void>;
  /**
   * Counts a call to an operation that needs no credential, apart from all other calls; null when limits are
   * lifted. @throws OverLimit
   */
  visitor(address: string, operation: Operation): Promise<RateState | null>;
  /**
   * Counts a request of a client to an OAuth endpoint from one address, authenticated or not. @throws
   * OverLimit
   */
  client(endpoint: string, clientId: string, address: string): Promise<void>;
  /** Counts an authenticated request of a client, over all addresses. @throws OverLimit */
  authenticatedClient(endpoint: string, clientId: string): Promise<void>;
  /**
   * Counts a fetch of a client's metadata document, which a caller without an account causes. @throws
   * OverLimit
   */
  clientDocument(address: string): Promise<void>;
  /** Counts a registration of a client, per hour. @throws OverLimit */
  registration(address: string): Promise<void>;
  /** Counts an unauthenticated request; it never counts against other addresses. @throws OverLimit */
  unauthenticatedClient(address: string): Promise<void>;
}

/**
 * Rate limits in fixed windows of one minute. They hold over all nodes together: a node
 * reserves quota in the shared counter before it counts it down locally.
 *
 * @param factor multiplies every limit; null lifts them all.
 */
export function limits(counters: RateCounters, clock: Clock, factor: number | null): Limits {
  /** The reserved, unused quota of this node by key, for one minute. */
  let quotas = new Map<string, Quota>();
  let quotaMinute = 0;

  async function count(key: string, limit: number, calls: string): Promise<RateState> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    const reset = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (minute !== quotaMinute) [quotas, quotaMinute] = [new Map(), minute];
    const quota = quotas.get(key) ?? newQuota(key, minute, limit);
    quotas.set(key, quota);
    while (quota.reserved === 0 && quota.left > 0) await quota.reserve();
    if (quota.reserved === 0) throw new OverLimit({ limit, remaining: 0, reset }, calls);
    quota.reserved -= 1;
    return { limit, remaining: quota.reserved + quota.left, reset };
  }

  /**
   * Concurrent calls share a block: with one block each, other nodes would lack quota that is unused here.
   */
  function newQuota(key: string, minute: number, limit: number): Quota {
    const reserve = singleFlight(async () => {
      const { granted, left } = await counters.take(key, minute, blockOf(limit), limit);
      quota.reserved += granted;
      quota.left = left;
    });
    const quota: Quota = { reserved: 0, left: limit, reserve };
    return quota;
  }

  /** The accounts whose bytes of the minute are used up. */
  const spent = new Set<string>();
  let spentMinute = 0;

  const countScaled = async (key: string, most: number, calls: string): Promise<RateState | null> =>
    factor === null ? null : count(key, Math.max(1, Math.floor(most * factor)), calls);

  return {
    async bodyBytes(accountId, bytes) {
      if (factor === null) return;
      const now = clock.now();
      const minute = Math.floor(now / 60_000);
      if (minute !== spentMinute) spent.clear();
      spentMinute = minute;
      const limit = Math.max(1, Math.floor(bodyKibPerMinute * factor));
      if (bytes > 0 && !spent.has(accountId)) {
        const { granted, left } = await counters.take(
          `bodies ${accountId}`,
          minute,
          Math.ceil(bytes / 1024),
          limit,
        );
        if (left === 0) spent.add(accountId);
        if (granted > 0) return;
      }
      if (!spent.has(accountId)) return;
      const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
      throw new Failure("rate_limited", `limit of ${limit} KiB a minute in requests above 256 KiB exceeded`, {
        retryAfter,
      });
    },
    account({ accountId, credential }, { countedAs, countedWith, rateClass }) {
      const counter = credential.kind === "session" ? `session ${accountId}` : accountId;
      return countScaled(
        `${counter} ${countedAs}`,
        perMinute[rateClass],
        ` for ${countedWith.join(" and ")}`,
      );
    },
    async invalidCredential(address) {
      await countScaled(`stranger ${network(address)}`, perMinuteAndAddress, " without a valid credential");
    },
    async anonymous(address) {
      await countScaled(`anonymous ${network(address)}`, perMinuteAndAddress, " without a credential");
    },
    visitor: (address, { countedAs, countedWith }) =>
      countScaled(
        `visitor ${countedAs} ${network(address)}`,
        perMinuteAndAddress,
        ` for ${countedWith.join(" and ")}`,
      ),
    async client(endpoint, clientId, address) {
      await countScaled(
        `oauth ${endpoint} ${clientId} ${network(address)}`,
        perMinuteAndClient,
        ` for ${endpoint}`,
      );
    },
    async authenticatedClient(endpoint, clientId) {
      await countScaled(`oauth ${endpoint} ${clientId}`, perMinuteAndClient, ` for ${endpoint}`);
    },
    async clientDocument(address) {
      await countScaled(
        `oauth document ${network(address)}`,
        documentsPerMinute,
        " with a client_id whose document is not cached",
      );
    },
    async registration(address) {
      if (factor === null) return;
      const most = Math.max(1, Math.floor(registrationsPerHour * factor));
      const now = clock.now();
      // The last minute of the hour is the key of its counter.
      const minute = Math.floor(now / 3_600_000) * 60 + 59;
      const { granted } = await counters.take(`oauth registration ${network(address)}`, minute, 1, most);
      const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
      if (granted === 0)
        throw new Failure("rate_limited", `rate limit of ${most} registrations an hour exceeded`, {
          retryAfter,
        });
    },
    async unauthenticatedClient(address) {
      await countScaled(
        `oauth unproven ${network(address)}`,
        unprovenPerMinute,
        " without a valid credential",
      );
    },
  };
}

interface Quota {
  /** Calls that were reserved and are not used. */
  reserved: number;
  /** Calls that remained in the shared counter at the last reservation. */
  left: number;
  /** Reserves a block in the shared counter. */
  readonly reserve: () => Promise<void>;
}

const blockOf = (limit: number): number => (limit >= blockFrom ? Math.floor(limit / 10) : 1);

/**
 * The wider network of an address, which often has one owner: the /24 of an IPv4 address, the /48 of an IPv6
 * address.
 */
export function wideNetwork(address: string): string {
  const bare = address.replace(/^::ffff:/, "");
  return isIPv6(bare) ? network(bare).split(":").slice(0, 3).join(":") : bare.replace(/\.\d+$/, "");
}

/** The network of an address. An IPv6 customer has at least a /64, so the addresses of a /64 count as one. */
export function network(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(":").filter(Boolean).length;
  return [
    ...groups,
    ...Array<string>(Math.max(0, missing)).fill("0"),
    ...(tail ?? "").split(":").filter(Boolean),
  ]
    .slice(0, 4)
    .join(":");
}
