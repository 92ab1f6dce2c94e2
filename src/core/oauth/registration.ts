import { createHash, timingSafeEqual } from "node:crypto";
import { Failure, invalidArgument } from "../failure.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { purging, type TimedJob } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import { type OAuthApp, registeredClientId } from "./app.ts";
import {
  type ClientMetadata,
  isLoopbackRedirect,
  type Members,
  membersOf,
  readClientMetadata,
  unverifiedApp,
} from "./client-metadata.ts";

/**
 * The most registered clients without a consent, in the whole installation: the next one replaces the oldest
 * (spec/oauth.md 16.2).
 */
const unusedMax = 1_000;
/** A registration without a consent is deleted after a day. */
const unusedMs = 24 * 3_600_000;

/** A registered client, with the text of its management token, which is stored only as a digest. */
export interface Registered {
  readonly app: OAuthApp;
  readonly token: string;
}

/** Registrations as rows of apps. An app of another kind is not found. */
export interface RegistrationRows {
  /** Lets one change at a time register. */
  lock(): Promise<void>;
  insert(app: OAuthApp, digest: string): Promise<void>;
  /** Deletes the oldest clients that no user has let act, all but the newest. */
  keepUnused(newest: number): Promise<void>;
  /**
   * Deletes the clients that were registered before a time and that no user has let act; returns how many.
   */
  purge(before: number): Promise<number>;
  /** The digest of the management token; null for a deleted client, and for every other app. */
  digest(clientId: string): Promise<string | null>;
  /** A user has let the client act: it stays. */
  markUsed(clientId: string): Promise<void>;
}

/** 256 random bits, so a plain hash is enough. Lower-case hex. */
const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/**
 * Registers a client (RFC 7591).
 *
 * @throws Failure `invalid_argument` for metadata that breaks a rule.
 */
export async function register(
  tx: Tx,
  { now, ids, random }: CreationContext,
  json: unknown,
): Promise<Registered> {
  const metadata = readRegistration(membersOf(json));
  await tx.registrations.lock();
  await tx.registrations.purge(now - unusedMs);
  await tx.registrations.keepUnused(unusedMax - 1);
  const app = unverifiedApp(registeredClientId(ids.short()), originOf(metadata), metadata, now);
  const token = `registration_${Buffer.from(random(32)).toString("base64url")}`;
  await tx.registrations.insert(app, digestOf(token));
  return { app, token };
}

/**
 * The client of a management token (RFC 7592); the same refusal for an unknown client. @throws Failure
 * `unauthenticated`
 */
export async function managedClient(tx: Tx, clientId: string, token: string): Promise<OAuthApp> {
  const digest = await tx.registrations.digest(clientId);
  // Compare also without a client, so that the time does not show whether it exists.
  const isSame = timingSafeEqual(Buffer.from(digestOf(token)), Buffer.from(digest ?? digestOf("")));
  const app = digest !== null && isSame ? await tx.apps.lock(clientId) : null;
  if (app === null) throw new Failure("unauthenticated", "the registration access token is not valid");
  return app;
}

/** Replaces the metadata of a client (RFC 7592 2.2). @throws Failure `invalid_argument` */
export async function updateRegistered(tx: Tx, app: OAuthApp, json: unknown, now: number): Promise<OAuthApp> {
  const members = membersOf(json);
  if (members.get("client_id") !== app.clientId)
    throw invalidArgument("client_id", "must be that of the client");
  const metadata = readRegistration(members);
  const next = {
    ...unverifiedApp(app.clientId, originOf(metadata), metadata, now),
    createdAt: app.createdAt,
  };
  await tx.apps.update(next);
  return next;
}

/** The rules of a registration in addition to those of every client. */
function readRegistration(members: Members): ClientMetadata {
  if (members.has("software_statement")) throw invalidArgument("software_statement", "is not supported");
  const metadata = readClientMetadata(members);
  for (const [index, uri] of metadata.redirectUris.entries())
    if (uri.startsWith("http:") && !isLoopbackRedirect(uri))
      throw invalidArgument(
        `redirect_uris[${index}]`,
        "must be https, or http on 127.0.0.1, [::1] or localhost",
      );
  // Any caller can write the address of another one's page.
  return { ...metadata, homepageUrl: "" };
}

/** The host of the first redirect, or its scheme. */
function originOf({ redirectUris: [first = ""] }: ClientMetadata): string {
  const url = URL.parse(first);
  return url?.host || `${first.split(":", 1)[0]}:`;
}

/** Deletes registrations that are not used for a day, at most a minute later. */
export const purgeUnusedClients: TimedJob = {
  ...purging("purge-unused-clients", (tx, now) => tx.registrations.purge(now - unusedMs)),
  every: 60_000,
};
