import type { Tx } from "../store.ts";

/** Roles in a team (spec/enterprise.md 4.1). */
export const roles = ["owner", "super_admin", "admin", "member", "guest"] as const;
export type Role = (typeof roles)[number];

/** A person. Everything that a person owns belongs to an (account, space) pair. */
export interface Account {
  /** A UUID. */
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string | null;
  readonly locale: string;
  readonly createdAt: number;
}

/** A team has one space and one owner. */
export interface Team {
  readonly id: string;
  readonly spaceId: string;
  /** Unique in the installation; `atp key --team` selects it. */
  readonly name: string;
  readonly createdAt: number;
}

/** A tenant: one for each team, one for each account created with `--personal`. */
export interface Space {
  readonly id: string;
  readonly kind: "team" | "personal";
}

export type MemberStatus = "active" | "inactive" | "removed";

/** An account's membership in a team (spec/enterprise.md 4.3). */
export interface Member {
  /** The `team_user_id`. */
  readonly id: string;
  readonly teamId: string;
  readonly spaceId: string;
  readonly accountId: string;
  /** The address in this team: delegation changes it here, never on the account. */
  readonly email: string;
  readonly role: Role;
  readonly status: MemberStatus;
  readonly createdAt: number;
}

/** An account as its person sees it in one of its spaces. */
export interface Profile extends Pick<Account, "email" | "name" | "locale"> {
  /** The identity provider of the installation has verified the address: it signs the account in. */
  readonly emailVerified: boolean;
  /** The name of the space's team; null in a personal space. */
  readonly teamName: string | null;
}

/** Accounts, teams, spaces and memberships. */
export interface AccountRows {
  insertAccount(account: Account & { operator?: boolean }): Promise<void>;
  insertTeam(team: Team): Promise<void>;
  insertSpace(space: Space & { createdAt: number; accountId: string | null }): Promise<void>;
  insertMember(member: Member): Promise<void>;
  byEmail(email: string): Promise<Account | null>;
  setProfile(accountId: string, set: Partial<Pick<Account, "name" | "locale">>): Promise<void>;
  /** Whether the account is an operator of the installation. */
  setOperator(accountId: string, operator: boolean): Promise<void>;
  /** One statement: account and team. */
  profile(accountId: string, spaceId: string): Promise<Profile | null>;
  /** The oldest team: the default of commands that name no team. */
  firstTeam(): Promise<Team | null>;
  teamByName(name: string): Promise<Team | null>;
  /** Null in a personal space. */
  teamOf(spaceId: string): Promise<Team | null>;
  /** Null if the owner is removed. */
  owner(teamId: string): Promise<Member | null>;
  member(teamId: string, accountId: string): Promise<Member | null>;
  /** The owner of a space's team who is not removed; null in a personal space. */
  ownerOf(spaceId: string): Promise<Member | null>;
  /** A present or past member of a space's team, by `team_user_id`. */
  memberById(spaceId: string, id: string): Promise<Member | null>;
  setRole(memberId: string, role: Role): Promise<void>;
  renameTeam(teamId: string, name: string): Promise<void>;
  /** The personal space of an account, if it has one. */
  personalSpace(accountId: string): Promise<Space | null>;
  /** Takes a row lock on the space, so that limits per space hold under a race. */
  lockSpace(spaceId: string): Promise<void>;
  /** Takes a row lock on the account, so that limits per account hold under a race. */
  lock(accountId: string): Promise<void>;
}

/**
 * Finds and locks the account of an email address, so that it is not deleted before this change ends; null if
 * there is none.
 */
export async function lockAccountByEmail(tx: Tx, email: string): Promise<Account | null> {
  const account = await tx.accounts.byEmail(email);
  if (account === null) return null;
  await tx.accounts.lock(account.id);
  // It may have been deleted before the lock was taken.
  return tx.accounts.byEmail(email);
}
