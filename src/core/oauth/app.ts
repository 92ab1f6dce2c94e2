import { createHash, timingSafeEqual } from "node:crypto";
import type { Role } from "../accounts/account.ts";
import { type Caller, dangerousScope, listedScopes, type ScopeName, scopeNames } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { CreationContext } from "../keys/api-key.ts";
import type { Tx } from "../store.ts";

/** The most apps of a team, and active secrets of an app (spec/oauth.md 1.4, 13). */
export const appsMax = 50;
const activeSecretsMax = 5;

/**
 * A name: at least one visible character, and none that makes a name look like another (spec/decisions.md
 * 29).
 */
export const nameForm = /^(?=.*\P{White_Space})[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u;

/** The scopes and connectors that an app may request from its users. */
export interface ScopeConfig {
  readonly scopes: readonly ScopeName[];
  /** Ids from the connector catalogue. */
  readonly connectorUids: readonly string[];
}

/** The client of the command line, which every installation has (spec/oauth.md 14). */
export const cliClientId = "atp-cli";

/**
 * The clients that the operator of an installation can turn off: no user can sign in with them, and their
 * tokens end.
 */
export interface ClientSwitches {
  /** `CLI_SIGN_IN`: the command line. */
  readonly cliSignIn: boolean;
  /** `OAUTH_REGISTRATION`: clients that registered themselves. */
  readonly registration: boolean;
}

const registeredPrefix = "dynamic_";

/** The id of a client that registered itself. */
export const registeredClientId = (short: string): string => `${registeredPrefix}${short}`;

export const isTurnedOff = (clientId: string, { cliSignIn, registration }: ClientSwitches): boolean =>
  (clientId === cliClientId && !cliSignIn) || (clientId.startsWith(registeredPrefix) && !registration);

export const isTeamClientId = (clientId: string): boolean => clientId.startsWith("client_");

/** A third party's app, which belongs to one team (spec/oauth.md 1.3); or the client of the command line. */
export interface OAuthApp extends ScopeConfig {
  /** `client_` and a short id; `atp-cli` for the command line. */
  readonly clientId: string;
  /**
   * Null for the command line and unverified clients, which belong to no team: their users choose a space
   * each time.
   */
  readonly spaceId: string | null;
  readonly creatorId: string;
  readonly name: string;
  readonly description: string;
  readonly redirectUris: readonly string[];
  /**
   * Origins whose pages may call the API with tokens of the app, in alphabetical order (spec/api.md 8.91).
   */
  readonly allowedOrigins: readonly string[];
  readonly homepageUrl: string;
  readonly webhookUrl: string | null;
  readonly skillIds: readonly string[];
  /** Exchange and refresh require a secret, in addition to any other proof (spec/decisions.md 25). */
  readonly confidentialOnly: boolean;
  /** A redirect to http on 127.0.0.1 or [::1] may name any port (RFC 8252 7.3). */
  readonly loopbackAnyPort: boolean;
  /** Its users may sign in on another device, with a short code (RFC 8628). */
  readonly deviceAuthorization: boolean;
  /** The member who lets the app act as itself, with its secret (RFC 6749 4.4); null: no member does. */
  readonly serviceAccountId: string | null;
  /**
   * False for a client that describes itself and is not registered here (spec/oauth.md 16): it gets the
   * scopes of MCP only.
   */
  readonly verified: boolean;
  /**
   * Each expansion raises it: codes and tokens of an earlier generation are invalid (spec/decisions.md 30).
   */
  readonly generation: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The scopes that the tools of MCP use, for clients that are not registered here. */
export const mcpScopes: readonly ScopeName[] = scopeNames.filter((name) =>
  ["create_task", "manage_all_tasks", dangerousScope].includes(name),
);

/**
 * The scopes that an app gets if it names none: no client gets the dangerous one without asking, and an
 * unverified client the least.
 */
export const defaultScopes = ({
  scopes,
  verified,
}: Pick<OAuthApp, "scopes" | "verified">): readonly ScopeName[] =>
  verified ? listedScopes(scopes) : ["create_task"];

const editors: readonly (Role | null)[] = ["owner", "super_admin", "admin"];

/**
 * Whether a caller may change and delete any app of the team and create its secrets; an app's creator may too
 * (spec/oauth.md 13).
 */
export const mayEditAllApps = ({ role }: Pick<Caller, "role">): boolean => editors.includes(role);

/** A stored client secret: the SHA-256 of its text, never the text. */
export interface OAuthSecret {
  readonly id: string;
  readonly clientId: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  readonly last4: string;
  readonly createdAt: number;
}

export type TeamApp = OAuthApp & { readonly spaceId: string };

/** Apps that are not deleted, and their active secrets. Deleted apps and revoked secrets are not returned. */
export interface AppRows {
  /** Inserts an app without origins. */
  insert(app: OAuthApp): Promise<void>;
  find(clientId: string): Promise<OAuthApp | null>;
  /** Locks the app's row, so that counts and comparisons per app hold under concurrency. */
  lock(clientId: string): Promise<OAuthApp | null>;
  /** Newest first. */
  list(spaceId: string): Promise<OAuthApp[]>;
  /** In no order. */
  listGranted(accountId: string, spaceId: string): Promise<OAuthApp[]>;
  /** Sets all but the space and the origins. */
  update(app: OAuthApp): Promise<void>;
  endService(accountId: string, spaceId: string): Promise<void>;
  /** Replaces the allowed origins. */
  setOrigins(clientId: string, origins: readonly string[]): Promise<void>;
  /**
   * Inserts an unverified client with a document, or replaces what an earlier document said; returns it with
   * a lock on its row.
   */
  putDocument(app: OAuthApp): Promise<OAuthApp>;
  /** Whether the owner of a space forbids unverified clients in it. */
  deniesUnverified(spaceId: string): Promise<boolean>;
  setDeniesUnverified(spaceId: string, denies: boolean): Promise<void>;
  remove(clientId: string, now: number): Promise<void>;
  insertSecret(secret: OAuthSecret): Promise<void>;
  /** Active secrets, newest first. */
  secrets(clientId: string): Promise<OAuthSecret[]>;
  /** False when there is no such active secret. */
  revokeSecret(clientId: string, id: string, now: number): Promise<boolean>;
}

/** The sources of time, ids and randomness for new rows. */
export interface AppParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly random: Random;
}

/** @throws Failure `not_found` or `permission_denied`. */
export function checkEditable(app: OAuthApp | null, caller: Caller): TeamApp {
  const found = requireAppOfTeam(app, caller);
  if (found.creatorId === caller.accountId || mayEditAllApps(caller)) return found;
  throw new Failure(
    "permission_denied",
    "an app can be changed by its creator, the team's owner, a super admin or an admin",
  );
}

/** An app that the caller may change. Its row stays locked until the transaction ends. */
export const lockEditable = async (tx: Tx, caller: Caller, clientId: string): Promise<TeamApp> =>
  checkEditable(await tx.apps.lock(clientId), caller);

export function requireAppOfTeam(app: OAuthApp | null, { spaceId }: Caller): TeamApp {
  if (app?.spaceId !== spaceId) throw notFound("app");
  return { ...app, spaceId };
}

/**
 * The stored form of a client secret, lower-case hex. The secret has 256 random bits, so a plain hash is
 * enough.
 */
export const secretDigest = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Creates a secret of an app. Its text, `secret_` and 43 characters, cannot be shown a second time
 * (spec/oauth.md 13).
 */
export function newSecret(
  { now, ids, random }: CreationContext,
  clientId: string,
): { secret: OAuthSecret; text: string } {
  const text = `secret_${Buffer.from(random(32)).toString("base64url")}`;
  return {
    secret: { id: ids.short(), clientId, digest: secretDigest(text), last4: text.slice(-4), createdAt: now },
    text,
  };
}

/**
 * The secrets of an app, for callers who may change it (spec/oauth.md 1.4). Each method throws Failure
 * `not_found` or `permission_denied`.
 */
export interface AppSecrets {
  /** @throws Failure `resource_exhausted` when 5 are active. */
  create(tx: Tx, caller: Caller, clientId: string): Promise<{ secret: OAuthSecret; text: string }>;
  /** Newest first. */
  list(tx: Tx, caller: Caller, clientId: string): Promise<readonly OAuthSecret[]>;
  /** Takes effect at once. Tokens that were issued with the secret stay valid (spec/oauth.md 8). */
  revoke(tx: Tx, caller: Caller, clientId: string, id: string): Promise<void>;
}

export function appSecrets({ clock, ids, random }: AppParts): AppSecrets {
  return {
    async create(tx, caller, clientId) {
      // The row lock makes counting and inserting atomic.
      await lockEditable(tx, caller, clientId);
      if ((await tx.apps.secrets(clientId)).length >= activeSecretsMax) {
        throw new Failure("resource_exhausted", `an app has at most ${activeSecretsMax} active secrets`);
      }
      const made = newSecret({ now: clock.now(), ids, random }, clientId);
      await tx.apps.insertSecret(made.secret);
      tx.audit.note({ subject: made.secret.id, after: { clientId, last4: made.secret.last4 } });
      return made;
    },

    async list(tx, caller, clientId) {
      checkEditable(await tx.apps.find(clientId), caller);
      return tx.apps.secrets(clientId);
    },

    async revoke(tx, caller, clientId, id) {
      await lockEditable(tx, caller, clientId);
      if (!(await tx.apps.revokeSecret(clientId, id, clock.now()))) throw notFound("secret");
      tx.audit.note({ subject: id, before: { clientId } });
    },
  };
}

/** The state of an app that decides about its requests to the OAuth endpoints. */
export interface OAuthClient {
  readonly clientId: string;
  /** Null for the command line. */
  readonly spaceId: string | null;
  readonly scopes: readonly ScopeName[];
  readonly confidentialOnly: boolean;
  readonly deviceAuthorization: boolean;
  readonly deleted: boolean;
  /** SHA-256 of each active secret, lower-case hex. */
  readonly secretDigests: readonly string[];
}

export interface AuthenticatedClient {
  readonly client: OAuthClient;
  readonly bySecret: boolean;
}

export interface ClientRows {
  /** One statement: the app with its active secrets, also when it is deleted. */
  find(clientId: string): Promise<OAuthClient | null>;
  /** Whether an app that is not deleted allows an origin. @param clientId null: any app. */
  allowsOrigin(clientId: string | null, origin: string): Promise<boolean>;
}

/** True for a text that has the form of a client id of an installation (spec/oauth.md 7). */
export const isClientId = (text: string): boolean => /^[A-Za-z0-9_-]{1,200}$/.test(text);

/** Whether a secret is one of the client's active ones. Compares with every one, each in constant time. */
export function isSecretOf(client: OAuthClient | null, secret: string): boolean {
  const presented = createHash("sha256").update(secret).digest();
  const matches = (client?.secretDigests ?? []).map((digest) =>
    timingSafeEqual(presented, toDigestSize(Buffer.from(digest, "hex"))),
  );
  return matches.includes(true);
}

/** Replaces a malformed digest by zeros: it matches no secret, and `timingSafeEqual` does not throw. */
const toDigestSize = (digest: Buffer): Buffer => (digest.length === 32 ? digest : Buffer.alloc(32));
