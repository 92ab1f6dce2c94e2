import type { Member, MemberStatus, Role } from "../accounts/account.ts";
import type { Caller, Scope } from "../accounts/caller.ts";
import { invalidArgument } from "../failure.ts";
import type { Tx } from "../store.ts";

/** The address rule of the wires; the local part is at most 64 characters (RFC 5321). */
const form =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const lengthMax = 254;

/** The address of a delegated profile. Its mail is not read (spec/enterprise.md 5, 13). */
export const delegateAddress = (id: string, domain: string): string =>
  `delegate-${id}@${domain}`.toLowerCase();

/**
 * Reads the address of a new member, in lower case: letter case does not distinguish people.
 *
 * @throws Failure `invalid_argument` for a malformed address, and for one reserved for delegated profiles.
 */
export function readAddress(text: string, delegateDomain: string): string {
  const email = text.toLowerCase();
  if (email.length > lengthMax || !form.test(email))
    throw invalidArgument("email", "must be an e-mail address of at most 254 characters");
  if (email.startsWith("delegate-") && email.endsWith(`@${delegateDomain}`)) {
    throw invalidArgument("email", "is reserved for delegated profiles");
  }
  return email;
}

/** A member in the team's management (spec/enterprise.md 4.3). */
export interface TeamUser {
  /** The `team_user_id`. */
  readonly id: string;
  readonly accountId: string;
  /** The delegate address while the profile is delegated. */
  readonly email: string;
  /** The name set by the team, or else the account's, once the person has signed in to this team. */
  readonly name: string | null;
  readonly status: MemberStatus;
  readonly role: Role;
  /** The member that holds the profile, and the previous address; null unless it is delegated. */
  readonly delegation: { to: string; at: number; originalEmail: string } | null;
  /** The identity provider's id of the person (RFC 7643 3.1). */
  readonly externalId: string | null;
  readonly createdAt: number;
}

/** A profile that a member holds (spec/enterprise.md 4.3). */
export interface HeldProfile {
  readonly id: string;
  /** The name, or else the address before the delegation. */
  readonly displayName: string;
  readonly role: Role;
  readonly delegatedAt: number;
}

/** A member with the profiles that they hold, for single-record answers. */
export interface TeamUserDetail {
  readonly user: TeamUser;
  readonly holds: readonly HeldProfile[];
}

/** A changed member, and the profiles that returned to the pool because of the change. */
export interface CascadeResult extends TeamUserDetail {
  readonly cascade: readonly Pick<HeldProfile, "id" | "displayName">[];
  /** What a change would end; only for a dry run of a change that ends access. */
  readonly effects?: MembershipEffects | undefined;
}

/** Numbers of objects that end with a membership, or with its change. */
export interface MembershipEffects {
  readonly sessions: number;
  readonly tokens: number;
  readonly runningTasks: number;
  readonly keys: number;
  readonly grants: number;
  readonly webhooks: number;
  readonly connectors: number;
  readonly skills: number;
  readonly links: number;
}

export interface TeamPerson {
  readonly id: string;
  readonly accountId: string;
  readonly name: string | null;
  readonly role: Role;
  readonly email: string;
}

/** A search in the directory, and a page of it. */
export interface DirectoryFilter {
  /** A part of the name, in any letter case; absent: all people. */
  readonly query?: string | undefined;
  /** Whether the search includes addresses. */
  readonly byEmail: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** One page of the directory, and the number of all people. */
export interface DirectoryPage {
  readonly people: readonly TeamPerson[];
  readonly total: number;
}

/** A reference by id, which takes precedence, or by the current address. */
export interface TeamUserRef {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
}

export interface TeamUserFilter {
  /** Absent: all members except removed ones. */
  readonly status?: MemberStatus | undefined;
  readonly delegation?: "delegated" | "has_delegates" | "none" | undefined;
  /** The address, in any letter case. */
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A role that can be granted: any but owner. */
export type GrantableRole = Exclude<Role, "owner">;

export interface NewTeamUser {
  readonly email: string;
  readonly role: GrantableRole;
  readonly name?: string | undefined;
  readonly externalId?: string | undefined;
}

/** A requested change; `removed` cannot be combined with another. */
export interface TeamUserChange {
  /**
   * A new address that no other member of the team has; `failed_precondition` while the profile is delegated.
   */
  readonly email?: string | undefined;
  readonly status?: MemberStatus | undefined;
  readonly role?: GrantableRole | undefined;
  readonly externalId?: string | null | undefined;
}

/** The state of a delegated profile (spec/enterprise.md 5.5). */
export type MigratedRole = "member" | "free_guest" | "deactivated";

/**
 * The members of the caller's team (spec/enterprise.md 5). Each change locks the team's space first, so that
 * changes of one team run sequentially.
 *
 * All methods throw Failure `not_found` for a person who is not in the team; changes throw
 * `failed_precondition` for the owner, and `permission_denied` for a super admin who grants or revokes that
 * role (spec/decisions.md 2).
 */
export interface TeamUsers {
  list(
    tx: Tx,
    caller: Caller,
    filter: TeamUserFilter,
  ): Promise<{ users: readonly TeamUser[]; total: number }>;
  find(tx: Tx, caller: Caller, ref: TeamUserRef): Promise<TeamUserDetail>;
  /** @throws Failure `already_exists` when a current member has the address (or external id). */
  create(tx: Tx, caller: Caller, member: NewTeamUser): Promise<TeamUser>;
  /** @param dryRun shows the result and the effects; nothing is written. */
  update(
    tx: Tx,
    caller: Caller,
    ref: TeamUserRef,
    change: TeamUserChange,
    dryRun?: boolean,
  ): Promise<CascadeResult>;
  delegate(tx: Tx, caller: Caller, id: string, to: Delegate, dryRun?: boolean): Promise<CascadeResult>;
  reclaim(tx: Tx, caller: Caller, id: string): Promise<TeamUserDetail & { previousDelegate: string }>;
  rename(tx: Tx, caller: Caller, id: string, name: string): Promise<TeamUserDetail>;
  remove(tx: Tx, caller: Caller, id: string, dryRun?: boolean): Promise<CascadeResult>;
  /** Active members who are not delegated, by name. */
  directory(tx: Tx, caller: Caller, filter: Omit<DirectoryFilter, "byEmail">): Promise<DirectoryPage>;
  /**
   * Renews the invitation of a member.
   *
   * @returns whether a link is mailed.
   * @throws Failure `failed_precondition` for a member who is not active or is delegated.
   */
  invite(tx: Tx, caller: Caller, id: string): Promise<boolean>;
}

export interface Delegate {
  /** The `team_user_id` of the assignee. */
  readonly id: string;
  readonly role: MigratedRole;
}

export interface NewMember extends Member {
  readonly name: string | null;
  readonly externalId: string | null;
}

/** The changes of a member's row; absent members stay as they are. */
export interface MemberChanges {
  readonly email?: string;
  readonly name?: string | null;
  readonly status?: MemberStatus;
  readonly role?: Role;
  readonly externalId?: string | null;
  readonly delegation?: TeamUser["delegation"];
  readonly removedAt?: number;
}

/** One page of members, and the number of all. */
export interface MemberPage {
  readonly users: readonly TeamUser[];
  readonly total: number;
}

/** Memberships for the team's management, always read with their space. */
export interface MemberRows {
  /** One statement, oldest first. */
  list(spaceId: string, filter: TeamUserFilter): Promise<MemberPage>;
  /** A member who is not removed, by id, which takes precedence, or by the current address; one statement. */
  find(spaceId: string, ref: TeamUserRef): Promise<TeamUser | null>;
  /** The profiles that a member holds, oldest delegation first; one statement. */
  listHeldProfiles(id: string): Promise<readonly HeldProfile[]>;
  /** One statement, by name. */
  directory(spaceId: string, filter: DirectoryFilter): Promise<DirectoryPage>;
  /** What an account has in a space; one statement. */
  countEffects(scope: Pick<Scope, "accountId" | "spaceId">, now: number): Promise<MembershipEffects>;
  insert(member: NewMember): Promise<void>;
  update(spaceId: string, id: string, changes: MemberChanges): Promise<void>;
  /**
   * Whether the account is an active member who is not delegated. Locks the row until this change
   * ends: a change that ends the membership waits, and sees the rows of this one.
   */
  lockActive(scope: Pick<Scope, "accountId" | "spaceId">): Promise<boolean>;
  /** Deletes an account without a team and a space; false when it has one. */
  deleteAccount(accountId: string): Promise<boolean>;
}
