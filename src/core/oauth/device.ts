import { createHash } from "node:crypto";
import { parseScopes, type ScopeName, scopeFault } from "../accounts/caller.ts";
import { Failure } from "../failure.ts";
import type { Random } from "../ids.ts";
import { dayMs, purging } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import { type AuthenticatedClient, defaultScopes } from "./app.ts";
import {
  invalidTarget,
  missingSecret,
  type OAuthRefusal,
  oauthRefusal,
  unauthorizedClient,
} from "./refusal.ts";
import { type Resource, resourceOf } from "./resource.ts";
import { newUserCode, userCodeDigest } from "./user-code.ts";

/** The page on which a person enters the code of a device, at CONSENT_URL. */
export const devicePagePath = "/device";

/** How long a person may take. */
export const deviceMs = 600_000;
/**
 * How often a client may ask at first, and what a client that asks sooner has to wait longer (RFC 8628 3.5).
 */
export const pollMs = 5_000;
export const slowerMs = 5_000;

/** Requests that wait for a person: of one client from one network, and of one client. */
const pendingMax = { network: 10, client: 10_000 } as const;

/** A request of a device without a browser (RFC 8628), with the digests of its codes. */
export interface OAuthDevice {
  /** SHA-256 of the device code, lower-case hex. */
  readonly digest: string;
  /** SHA-256 of the user code, lower-case hex. */
  readonly userDigest: string;
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  readonly resource: Resource;
  /** The network that sent the request, and its address. */
  readonly network: string;
  readonly address: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The client may ask once in this time. */
  readonly intervalMs: number;
}

export interface DeviceRequest extends OAuthDevice {
  readonly polledAt: number | null;
  /** When a person approved or denied it. */
  readonly decidedAt: number | null;
  readonly accountId: string | null;
  readonly spaceId: string | null;
  /** Null for a request that was not approved. */
  readonly grantId: string | null;
  /** The app's generation when it was approved. */
  readonly generation: number | null;
  readonly usedAt: number | null;
  readonly familyId: string | null;
}

/** A person's answer. Without a grant it is a refusal. */
export type DeviceDecision = Pick<DeviceRequest, "accountId" | "spaceId" | "grantId" | "generation">;

export interface DeviceRows {
  /** False when another request has the user code. */
  insert(device: OAuthDevice): Promise<boolean>;
  find(digest: string): Promise<DeviceRequest | null>;
  findByUserCode(userDigest: string): Promise<DeviceRequest | null>;
  /** Locks the row, so that one of several answers counts. */
  lock(digest: string): Promise<DeviceRequest | null>;
  /** Requests without an answer that have not expired. @param network null: of all networks */
  countPending(clientId: string, network: string | null, now: number): Promise<number>;
  /** Notes when the client asked, and how often it may ask from now on. */
  poll(digest: string, now: number, intervalMs: number): Promise<void>;
  /** False when it was decided before. */
  decide(digest: string, decision: DeviceDecision, now: number): Promise<boolean>;
  /** Marks an approved request as used. False when it is used already. */
  use(digest: string, familyId: string, now: number): Promise<boolean>;
  /**
   * Marks what an account approved in a space as used, without a token family. Waits for a concurrent use.
   */
  useUpAll(accountId: string, spaceId: string, now: number): Promise<void>;
  /** Those that expired before the given time; returns how many. */
  purge(before: number): Promise<number>;
}

/** The stored form of a device code. It has 256 random bits, so a plain hash is enough. */
export const deviceDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

export interface DeviceInput extends AuthenticatedClient {
  /** The parameters `scope` and `resource`; null without them. */
  readonly scope: string | null;
  readonly resource: string | null;
  readonly network: string;
  readonly address: string;
  readonly issuer: string;
}

/** The two codes, which are shown only once. */
export interface DeviceBegun {
  readonly deviceCode: string;
  readonly userCode: string;
}

/**
 * Begins a request (RFC 8628 3.1).
 *
 * @throws Failure `rate_limited` when too many requests wait for a person.
 */
export async function beginDevice(
  tx: Tx,
  { now, random }: { now: number; random: Random },
  { client, bySecret, ...input }: DeviceInput,
): Promise<DeviceBegun | OAuthRefusal> {
  const { clientId } = client;
  // The row lock makes counting and inserting atomic.
  const app = client.deleted ? null : await tx.apps.lock(clientId);
  if (!app?.deviceAuthorization) return unauthorizedClient;
  if (app.confidentialOnly && !bySecret) return missingSecret;
  const scopes = input.scope === null ? defaultScopes(app) : parseScopes(input.scope, app.scopes);
  if (scopes === null) return oauthRefusal("invalid_scope", scopeFault(input.scope ?? ""));
  const resource = resourceOf(app, input.resource, input.issuer);
  if (resource === undefined) return invalidTarget;
  const { network, address } = input;
  await checkPending(tx, clientId, network, now);
  const deviceCode = `device_${Buffer.from(random(32)).toString("base64url")}`;
  const times = { createdAt: now, expiresAt: now + deviceMs, intervalMs: pollMs };
  const of = { digest: deviceDigest(deviceCode), clientId, scopes, resource, network, address, ...times };
  for (;;) {
    const userCode = newUserCode(random);
    if (await tx.devices.insert({ ...of, userDigest: userCodeDigest(userCode) }))
      return { deviceCode, userCode };
  }
}

async function checkPending({ devices }: Tx, clientId: string, network: string, now: number): Promise<void> {
  const isFull =
    (await devices.countPending(clientId, network, now)) >= pendingMax.network ||
    (await devices.countPending(clientId, null, now)) >= pendingMax.client;
  if (isFull) throw new Failure("rate_limited", "too many requests wait for a person", { retryAfter: 60 });
}

/** Kept for a day after they expire, to detect a second use. */
export const purgeDevices = purging("purge-devices", (tx, now) => tx.devices.purge(now - dayMs));
