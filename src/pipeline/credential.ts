import type { Caller, Scope } from "../core/accounts/caller.ts";
import type { SignedCredential } from "../core/accounts/signed-credential.ts";
import type { KnownCredential } from "../core/audit/refusals.ts";
import type { Clock } from "../core/clock.ts";
import { Failure, invalidArgument } from "../core/failure.ts";
import { isKeyText, type KeyHolder, keyDigest } from "../core/keys/api-key.ts";
import type { KeyUses } from "../core/keys/api-keys.ts";
import { isAllowedAddress } from "../core/keys/restrictions.ts";
import type { ReadAccessToken } from "../core/oauth/access-token.ts";
import { type ClientSwitches, isTurnedOff } from "../core/oauth/app.ts";
import type { TokenHolder } from "../core/oauth/family.ts";
import type { Resource } from "../core/oauth/resource.ts";
import { type SessionHolder, sessionDigest } from "../core/sign-in/sign-in.ts";
import type { Tx } from "../core/store.ts";
import { isWorkerText, type Worker, workerDigest } from "../core/workers/worker.ts";

/** The credentials of a request, not verified yet. */
export interface RequestCredentials {
  /** The key headers' values; the same key in two headers is listed once. */
  readonly keys: readonly string[];
  /** The text after `Bearer`, or null. */
  readonly bearer: string | null;
  /** The session cookie where this request may use it, or null. */
  readonly session: string | null;
  /**
   * The credential that a signed address names. Only the route of that address sets it, after it has checked
   * the signature.
   */
  readonly signed?: SignedCredential;
  /** The address that was called, where tokens must be for exactly this resource. Absent: the API. */
  readonly resource?: string;
  /** Where this wire reads a credential; only of a request without a key and a token. */
  readonly hint?: string;
}

/**
 * A refused credential with its owner, where known. Only the audit log gets the owner (spec/decisions.md 44).
 */
export class RefusedCredential extends Failure {
  readonly known: KnownCredential | null;

  constructor(
    message: string,
    known: KnownCredential | null,
    reason: "unauthenticated" | "permission_denied" = "unauthenticated",
  ) {
    super(reason, message);
    this.known = known;
  }
}

/**
 * Identifies the caller. `address` is the client's network address, as the setting TRUST_PROXY makes it
 * known.
 */
export type Identify = (presentedCredential: RequestCredentials, address: string) => Promise<Caller>;

/** Every refusal of a credential begins with this text (spec/decisions.md 10). */
const refusalText = "Invalid or missing API key";
const refusal = (why?: string, known: KnownCredential | null = null) =>
  new RefusedCredential(why === undefined ? refusalText : `${refusalText} or access token: ${why}`, known);
const missing = (hint: string | undefined): string =>
  `missing authentication${hint === undefined ? "" : `: ${hint}`}`;
const invalidOrRevoked = "bearer token is invalid or revoked";

/** Distinguishes a worker's credential from a key and from a token. */
const workerPrefix = "wk-";

/**
 * Headers that carry an API key; the public name and the enterprise one are aliases (spec/api.md 2,
 * spec/enterprise.md 1).
 */
const keyHeaders = ["x-service-api-key", "x-manus-api-key", "x-api-key"] as const;

/** Takes a lower-case name, and joins the values of a repeated header by commas. */
type HeaderReader = (name: string) => string | null | undefined;

export function readCredentials(header: HeaderReader): RequestCredentials {
  const values = keyHeaders.flatMap((name) => header(name)?.split(",") ?? []);
  const keys = new Set(values.map((key) => key.trim()).filter((key) => key !== ""));
  const bearer = /^Bearer +(\S+) *$/i.exec(header("authorization") ?? "");
  const read = { keys: [...keys], bearer: bearer?.[1] ?? null, session: null };
  return withHint(read, header, "x-service-api-key, or a key or access token in Authorization: Bearer");
}

/** Headers in which clients of other APIs send a key. */
const otherKeyHeaders = ["api_key", "api-key", "apikey"] as const;

/** @param accepted the headers that are read. */
function withHint(read: RequestCredentials, header: HeaderReader, accepted: string): RequestCredentials {
  if (read.keys.length > 0 || read.bearer !== null) return read;
  if (isKeyText(header("authorization")?.trim() ?? ""))
    return { ...read, hint: 'write "Bearer " before the key in Authorization' };
  const unread = otherKeyHeaders.find((name) => isKeyText(header(name)?.trim() ?? ""));
  return {
    ...read,
    hint: `${unread === undefined ? "" : `the header ${unread} is not read here; `}send a key in ${accepted}`,
  };
}

/**
 * The credential of v1: the `API_KEY` header comes before its aliases, and those before `Authorization`. A
 * Bearer value is ignored when a key header is present, and when it is not a key of this platform: SDKs send
 * placeholders (spec/v1.md 1.1, spec/clients.md 2, spec/decisions.md 46).
 */
export function readV1Credentials(header: HeaderReader): RequestCredentials {
  const { bearer } = readCredentials(header);
  const key = keyInHeader(header) ?? (bearer !== null && isKeyText(bearer) ? bearer : undefined);
  const read = { keys: key === undefined ? [] : [key], bearer: null, session: null };
  return withHint(read, header, "API_KEY or Authorization: Bearer");
}

/** The key of `API_KEY` or else of an alias; undefined without one. */
export const keyInHeader = (header: HeaderReader): string | undefined =>
  header("api_key")?.trim() || readCredentials(header).keys[0];

/**
 * Identifies callers with one statement for a key, a token or a session. A mistyped key and a forged token
 * need no statement. A session counts only when the request has neither key nor token (spec/decisions.md 35).
 *
 * @param switches the clients whose tokens count.
 * @returns a function that throws Failure `unauthenticated` for a missing, bad, expired or revoked
 * credential, `invalid_argument` for two different ones (spec/decisions.md 9, 10, 12), `permission_denied`
 * for a key that cannot be used from the address.
 */
export function createIdentify(
  store: Tx,
  clock: Clock,
  readToken: ReadAccessToken,
  { keys, workers }: Readonly<Record<"keys" | "workers", Pick<KeyUses, "note">>>,
  switches: ClientSwitches,
): Identify {
  async function byWorker(text: string): Promise<Caller> {
    const worker = isWorkerText(text) ? await store.workers.byDigest(workerDigest(text)) : null;
    if (worker === null) throw refusal();
    if (worker.revokedAt !== null)
      throw refusal(undefined, knownBy("worker", { ...worker, accountId: worker.id }));
    workers.note(worker.id, worker.seenAt);
    return workerCaller(worker);
  }

  async function byKey(key: string, address: string): Promise<Caller> {
    if (key.startsWith(workerPrefix)) return byWorker(key);
    return byKeyHolder(isKeyText(key) ? await store.keys.holder(keyDigest(key)) : null, address);
  }

  async function byKeyHolder(holder: KeyHolder | null, address: string): Promise<Caller> {
    if (holder === null) throw refusal();
    if (!isValid(holder, clock.now())) throw refusal(undefined, knownBy("key", holder.key));
    if (!isAllowedAddress(holder.key.addressRanges, address))
      throw new RefusedCredential(
        "this API key cannot be used from this network address",
        knownBy("key", holder.key),
        "permission_denied",
      );
    keys.note(holder.key.id, holder.key.usedAt);
    return keyCaller(holder);
  }

  async function byToken(text: string, resource: Resource, address: string): Promise<Caller> {
    // A token is a JWT: no worker credential and no key has that form.
    if (text.startsWith(workerPrefix)) return byWorker(text);
    if (isKeyText(text)) return byKey(text, address);
    const claims = await readToken(text);
    if (claims === null) throw refusal("invalid token");
    const holder = await store.families.findHolder(claims.familyId);
    if (holder === null) throw refusal(invalidOrRevoked);
    const known = knownBy("token", { ...holder, id: holder.familyId });
    if (claims.expiresAt <= clock.now()) throw refusal(invalidOrRevoked, known);
    checkFamily(holder, known);
    if (holder.accessId !== claims.accessId) throw refusal(invalidOrRevoked, known);
    // A token for another address: what stole it there must not use it here (RFC 8707 2, RFC 9700 2.3).
    if (claims.resource !== resource) throw refusal("invalid token", known);
    return tokenCaller({
      ...holder,
      resource,
      scopes: holder.scopes.filter((name) => claims.scopes.includes(name)),
    });
  }

  function checkFamily(
    { clientId, isActive, member, generation, appGeneration }: TokenHolder,
    known: KnownCredential,
  ): void {
    if (!isActive || member?.status !== "active" || isTurnedOff(clientId, switches))
      throw refusal(invalidOrRevoked, known);
    if (generation !== appGeneration) throw refusal("reauthorization_required", known);
  }

  /**
   * The app of a signed address, as long as its user's grant lasts: its tokens may have been refreshed since.
   */
  async function byFamily(familyId: string, clientId: string | null): Promise<Caller> {
    const holder = await store.families.findHolder(familyId);
    if (holder === null) throw refusal(invalidOrRevoked);
    checkFamily(holder, knownBy("token", { ...holder, id: holder.familyId }));
    const caller = tokenCaller({ ...holder, resource: null });
    return clientId === null ? caller : { ...caller, clientId };
  }

  async function bySigned({ kind, id, clientId }: SignedCredential, address: string): Promise<Caller> {
    if (kind === "key") return byKeyHolder(await store.keys.holderById(id), address);
    if (kind === "session") return bySessionHolder(await store.sessions.holderById(id));
    return byFamily(id, clientId);
  }

  function bySessionHolder(holder: SessionHolder | null, hint?: string): Caller {
    if (holder === null) throw refusal(missing(hint));
    const { session, member } = holder;
    const isOver =
      session.expiresAt <= clock.now() ||
      (member !== null && (member.status !== "active" || member.delegated));
    if (isOver) throw refusal(missing(hint), knownBy("session", session));
    return sessionCaller(holder);
  }

  return async ({ keys, bearer, session, signed, resource = null, hint }, address) => {
    if (signed) return bySigned(signed, address);
    const [key, other] = keys;
    const second = other ?? (key === undefined ? null : bearer);
    if (second !== null && second !== key)
      throw invalidArgument("", "a request carries one credential, this one carries two");
    if (key !== undefined) return byKey(key, address);
    if (bearer !== null) return byToken(bearer, resource, address);
    if (session !== null) return bySessionHolder(await store.sessions.holder(sessionDigest(session)), hint);
    throw refusal(missing(hint));
  };
}

/**
 * False for a key that is revoked or expired, or whose holder is not an active member (spec/decisions.md 6).
 */
function isValid({ key, member }: KeyHolder, now: number): boolean {
  const isActive = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
  return isActive && (member === null || member.status === "active");
}

const knownBy = (
  kind: Caller["credential"]["kind"],
  { id, accountId, spaceId }: Scope & { id: string },
): KnownCredential => ({
  accountId,
  spaceId,
  credential: credentialName({ kind, id }),
});

/** Kind and id of a credential, in the form of audit rows. */
export const credentialName = ({ kind, id }: Pick<Caller["credential"], "kind" | "id">): string =>
  `${kind}:${id}`;

const keyCaller = ({ key, member, locale }: KeyHolder): Caller => ({
  accountId: key.accountId,
  spaceId: key.spaceId,
  ...(key.projectIds === null ? {} : { within: { projectIds: key.projectIds, apiKeyId: key.id } }),
  credential: { kind: "key", keyKind: key.kind, id: key.id, scopes: key.scopes },
  role: member?.role ?? null,
  locale,
});

/** A worker has no account: it owns only the uploads that no event contains. */
const workerCaller = ({ id, spaceId, profiles, labels }: Worker): Caller => ({
  accountId: id,
  spaceId,
  credential: { kind: "worker", id, profiles, labels },
  role: null,
  locale: "en",
});

/** A token that was presented at a resource. */
interface HeldToken extends TokenHolder {
  readonly resource: Resource;
}

/** A token without manage_all_tasks reaches only what its app made (spec/oauth.md 9.1). */
const tokenCaller = ({
  familyId,
  clientId,
  accountId,
  spaceId,
  scopes,
  connectorUids,
  member,
  locale,
  resource,
  service,
}: HeldToken): Caller => ({
  accountId,
  spaceId,
  clientId: scopes.includes("manage_all_tasks") ? undefined : clientId,
  credential: { kind: "token", id: familyId, clientId, scopes, connectorUids, resource, service },
  role: member?.role ?? null,
  locale,
});

export const sessionCaller = ({ session, member, locale, operator }: SessionHolder): Caller => ({
  accountId: session.accountId,
  spaceId: session.spaceId,
  credential: {
    kind: "session",
    id: session.id,
    provedAt: session.provedAt,
    expiresAt: session.expiresAt,
    operator,
  },
  role: member?.role ?? null,
  locale,
});
