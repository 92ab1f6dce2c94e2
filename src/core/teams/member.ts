import type { Member, MemberStatus, Role } from "../accounts/account.ts";
import type { Scope } from "../caller.ts";
import type { HeldProfile, TeamUser, TeamUserFilter, TeamUserRef } from "./team-user.ts";

/** A member before anything was done with them. */
export interface NewMember extends Member {
  readonly name: string | null;
  readonly externalId: string | null;
}

/** What may be changed of a member's row; absent stays as it is. */
export interface MemberChanges {
  readonly email?: string;
  readonly name?: string | null;
  readonly status?: MemberStatus;
  readonly role?: Role;
  readonly externalId?: string | null;
  readonly delegation?: TeamUser["delegation"];
  readonly removedAt?: number;
}

/** Members of one page, and how many there are over all pages. */
export interface MemberPage {
  readonly users: readonly TeamUser[];
  readonly total: number;
}

/** Memberships as the team's management sees them: never without their space. */
export interface MemberRows {
  /** One statement. The oldest come first. */
  list(spaceId: string, filter: TeamUserFilter): Promise<MemberPage>;
  /** A living member, by id, which wins, or by the present address; one statement. */
  find(spaceId: string, ref: TeamUserRef): Promise<TeamUser | null>;
  /** What a member holds, the oldest delegation first; one statement. */
  holds(id: string): Promise<readonly HeldProfile[]>;
  insert(member: NewMember): Promise<void>;
  update(spaceId: string, id: string, changes: MemberChanges): Promise<void>;
  /**
   * Whether the account is an active member who is not delegated. It stays so until this change
   * ends: whoever ends the membership waits, and sees what this change has made.
   */
  hold(scope: Pick<Scope, "accountId" | "spaceId">): Promise<boolean>;
  /** Erases an account that has no team and no space any more; false when it has one. */
  eraseAccount(accountId: string): Promise<boolean>;
}
