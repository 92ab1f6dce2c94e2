import type { CreationContext } from "../../core/keys/api-key.ts";
import { isTurnedOff, type OAuthApp } from "../../core/oauth/app.ts";
import { writeGrant } from "../../core/oauth/consent.ts";
import type { DeviceRequest } from "../../core/oauth/device.ts";
import type { Session } from "../../core/sign-in/sign-in.ts";
import type { RequestOrigin } from "../../core/sign-in/start-session.ts";
import type { Tx } from "../../core/store.ts";
import { type AuthorizationSettings, auditConsent, lockSpace } from "./approval.ts";
import { hasConnectors } from "./device-page.ts";

/**
 * What a form of the page answers: exactly the request that the person saw, in the session in which it was
 * shown.
 */
export interface DeviceTicket {
  readonly digest: string;
  /** The app's generation that the person saw. */
  readonly generation: number;
  readonly sessionId: string;
}

/** A form that was submitted. */
export interface DeviceAnswer {
  readonly ticket: DeviceTicket;
  readonly connectorUids: readonly string[];
  /** The chosen space, as the form has it; counts for an app of no team only. */
  readonly spaceId: string;
  readonly session: Session;
  readonly from: RequestOrigin;
}

/** A request that waits for an answer, and its app. */
export interface OpenDevice {
  readonly app: OAuthApp;
  readonly device: DeviceRequest;
}

/** The request of a row, with its app; null when it is over, or the app may no longer ask. */
export async function openDevice(
  find: (clientId: string) => Promise<OAuthApp | null>,
  settings: AuthorizationSettings,
  device: DeviceRequest | null,
  now: number,
): Promise<OpenDevice | null> {
  if (
    device === null ||
    device.decidedAt !== null ||
    device.expiresAt <= now ||
    isTurnedOff(device.clientId, settings)
  )
    return null;
  const app = await find(device.clientId);
  const isAllowed = app?.deviceAuthorization && device.scopes.every((name) => app.scopes.includes(name));
  return isAllowed ? { app, device } : null;
}

/** The app of the request, and whether the answer counts: not of a person who may not act in the space. */
export type DeviceOutcome =
  | { readonly kind: "answered" | "outsider"; readonly app: OAuthApp }
  | { readonly kind: "over" };

/** Locks the app and then the request, so that one of several answers counts. */
async function lockOpen(
  tx: Tx,
  { ticket }: DeviceAnswer,
  settings: AuthorizationSettings,
  now: number,
): Promise<OpenDevice | null> {
  const seen = await tx.devices.find(ticket.digest);
  const app = seen && (await tx.apps.lock(seen.clientId));
  if (app?.generation !== ticket.generation) return null;
  return openDevice(async () => app, settings, await tx.devices.lock(ticket.digest), now);
}

/** Approves a request, once. */
export async function approveDevice(
  tx: Tx,
  making: CreationContext,
  settings: AuthorizationSettings,
  answer: DeviceAnswer,
): Promise<DeviceOutcome> {
  const { session, ticket } = answer;
  const open = await lockOpen(tx, answer, settings, making.now);
  if (open === null) return { kind: "over" };
  const { app, device } = open;
  const { accountId } = session;
  const spaceId = await lockSpace(tx, app, accountId, answer.spaceId);
  if (spaceId === null) return { kind: "outsider", app };
  const connectorUids = hasConnectors(app, device.scopes) ? answer.connectorUids : null;
  const grantId = await writeGrant(tx, making, {
    request: { app, scopes: device.scopes },
    accountId,
    spaceId,
    connectorUids,
  });
  await tx.devices.decide(
    ticket.digest,
    { accountId, spaceId, grantId, generation: app.generation },
    making.now,
  );
  await auditConsent(tx, making, session, answer.from, "ApproveDevice", spaceId);
  return { kind: "answered", app };
}

/** Denies a request, once. */
export async function denyDevice(
  tx: Tx,
  making: CreationContext,
  settings: AuthorizationSettings,
  answer: DeviceAnswer,
): Promise<DeviceOutcome> {
  const { session, ticket, from } = answer;
  const open = await lockOpen(tx, answer, settings, making.now);
  if (open === null) return { kind: "over" };
  const { accountId, spaceId } = session;
  await tx.devices.decide(ticket.digest, { accountId, spaceId, grantId: null, generation: null }, making.now);
  tx.audit.note({ subject: open.app.clientId, after: { address: open.device.address } });
  await auditConsent(tx, making, session, from, "DenyDevice");
  return { kind: "answered", app: open.app };
}
