import type { Role } from "./accounts/account.ts";
import type { ScopeName } from "./oauth/scope.ts";

/** Kinds of API key (contract/enterprise.md 1); `general` opens the whole account. */
export const keyKinds = ["general", "ediscovery", "siem", "team_user_mgmt", "team_asset_audit", "team_asset_mgmt"] as const;
export type KeyKind = (typeof keyKinds)[number];

/** An API key. */
export interface KeyCredential {
  readonly kind: "key";
  readonly keyKind: KeyKind;
  readonly id: string;
}

/** An OAuth access token: an app acts for its user. */
export interface TokenCredential {
  readonly kind: "token";
  /** The token family's id. */
  readonly id: string;
  /** The app. */
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  /** Connectors that the user granted to the app. */
  readonly connectorUids: readonly string[];
}

/** A signed-in browser. */
export interface SessionCredential {
  readonly kind: "session";
  readonly id: string;
  /** When the person last proved who they are, Unix milliseconds. */
  readonly provedAt: number;
}

/** A remote worker's: no person's, and it opens the work on tasks alone. Its caller's account is its own id, which owns no task. */
export interface WorkerCredential {
  readonly kind: "worker";
  readonly id: string;
  /** Whose tasks it may run; empty: of all that are done by remote workers. */
  readonly profiles: readonly string[];
}

/** What a caller showed to be let in. */
export type CallerCredential = KeyCredential | TokenCredential | SessionCredential | WorkerCredential;

/**
 * Whose rows a query may touch: no row is read or written but through one of these
 * (contract/decisions.md 1). `clientId` is set for a token that reaches only what
 * its own app made.
 */
export interface Scope {
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId?: string | undefined;
}

/** Who calls: an account in one space, by one credential. */
export interface Caller extends Scope {
  readonly credential: CallerCredential;
  /** The account's role in the space's team; null in a personal space. */
  readonly role: Role | null;
  /** BCP 47; the account's own, used where a request names none. */
  readonly locale: string;
}

/** Whether projects are anything to a caller: to an app only by a scope for them (contract/decisions.md 16). */
export const reachesProjects = ({ credential }: Caller): boolean =>
  credential.kind !== "token" || credential.scopes.includes("create_project") || credential.scopes.includes("manage_all_tasks");

/** The app that acts for its user; null where nobody does. What an app makes is tagged with it. */
export const appOf = ({ credential }: Caller): string | null => (credential.kind === "token" ? credential.clientId : null);
