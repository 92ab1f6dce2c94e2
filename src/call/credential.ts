import type { Known } from "../core/audit/refusals.ts";
import type { Caller, Scope } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Failure, invalid } from "../core/failure.ts";
import { isKeyText, type KeyHolder, keyDigest } from "../core/keys/api-key.ts";
import type { KeyUses } from "../core/keys/key-uses.ts";
import type { ReadAccessToken } from "../core/oauth/access-token.ts";
import type { TokenHolder } from "../core/oauth/family.ts";
import { type SessionHolder, sessionDigest } from "../core/sign-in/session.ts";
import type { Tx } from "../core/store.ts";
import { isWorkerText, type Worker, workerDigest } from "../core/workers/worker.ts";

/** What a request showed, before anything of it is believed. */
export interface Presented {
  /** The key headers' values; the same key in two headers stands once. */
  readonly keys: readonly string[];
  /** The text behind `Bearer`, or null. */
  readonly bearer: string | null;
  /** The session cookie where this request may use it, or null. */
  readonly session: string | null;
}

/** A credential that opens nothing, and whose it is, where that is known: nobody is told but the audit log (contract/decisions.md 44). */
export class RefusedCredential extends Failure {
  readonly known: Known | null;

  constructor(message: string, known: Known | null) {
    super("unauthenticated", message);
    this.known = known;
  }
}

/** Says who calls. */
export type Identify = (presented: Presented) => Promise<Caller>;

/** Every refusal of a credential begins so (contract/decisions.md 10). */
const missing = "Invalid or missing API key";
const refusal = (why?: string, known: Known | null = null) =>
  new RefusedCredential(why === undefined ? missing : `${missing} or access token: ${why}`, known);
const invalidOrRevoked = "bearer token is invalid or revoked";

/** What tells a worker's credential from a key and from a token. */
const workerPrefix = "wk-";

/** Headers that carry an API key; the public name and the enterprise one are aliases (contract/v2.md 2, enterprise.md 1). */
const keyHeaders = ["x-service-api-key", "x-manus-api-key", "x-api-key"] as const;

/** Reads the credential headers; `header` takes a lower-case name, and gives a header that stands twice joined by commas. */
export function presented(header: (name: string) => string | null | undefined): Presented {
  const values = keyHeaders.flatMap((name) => header(name)?.split(",") ?? []);
  const keys = new Set(values.map((key) => key.trim()).filter((key) => key !== ""));
  const bearer = /^Bearer +(\S+) *$/i.exec(header("authorization") ?? "");
  return { keys: [...keys], bearer: bearer?.[1] ?? null, session: null };
}

/**
 * The credential of v1: the `API_KEY` header comes before its aliases, and those before `Authorization`. A
 * Bearer value is ignored when a key header is present, and when it is not a key of ours: SDKs send placeholders
 * (contract/v1.md 1.1, clients.md 2, contract/decisions.md 46).
 */
export function presentedOnV1(header: (name: string) => string | null | undefined): Presented {
  const { keys, bearer } = presented(header);
  const own = header("api_key")?.trim();
  const key = own || (keys[0] ?? (bearer !== null && isKeyText(bearer) ? bearer : undefined));
  return { keys: key === undefined ? [] : [key], bearer: null, session: null };
}

/**
 * Who calls: one statement for a key, a token or a session; a mistyped key and a
 * forged token cost none. A session counts only where neither of the others is shown
 * (contract/decisions.md 35).
 *
 * @returns what throws Failure `unauthenticated` for no, a bad, an expired or a revoked
 * credential, `invalid` for two different ones (contract/decisions.md 9, 10, 12).
 */
export function identifier(
  store: Tx,
  clock: Clock,
  readToken: ReadAccessToken,
  { keys, workers }: Readonly<Record<"keys" | "workers", Pick<KeyUses, "used">>>,
): Identify {
  async function byWorker(text: string): Promise<Caller> {
    const worker = isWorkerText(text) ? await store.workers.byDigest(workerDigest(text)) : null;
    if (worker === null) throw refusal();
    if (worker.revokedAt !== null) throw refusal(undefined, knownBy("worker", { ...worker, accountId: worker.id }));
    workers.used(worker.id, worker.seenAt);
    return workerCaller(worker);
  }

  async function byKey(key: string): Promise<Caller> {
    if (key.startsWith(workerPrefix)) return byWorker(key);
    const holder = isKeyText(key) ? await store.keys.holder(keyDigest(key)) : null;
    if (holder === null) throw refusal();
    if (!opens(holder, clock.now())) throw refusal(undefined, knownBy("key", holder.key));
    keys.used(holder.key.id, holder.key.usedAt);
    return keyCaller(holder);
  }

  async function byToken(text: string): Promise<Caller> {
    // A token is a JWT: neither of the other two can be taken for one.
    if (text.startsWith(workerPrefix)) return byWorker(text);
    if (isKeyText(text)) return byKey(text);
    const claims = await readToken(text);
    if (claims === null) throw refusal("invalid token");
    const holder = await store.families.holder(claims.familyId);
    if (holder === null) throw refusal(invalidOrRevoked);
    const known = knownBy("token", { ...holder, id: holder.familyId });
    if (claims.expiresAt <= clock.now()) throw refusal(invalidOrRevoked, known);
    if (!holder.lives || holder.member?.status !== "active") throw refusal(invalidOrRevoked, known);
    if (holder.generation !== holder.appGeneration) throw refusal("reauthorization_required", known);
    if (holder.accessId !== claims.accessId) throw refusal(invalidOrRevoked, known);
    return tokenCaller({ ...holder, scopes: holder.scopes.filter((name) => claims.scopes.includes(name)) });
  }

  async function bySession(text: string): Promise<Caller> {
    const holder = await store.sessions.holder(sessionDigest(text));
    if (holder === null) throw refusal("missing authentication");
    const { session, member } = holder;
    const opensNothing = session.expiresAt <= clock.now() || (member !== null && (member.status !== "active" || member.delegated));
    if (opensNothing) throw refusal("missing authentication", knownBy("session", session));
    return sessionCaller(holder);
  }

  return async ({ keys, bearer, session }) => {
    const [key, other] = keys;
    const second = other ?? (key === undefined ? null : bearer);
    if (second !== null && second !== key) throw invalid("", "a request carries one credential, this one carries two");
    if (key !== undefined) return byKey(key);
    if (bearer !== null) return byToken(bearer);
    if (session !== null) return bySession(session);
    throw refusal("missing authentication");
  };
}

/** Revoked, expired, or its holder is not an active member: it opens nothing (contract/decisions.md 6). */
function opens({ key, member }: KeyHolder, now: number): boolean {
  const living = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
  return living && (member === null || member.status === "active");
}

const knownBy = (kind: Caller["credential"]["kind"], { id, accountId, spaceId }: Scope & { readonly id: string }): Known => ({
  accountId,
  spaceId,
  credential: credentialName({ kind, id }),
});

/** Kind and id of a credential, as audit rows have it. */
export const credentialName = ({ kind, id }: Pick<Caller["credential"], "kind" | "id">): string => `${kind}:${id}`;

const keyCaller = ({ key, member, locale }: KeyHolder): Caller => ({
  accountId: key.accountId,
  spaceId: key.spaceId,
  credential: { kind: "key", keyKind: key.kind, id: key.id },
  role: member?.role ?? null,
  locale,
});

/** Nobody's account: what a worker owns are the files that it has not shown yet. */
const workerCaller = ({ id, spaceId, profiles }: Worker): Caller => ({
  accountId: id,
  spaceId,
  credential: { kind: "worker", id, profiles },
  role: null,
  locale: "en",
});

/** A token without manage_all_tasks reaches only what its own app made (contract/oauth.md 9.1). */
const tokenCaller = ({ familyId, clientId, accountId, spaceId, scopes, connectorUids, member, locale }: TokenHolder): Caller => ({
  accountId,
  spaceId,
  clientId: scopes.includes("manage_all_tasks") ? undefined : clientId,
  credential: { kind: "token", id: familyId, clientId, scopes, connectorUids },
  role: member?.role ?? null,
  locale,
});

/** A session as a caller, in its own space. */
export const sessionCaller = ({ session, member, locale }: SessionHolder): Caller => ({
  accountId: session.accountId,
  spaceId: session.spaceId,
  credential: { kind: "session", id: session.id, provedAt: session.provedAt },
  role: member?.role ?? null,
  locale,
});
