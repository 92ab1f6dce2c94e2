import type { Role } from "../accounts/account.ts";
import type { Caller } from "../caller.ts";
import type { ScopeName } from "./scope.ts";

/** At most so many apps per team, and active secrets per app (contract/oauth.md 1.4, 13). */
export const appsMax = 50;
export const activeSecretsMax = 5;

/** What an app may ask its users for. */
export interface ScopeConfig {
  readonly scopes: readonly ScopeName[];
  /** Ids of the catalogue. */
  readonly connectorUids: readonly string[];
}

/** A third party's app, of one team (contract/oauth.md 1.3). */
export interface OAuthApp extends ScopeConfig {
  /** `client_` and a short id. */
  readonly clientId: string;
  readonly spaceId: string;
  /** The account that made it. */
  readonly creatorId: string;
  readonly name: string;
  readonly description: string;
  readonly redirectUris: readonly string[];
  readonly homepageUrl: string;
  readonly webhookUrl: string | null;
  readonly skillIds: readonly string[];
  /** Exchange and refresh need a secret, whatever else they prove (contract/decisions.md 25). */
  readonly confidentialOnly: boolean;
  /** A redirect to http on 127.0.0.1 or [::1] may name any port (RFC 8252 7.3). */
  readonly loopbackAnyPort: boolean;
  /** Raised by each expansion: what was issued before it is dead (contract/decisions.md 30). */
  readonly generation: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const editors: readonly (Role | null)[] = ["owner", "super_admin", "admin"];

/** Who may change, delete and give secrets to any app of the team; whoever made one may too (contract/oauth.md 13). */
export const editsAllApps = ({ role }: Pick<Caller, "role">): boolean => editors.includes(role);

/** A client secret as it is kept: never its text, only the SHA-256 of it. */
export interface OAuthSecret {
  readonly id: string;
  readonly clientId: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly last4: string;
  readonly createdAt: number;
}

/** Living apps and their active secrets; what is deleted or revoked is as if it had never been. */
export interface AppRows {
  insert(app: OAuthApp): Promise<void>;
  find(clientId: string): Promise<OAuthApp | null>;
  /** The same with a lock on its row, so that what is counted or compared per app holds under a race. */
  lock(clientId: string): Promise<OAuthApp | null>;
  /** Apps of a team, newest first. */
  list(spaceId: string): Promise<OAuthApp[]>;
  update(app: OAuthApp): Promise<void>;
  /** Leaves a tombstone. */
  remove(clientId: string, now: number): Promise<void>;
  insertSecret(secret: OAuthSecret): Promise<void>;
  /** Active secrets, newest first. */
  secrets(clientId: string): Promise<OAuthSecret[]>;
  /** False when there is no such active secret. */
  revokeSecret(clientId: string, id: string, now: number): Promise<boolean>;
}
