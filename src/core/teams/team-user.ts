import type { MemberStatus, Role } from "../accounts/account.ts";
import type { Caller } from "../caller.ts";
import type { Tx } from "../store.ts";

/** A member as the team's management shows them (contract/enterprise.md 4.3). */
export interface TeamUser {
  /** The `team_user_id`. */
  readonly id: string;
  readonly accountId: string;
  /** The delegate address while the profile is delegated. */
  readonly email: string;
  /** The team's own name, or else the account's, once that person has signed in to this team. */
  readonly name: string | null;
  readonly status: MemberStatus;
  readonly role: Role;
  /** The member that holds the profile, and the address before; null unless it is delegated. */
  readonly delegation: { readonly to: string; readonly at: number; readonly originalEmail: string } | null;
  /** What the identity provider calls the person (RFC 7643 3.1). */
  readonly externalId: string | null;
  readonly createdAt: number;
}

/** A profile that a member holds (contract/enterprise.md 4.3). */
export interface HeldProfile {
  readonly id: string;
  /** The name, or else the address before the delegation. */
  readonly displayName: string;
  readonly role: Role;
  readonly delegatedAt: number;
}

/** A member and what they hold: single-record answers. */
export interface TeamUserInFull {
  readonly user: TeamUser;
  readonly holds: readonly HeldProfile[];
}

/** A member who was changed, and the profiles that fell back to the pool because of it. */
export interface Cascaded extends TeamUserInFull {
  readonly cascade: readonly Pick<HeldProfile, "id" | "displayName">[];
}

/** By id, which wins, or by the present address. */
export interface TeamUserRef {
  readonly id?: string | undefined;
  readonly email?: string | undefined;
}

/** Which members, and which page of them. */
export interface TeamUserFilter {
  /** Absent: all that are there. Removed ones are shown only when asked for. */
  readonly status?: MemberStatus | undefined;
  readonly delegation?: "delegated" | "has_delegates" | "none" | undefined;
  /** The address, case aside. */
  readonly email?: string | undefined;
  readonly externalId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A role that can be given: never the owner's. */
export type GrantableRole = Exclude<Role, "owner">;

/** Whom to add. */
export interface NewTeamUser {
  readonly email: string;
  readonly role: GrantableRole;
  readonly name?: string | undefined;
  readonly externalId?: string | undefined;
}

/** What to change of a member; `removed` goes with nothing else. */
export interface TeamUserChange {
  /** Another address, which no other member of the team has; `precondition` while the profile is delegated. */
  readonly email?: string | undefined;
  readonly status?: MemberStatus | undefined;
  readonly role?: GrantableRole | undefined;
  readonly externalId?: string | null | undefined;
}

/** What becomes of a profile that is handed over (contract/enterprise.md 5.5). */
export type MigratedRole = "member" | "free_guest" | "deactivated";

/**
 * The members of the caller's team (contract/enterprise.md 5). Each change locks the
 * team's space first, so that two of one team follow each other.
 *
 * Failures of all: `absent` for nobody of the team; of changes `precondition` for the
 * owner, `forbidden` for a super admin who gives or takes away that role (contract/decisions.md 2).
 */
export interface TeamUsers {
  list(tx: Tx, caller: Caller, filter: TeamUserFilter): Promise<{ readonly users: readonly TeamUser[]; readonly total: number }>;
  find(tx: Tx, caller: Caller, ref: TeamUserRef): Promise<TeamUserInFull>;
  /** @throws Failure `exists` for the address (or external id) of a living member. */
  create(tx: Tx, caller: Caller, member: NewTeamUser): Promise<TeamUser>;
  update(tx: Tx, caller: Caller, ref: TeamUserRef, change: TeamUserChange): Promise<Cascaded>;
  delegate(tx: Tx, caller: Caller, id: string, toId: string, role: MigratedRole): Promise<TeamUserInFull>;
  reclaim(tx: Tx, caller: Caller, id: string): Promise<TeamUserInFull & { readonly previousDelegate: string }>;
  rename(tx: Tx, caller: Caller, id: string, name: string): Promise<TeamUserInFull>;
  remove(tx: Tx, caller: Caller, id: string): Promise<Cascaded>;
}
