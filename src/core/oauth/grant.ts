import type { Caller, ScopeName } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import { byCreation, decodeCursor, type Page, type PageInput, pageOf } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { dayRange, dayStart } from "../usage/usage.ts";
import { checkEditable, type OAuthApp } from "./app.ts";
import type { AuthorizationState } from "./family.ts";

/**
 * The consent of a member to an app in the team's space. It is stored, so that consent is not requested
 * twice.
 */
export interface OAuthGrant {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly clientId: string;
  readonly scopes: readonly ScopeName[];
  readonly connectorUids: readonly string[];
  /** The app's generation at the latest approval. */
  readonly generation: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type GrantKey = Pick<OAuthGrant, "accountId" | "spaceId" | "clientId">;

export type GrantChange = Pick<OAuthGrant, "id" | "scopes" | "connectorUids" | "generation" | "updatedAt">;

/**
 * Active grants, one for each account, space and app. A revoked grant is not returned, and its tokens are
 * invalid.
 */
export interface GrantRows {
  find(key: GrantKey): Promise<OAuthGrant | null>;
  byId(id: string): Promise<OAuthGrant | null>;
  /** One statement: grant, app and membership, also revoked and deleted ones. */
  findState(id: string): Promise<AuthorizationState | null>;
  /** Newest first. */
  list(accountId: string, spaceId: string): Promise<OAuthGrant[]>;
  /** Returns the active grant with a lock on its row; inserts the argument when there is none. */
  lock(grant: OAuthGrant): Promise<OAuthGrant>;
  update(change: GrantChange): Promise<void>;
  /**
   * Use of the active grants of an account in a space, by grant id; costs at or after `since`, Unix
   * milliseconds.
   */
  uses(accountId: string, spaceId: string, since: number): Promise<ReadonlyMap<string, GrantUse>>;
  /** The active grants to an app of active members, latest first. */
  users(clientId: string, page: UsersPage): Promise<readonly AppUser[]>;
  countUsers(clientId: string): Promise<number>;
  /** Revokes the grant; its codes and tokens become invalid. False when there is no such active grant. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Returns how many. */
  revokeAll(accountId: string, spaceId: string, now: number): Promise<number>;
}

export interface GrantUse {
  /** When the app last got an access token, Unix milliseconds; null when it holds none. */
  readonly usedAt: number | null;
  /** Credits that the app spent, less refunds. */
  readonly credits: number;
}

export interface AppUser
  extends Pick<OAuthGrant, "id" | "accountId" | "createdAt">,
    Pick<GrantUse, "usedAt"> {
  readonly name: string;
}

/** A keyset page, latest grant first. */
export interface UsersPage {
  readonly limit: number;
  readonly after?: { value: number; id: string };
}

export interface AppUsers extends Page<AppUser> {
  readonly total: number;
}

export interface AuthorizedApp {
  readonly app: OAuthApp;
  readonly grant: OAuthGrant;
}

/** The grants that the caller gave to apps in this space (spec/oauth.md 1.4). */
export interface AuthorizedApps {
  /** Newest first, without deleted apps. Credits are those of the last 30 days. */
  list(tx: Tx, caller: Caller): Promise<readonly (AuthorizedApp & { use: GrantUse })[]>;
  /**
   * The users of an app that the caller may edit. @throws Failure `not_found`, `permission_denied`, or
   * `invalid_argument` for a foreign cursor.
   */
  users(tx: Tx, caller: Caller, clientId: string, page: Omit<PageInput, "order">): Promise<AppUsers>;
  /**
   * Revokes the grant: all codes and tokens that the app has for the caller become invalid, and its schedules
   * pause. @throws Failure `not_found`
   */
  revoke(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

/** The grants that an account gave to apps in a space, newest first, without deleted apps. */
export async function listAuthorizedApps(
  { apps: appRows, grants }: Pick<Tx, "apps" | "grants">,
  { accountId, spaceId }: Pick<GrantKey, "accountId" | "spaceId">,
): Promise<readonly AuthorizedApp[]> {
  const apps = new Map((await appRows.listGranted(accountId, spaceId)).map((app) => [app.clientId, app]));
  return (await grants.list(accountId, spaceId)).flatMap((grant) => {
    const app = apps.get(grant.clientId);
    return app ? [{ app, grant }] : [];
  });
}

export function authorizedApps(clock: Pick<Clock, "now">): AuthorizedApps {
  return {
    async list(tx, caller) {
      const uses = await tx.grants.uses(
        caller.accountId,
        caller.spaceId,
        dayStart(dayRange({ start: undefined, end: undefined }, clock.now()).from),
      );
      const listed = await listAuthorizedApps(tx, caller);
      return listed.map((each) => ({
        ...each,
        use: uses.get(each.grant.id) ?? { usedAt: null, credits: 0 },
      }));
    },
    async users(tx, caller, clientId, { limit, cursor }) {
      checkEditable(await tx.apps.find(clientId), caller);
      const { accountId, spaceId } = caller;
      const binding = { accountId, spaceId, operation: "ListOAuth2AppUsers", filter: { clientId } };
      const after = cursor ? decodeCursor(binding, cursor) : undefined;
      const rows = await tx.grants.users(clientId, { limit: limit + 1, ...(after && { after }) });
      return { ...pageOf(rows, limit, binding, byCreation), total: await tx.grants.countUsers(clientId) };
    },
    async revoke(tx, { accountId, spaceId }, clientId) {
      const grant = await tx.grants.find({ accountId, spaceId, clientId });
      const app = grant && (await tx.apps.find(clientId));
      if (!app || !(await tx.grants.revoke(grant.id, clock.now()))) throw notFound("grant");
      const { scopes, connectorUids } = grant;
      const paused = await tx.schedules.pauseAll(
        { accountId, spaceId, clientId },
        "grant_revoked",
        clock.now(),
      );
      tx.audit.note({
        subject: grant.id,
        before: { clientId, scopes, connectorUids },
        ...(paused === 0 ? {} : { after: { schedules: paused } }),
      });
    },
  };
}
