/** The values of the wire, without the prefixes of their enums (spec/enterprise.md 4.1). */
export type Status = "ACTIVE" | "INACTIVE" | "REMOVED";
export type Role = "OWNER" | "SUPER_ADMIN" | "ADMIN" | "MEMBER" | "GUEST";
export type Delegation = "DELEGATED" | "HAS_DELEGATES" | "NONE";

/** A member as specified; a removed one is its own tombstone (spec/enterprise.md 4.3, 5.8). */
export interface Member {
  readonly id: string;
  readonly createdAt: number;
  email: string;
  name: string | undefined;
  role: Role;
  status: Status;
  delegation: { readonly to: string; readonly at: number; readonly originalEmail: string } | undefined;
}

/** A credential of a member, and whether it has permanently ended. */
export interface Credential {
  readonly kind: "key" | "session" | "token" | "refresh" | "code" | "link";
  readonly holder: string;
  ended: boolean;
  /** Presents it, and returns whether it was admitted. */
  readonly opens: () => Promise<boolean>;
  /** The headers that present it on a call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Single-use credentials: tried only when they must have ended. */
export const singleUse: ReadonlySet<Credential["kind"]> = new Set(["refresh", "code", "link"]);

/** A running task of a member. */
export interface Work {
  readonly id: string;
  readonly holder: string;
  status: "running" | "stopped";
}

/** A successful change, as the audit log must contain it. */
export interface Change {
  readonly requestId: string;
  readonly method: string;
  readonly subject: string;
}

/** The expected state of a team. */
export interface Team {
  /** In the order of their creation, including tombstones. */
  readonly members: Member[];
  readonly credentials: Credential[];
  readonly work: Work[];
  readonly changes: Change[];
  /** The domain of `delegate-<id>@` (spec/enterprise.md 5). */
  readonly domain: string;
}

export const currentMembers = (team: Team): readonly Member[] =>
  team.members.filter(({ status }) => status !== "REMOVED");

export const heldBy = (team: Team, holder: Member): readonly Member[] =>
  currentMembers(team).filter(({ delegation }) => delegation?.to === holder.id);

/** The named member: by id first, or by the current address; a tombstone is never found. */
export const memberOf = (
  team: Team,
  ref: { readonly id?: string | undefined; readonly email?: string | undefined },
): Member | undefined =>
  currentMembers(team).find(({ id, email }) =>
    ref.id === undefined ? email === ref.email?.toLowerCase() : id === ref.id,
  );

/** The delegation state of a member. */
export function delegationOf(team: Team, member: Member): Delegation {
  if (member.delegation) return "DELEGATED";
  return heldBy(team, member).length > 0 ? "HAS_DELEGATES" : "NONE";
}

/** Whether a credential must grant access now (spec/decisions.md 5, 6). */
export function isActive(team: Team, { ended, holder }: Credential): boolean {
  return !ended && memberOf(team, { id: holder })?.status === "ACTIVE";
}
