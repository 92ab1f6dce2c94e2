import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Role } from "./account.ts";
import type { KeyScope } from "./key-scopes.ts";

/** What an app may do for its user (spec/oauth.md 2). */
export const scopeNames = [
  "create_task",
  "manage_all_tasks",
  "create_project",
  "use_connectors",
  "use_my_browsers",
  "profile",
  "email",
  "approve:task",
] as const;
export type ScopeName = (typeof scopeNames)[number];

/**
 * A model that has a token with this scope can decide about its own actions. An app gets it only when it
 * names it, and the metadata does not list it: clients request what is listed.
 */
export const dangerousScope = "approve:task" satisfies ScopeName;

/** The refusal of a scope that is unknown or not allowed. */
export const scopeFault = (text: string): string =>
  text.split(" ").includes("openid")
    ? "scope: openid is not supported, as there is no ID token: ask for profile and email, and read /oauth/userinfo"
    : "scope: the app is not configured for a requested scope";

/** The scopes that clients learn of. */
export const listedScopes = (scopes: readonly ScopeName[]): readonly ScopeName[] =>
  scopes.filter((name) => name !== dangerousScope);

/** True for the name of a scope; case matters (RFC 6749 3.3). */
export const isScope = (text: string): text is ScopeName => scopeNames.some((name) => name === text);

/** The scopes among stored texts. A scope of an older release may no longer exist. */
export const knownScopes = (texts: readonly string[]): ScopeName[] => texts.filter(isScope);

/**
 * Parses a `scope` parameter. Returns the scopes in the order of the table; null if one is
 * unknown or not allowed (RFC 6749 3.3: case matters, order does not).
 */
export function parseScopes(text: string, allowed: readonly ScopeName[]): ScopeName[] | null {
  const names = text.split(" ").filter((name) => name !== "");
  if (names.length === 0 || !names.every((name) => isScope(name) && allowed.includes(name))) return null;
  return scopeNames.filter((name) => names.includes(name));
}

/** The account for which a request to a user-supplied address is sent, and the signal that cancels it. */
export interface OnBehalf {
  readonly accountId: string;
  /** Aborted when the caller no longer waits; it ends a lookup in progress. */
  readonly signal: AbortSignal;
}

/** Kinds of API key (spec/enterprise.md 1); `general` grants access to the full account. */
export const keyKinds = [
  "general",
  "ediscovery",
  "siem",
  "team_user_mgmt",
  "team_asset_audit",
  "team_asset_mgmt",
] as const;
export type KeyKind = (typeof keyKinds)[number];

export interface KeyCredential {
  readonly kind: "key";
  readonly keyKind: KeyKind;
  readonly id: string;
  /** The only scopes of the key; null: it has no scopes and may do everything that its kind may. */
  readonly scopes: readonly KeyScope[] | null;
}

/** An OAuth access token: an app acts for its user. */
export interface TokenCredential {
  readonly kind: "token";
  readonly id: string;
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  /** Connectors that the user granted to the app. */
  readonly connectorUids: readonly string[];
  /** The app acts as itself, not for its user: it decides nothing in a person's place. */
  readonly service: boolean;
  /** The only resource that accepts the token; null: the API. */
  readonly resource: string | null;
}

export interface SessionCredential {
  readonly kind: "session";
  readonly id: string;
  /** When the person last proved who they are, Unix milliseconds. */
  readonly provedAt: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly operator: boolean;
}

/**
 * A remote worker. It belongs to no person and grants access only to work on tasks. The caller's account is
 * the worker's id, which owns no tasks.
 */
export interface WorkerCredential {
  readonly kind: "worker";
  readonly id: string;
  /** The profiles whose tasks it may run; empty: all profiles of remote workers. */
  readonly profiles: readonly string[];
  /** The labels of its workers: it may run tasks only of profiles whose labels it has. */
  readonly labels: readonly string[];
}

export type CallerCredential = KeyCredential | TokenCredential | SessionCredential | WorkerCredential;

export interface ProjectLimit {
  readonly projectIds: readonly string[];
  /** The key: it reaches its own uploads only. */
  readonly apiKeyId: string;
}

/**
 * The owner of the rows that a query may access: every read and every write goes through
 * a scope (spec/decisions.md 1). `clientId` is set for a token that can access only
 * rows that its app created.
 */
export interface Scope {
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId?: string | undefined;
  /** Set for a key that reaches only the tasks of some projects (spec/api.md 8.108). */
  readonly within?: ProjectLimit | undefined;
}

/** Who calls: an account in one space, by one credential. */
export interface Caller extends Scope {
  readonly credential: CallerCredential;
  /** The account's role in the space's team; null in a personal space. */
  readonly role: Role | null;
  /** BCP 47: the account's locale, used when a request names none. */
  readonly locale: string;
}

/** Whether a caller may access projects. An app needs a scope for them (spec/decisions.md 16). */
export const canAccessProjects = ({ credential }: Caller): boolean =>
  credential.kind !== "token" ||
  credential.scopes.includes("create_project") ||
  credential.scopes.includes("manage_all_tasks");

/** The app that acts for its user; null without an app. Rows that an app creates have its id. */
export const appOf = ({ credential }: Caller): string | null =>
  credential.kind === "token" ? credential.clientId : null;

/** The key of a caller; null without one. Tasks that a key creates have its id. */
export const keyOf = ({ credential }: Caller): string | null =>
  credential.kind === "key" ? credential.id : null;

/** A credential whose scopes are those of a key, where it is one. */
type KeyHolder =
  | Pick<KeyCredential, "kind" | "scopes">
  | { readonly kind: Exclude<CallerCredential["kind"], "key"> };

/**
 * The failure `permission_denied` of a key that is limited to other scopes; null for every other credential
 * (spec/api.md 8.108). It is made by the function that is returned.
 */
export function keyScopeDenial(credential: KeyHolder, scope: KeyScope): (() => Failure) | null {
  if (credential.kind !== "key" || credential.scopes === null || credential.scopes.includes(scope))
    return null;
  const own = credential.scopes.join(", ");
  return () => new Failure("permission_denied", `this API key has no scope ${scope}; its scopes are ${own}`);
}

/**
 * Checks a scope that a call needs besides that of its operation.
 *
 * @throws Failure `permission_denied` for a key that is limited to other scopes (spec/api.md 8.108).
 */
export function requireKeyScope({ credential }: Pick<Caller, "credential">, scope: KeyScope): void {
  const denial = keyScopeDenial(credential, scope);
  if (denial !== null) throw denial();
}

/**
 * A call that may stay open for a while. Its caller is authenticated again at intervals (spec/decisions.md
 * 17).
 */
export interface OpenCall {
  /** The caller as first authenticated. */
  readonly caller: Caller;
  /** Equal for calls with the same credential and the same rights: they can share lookups. */
  readonly accessKey: string;
  /** The client's network: its address, or the /64 of an IPv6 address. */
  readonly network: string;
  /**
   * Authenticates the caller again. It counts against no limit.
   *
   * @throws Failure as for a new call.
   */
  reauthenticate(): Promise<Caller>;
  /** Aborted when the caller no longer waits for an answer. */
  readonly gone: AbortSignal;
}

/** The error text of a new call with the same credential (spec/decisions.md 10). */
const unauthenticatedTexts: Readonly<Record<CallerCredential["kind"], string>> = {
  key: "Invalid or missing API key",
  token: "Invalid or missing API key or access token: bearer token is invalid or revoked",
  session: "Invalid or missing API key or access token: missing authentication",
  worker: "Invalid or missing API key",
};

/**
 * Keeps the caller an active member until this change ends. Changes that start work or create credentials
 * call it: a caller who was authenticated before being removed, deactivated or delegated must not create
 * anything that stays valid after that.
 *
 * @throws Failure `unauthenticated` if the caller is no longer an active member.
 */
export async function lockActiveMember(
  tx: Pick<Tx, "members">,
  { accountId, spaceId, role, credential }: Caller,
): Promise<void> {
  // A personal space has no members.
  if (role === null || (await tx.members.lockActive({ accountId, spaceId }))) return;
  throw new Failure("unauthenticated", unauthenticatedTexts[credential.kind]);
}
