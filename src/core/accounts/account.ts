/** Roles in a team (contract/enterprise.md 4.1). */
export const roles = ["owner", "super_admin", "admin", "member", "guest"] as const;
export type Role = (typeof roles)[number];

/** A person. Everything that person owns hangs on (account, space). */
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
  /** Unique in the installation; `npm run key -- --team` names it. */
  readonly name: string;
  readonly createdAt: number;
}

/** A tenant: one for each team, one for each account made with `--personal`. */
export interface Space {
  readonly id: string;
  readonly kind: "team" | "personal";
}

export type MemberStatus = "active" | "inactive" | "removed";

/** An account's place in a team (contract/enterprise.md 4.3). */
export interface Member {
  /** The `team_user_id`. */
  readonly id: string;
  readonly teamId: string;
  readonly spaceId: string;
  readonly accountId: string;
  /** The team's own spelling of the address: delegation rewrites it here, never on the account. */
  readonly email: string;
  readonly role: Role;
  readonly status: MemberStatus;
  readonly createdAt: number;
}

/** Accounts, teams, spaces and who is in which. */
export interface AccountRows {
  insertAccount(account: Account): Promise<void>;
  insertTeam(team: Team): Promise<void>;
  insertSpace(space: Space & { readonly createdAt: number; readonly accountId: string | null }): Promise<void>;
  insertMember(member: Member): Promise<void>;
  byEmail(email: string): Promise<Account | null>;
  /** The oldest team: what commands mean when they name none. */
  firstTeam(): Promise<Team | null>;
  teamByName(name: string): Promise<Team | null>;
  /** The team of a space; null in a personal one. */
  teamOf(spaceId: string): Promise<Team | null>;
  /** The living owner of a team. */
  owner(teamId: string): Promise<Member | null>;
  member(teamId: string, accountId: string): Promise<Member | null>;
  /** The living owner of a space's team; null in a personal space. */
  ownerOf(spaceId: string): Promise<Member | null>;
  /** Anybody who is or was in a space's team, by `team_user_id`. */
  memberById(spaceId: string, id: string): Promise<Member | null>;
  setRole(memberId: string, role: Role): Promise<void>;
  /** The personal space of an account, if it has one. */
  personalSpace(accountId: string): Promise<Space | null>;
  /** Takes a row lock on the space, so that what is counted per space holds under a race. */
  lockSpace(spaceId: string): Promise<void>;
  /** Takes a row lock on the account, so that counted limits hold under a race. */
  lock(accountId: string): Promise<void>;
}
