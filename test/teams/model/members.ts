/** The words of the wire, without the prefixes of their enums (contract/enterprise.md 4.1). */
export type Status = "ACTIVE" | "INACTIVE" | "REMOVED";
export type Role = "OWNER" | "SUPER_ADMIN" | "ADMIN" | "MEMBER" | "GUEST";
export type Delegation = "DELEGATED" | "HAS_DELEGATES" | "NONE";

/** A member as the contract has one; a removed one is its own tombstone (contract/enterprise.md 4.3, 5.8). */
export interface Member {
  readonly id: string;
  readonly createdAt: number;
  email: string;
  name: string | undefined;
  role: Role;
  status: Status;
  delegation: { readonly to: string; readonly at: number; readonly originalEmail: string } | undefined;
}

/** Something by which a member is let in, and whether it was ended for good. */
export interface Credential {
  readonly kind: "key" | "session" | "token" | "refresh" | "code" | "link";
  readonly holder: string;
  ended: boolean;
  /** Shows it, and says whether it was let in. */
  readonly opens: () => Promise<boolean>;
  /** What else a call needs to show it. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Shown once at most, so these are tried when they are to be dead. */
export const spent: ReadonlySet<Credential["kind"]> = new Set(["refresh", "code", "link"]);

/** A task that somebody left running. */
export interface Work {
  readonly id: string;
  readonly holder: string;
  status: "running" | "stopped";
}

/** A change that was answered, as the audit log is to have it. */
export interface Change {
  readonly requestId: string;
  readonly method: string;
  readonly subject: string;
}

/** A team as it should be by now. */
export interface Team {
  /** In the order of their creation; tombstones among them. */
  readonly members: Member[];
  readonly credentials: Credential[];
  readonly work: Work[];
  readonly changes: Change[];
  /** What stands behind `delegate-<id>@` (contract/enterprise.md 5). */
  readonly domain: string;
}

export const living = (team: Team): readonly Member[] => team.members.filter(({ status }) => status !== "REMOVED");

export const heldBy = (team: Team, holder: Member): readonly Member[] =>
  living(team).filter(({ delegation }) => delegation?.to === holder.id);

/** Who is meant: by id, which wins, or by the present address; a tombstone is nobody. */
export const memberOf = (team: Team, ref: { readonly id?: string | undefined; readonly email?: string | undefined }): Member | undefined =>
  living(team).find(({ id, email }) => (ref.id === undefined ? email === ref.email?.toLowerCase() : id === ref.id));

/** How a member stands to delegation. */
export function standing(team: Team, member: Member): Delegation {
  if (member.delegation) return "DELEGATED";
  return heldBy(team, member).length > 0 ? "HAS_DELEGATES" : "NONE";
}

/** Whether a credential is to open anything now (contract/decisions.md 5, 6). */
export function works(team: Team, { ended, holder }: Credential): boolean {
  return !ended && memberOf(team, { id: holder })?.status === "ACTIVE";
}
