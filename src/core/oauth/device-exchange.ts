import type { Tx } from "../store.ts";
import type { AuthenticatedClient } from "./app.ts";
import { type DeviceRequest, deviceDigest, slowerMs } from "./device.ts";
import { isAuthorizationValid } from "./family.ts";
import { auditFamily, type IssueContext, type IssuedTokens, newPair, toIssuedTokens } from "./issue.ts";
import { invalidGrant, invalidTarget, missingSecret, type OAuthRefusal, oauthRefusal } from "./refusal.ts";
import type { Resource } from "./resource.ts";

/** A request with the grant type of device codes (RFC 8628 3.4). */
export interface DevicePoll extends AuthenticatedClient {
  readonly deviceCode: string;
  /** The `resource` parameter; undefined when the request has none. */
  readonly resource: Resource | undefined;
}

type Approved = DeviceRequest & { readonly [F in "accountId" | "spaceId" | "grantId"]: string } & {
  readonly generation: number;
};

/** A client's timer may be this much early. */
const earlyMs = 1_000;
/** Two uses of one code within 2 s are a client's own race. */
const raceMs = 2_000;

const pending = oauthRefusal("authorization_pending", "the user has not answered yet");
const slowDown = oauthRefusal("slow_down", "wait 5 seconds longer between two requests");
const expired = oauthRefusal("expired_token", "the device code has expired");
const denied = oauthRefusal("access_denied", "the user has declined");

/**
 * Answers a device that asks whether its user has decided, and exchanges an approved code for a token family,
 * once.
 */
export async function exchangeDevice(
  tx: Tx,
  issuing: IssueContext,
  request: DevicePoll,
): Promise<IssuedTokens | OAuthRefusal> {
  const { client, bySecret } = request;
  const device = await tx.devices.find(deviceDigest(request.deviceCode));
  if (device?.clientId !== client.clientId || client.deleted || !client.deviceAuthorization)
    return invalidGrant;
  if (client.confidentialOnly && !bySecret) return missingSecret;
  if (device.usedAt !== null) return refuseReuse(tx, issuing, device);
  if (device.expiresAt <= issuing.now) return expired;
  if (device.decidedAt === null) return notePoll(tx, issuing.now, device);
  if (!isApproved(device)) return denied;
  if (request.resource !== undefined && request.resource !== device.resource) return invalidTarget;
  return useUp(tx, issuing, request, device);
}

const isApproved = (device: DeviceRequest): device is Approved => device.grantId !== null;

async function notePoll(
  tx: Tx,
  now: number,
  { digest, polledAt, intervalMs }: DeviceRequest,
): Promise<OAuthRefusal> {
  const isEarly = polledAt !== null && now - polledAt < intervalMs - earlyMs;
  await tx.devices.poll(digest, now, intervalMs + (isEarly ? slowerMs : 0));
  return isEarly ? slowDown : pending;
}

async function useUp(
  tx: Tx,
  issuing: IssueContext,
  { bySecret }: DevicePoll,
  device: Approved,
): Promise<IssuedTokens | OAuthRefusal> {
  const { digest, clientId, grantId, accountId, spaceId, scopes, generation, resource } = device;
  const state = await tx.grants.findState(grantId);
  if (state === null || !isAuthorizationValid(state, generation)) return invalidGrant;
  const of = { clientId, grantId, accountId, spaceId, scopes, generation, resource };
  const family = {
    id: issuing.ids.short(),
    ...of,
    challenge: null,
    needsSecret: bySecret,
    createdAt: issuing.now,
    service: false,
  };
  // A concurrent request was first.
  if (!(await tx.devices.use(digest, family.id, issuing.now))) return invalidGrant;
  const issued = newPair(issuing, family.id, clientId);
  await tx.families.insert({ ...family, ...issued.pair });
  await auditFamily(tx, issuing, "oauth/token", family, "token_issued");
  return toIssuedTokens(
    issuing,
    family,
    issued,
    scopes.filter((name) => state.scopes.includes(name)),
    state,
  );
}

/** Refuses a used code, and revokes the family that it created, unless the client raced with itself. */
async function refuseReuse(tx: Tx, issuing: IssueContext, device: DeviceRequest): Promise<OAuthRefusal> {
  const { familyId, usedAt, clientId, accountId, spaceId } = device;
  if (familyId === null || usedAt === null || accountId === null || spaceId === null) return invalidGrant;
  const raced = Math.abs(issuing.now - usedAt) <= raceMs;
  if (!raced) await tx.families.revoke(familyId, issuing.now);
  await auditFamily(
    tx,
    issuing,
    "oauth/token",
    { id: familyId, clientId, accountId, spaceId },
    raced ? "code_raced" : "code_replayed",
  );
  return invalidGrant;
}
