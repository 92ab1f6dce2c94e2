import type { Caller } from "../accounts/caller.ts";
import type { Tx } from "../store.ts";

/**
 * The roles that a group can give, the highest first. Owner and super admin never come from a group
 * (spec/decisions.md 66).
 */
export const mappedRoles = ["admin", "member", "guest"] as const;
export type MappedRole = (typeof mappedRoles)[number];

/** Limits of a team (spec/decisions.md 66). */
export const groupsMax = 1000;
export const groupMembersMax = 2000;

/** A group of the team's identity provider (spec/enterprise.md 5.9). */
export interface Group {
  readonly id: string;
  readonly spaceId: string;
  /** Unique in the team in any letter case. */
  readonly displayName: string;
  readonly externalId: string | null;
  /** The role that the owner gives the members; null for none. */
  readonly role: MappedRole | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ListedGroup extends Group {
  readonly members: number;
}

export interface GroupMember {
  readonly groupId: string;
  /** The `team_user_id`. */
  readonly id: string;
  /** The name that the team shows, or else the address. */
  readonly display: string;
}

/** A filter and a page of groups; all conditions apply together. */
export interface GroupFilter {
  readonly id?: string | undefined;
  /** In any letter case. */
  readonly displayName?: string | undefined;
  readonly externalId?: string | undefined;
  /** Only groups of this member. */
  readonly memberId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The state that a provider gives a group. Absent members do not change. */
export interface GroupInput {
  readonly displayName?: string | undefined;
  /** Null: remove it. */
  readonly externalId?: string | null | undefined;
  /** The complete list of members, each a `team_user_id`. */
  readonly members?: ReadonlySet<string> | undefined;
}

/** The role of a person whom groups can change, and the role that groups give at this moment. */
export interface GroupRole {
  readonly id: string;
  readonly role: MappedRole;
  /** Null: the person is in no group with a role. */
  readonly mapped: MappedRole | null;
}

/**
 * The groups of the caller's team (spec/enterprise.md 5.9). Each change locks the team's space, changes the
 * roles of the people concerned in the same transaction, and notes them for the audit log.
 *
 * All methods throw Failure `not_found` for a group of another team.
 */
export interface Groups {
  list(tx: Tx, caller: Caller, filter: GroupFilter): Promise<GroupPage>;
  find(tx: Tx, caller: Caller, id: string): Promise<Group>;
  /** The members of groups that were found or listed, oldest member first. */
  members(tx: Tx, groupIds: readonly string[]): Promise<readonly GroupMember[]>;
  /**
   * @throws Failure `already_exists` for a name or an external id that a group has, `resource_exhausted`
   * beyond `groupsMax`, `invalid_argument` for an unknown member or more than `groupMembersMax`.
   */
  create(tx: Tx, caller: Caller, input: GroupInput & { displayName: string }): Promise<Group>;
  /** @throws Failure as `create`. */
  update(tx: Tx, caller: Caller, id: string, input: GroupInput): Promise<Group>;
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** Sets the role of a group, or removes it. */
  setRole(tx: Tx, caller: Caller, id: string, role: MappedRole | null): Promise<ListedGroup>;
}

export interface GroupPage {
  readonly groups: readonly ListedGroup[];
  readonly total: number;
}

/** Groups and their members, always read with their space. */
export interface GroupRows {
  /** One statement, oldest first. */
  list(spaceId: string, filter: GroupFilter): Promise<GroupPage>;
  find(spaceId: string, id: string): Promise<Group | null>;
  listMembers(groupIds: readonly string[]): Promise<readonly GroupMember[]>;
  /** The ids among these of members of the team who are not removed. */
  listKnown(spaceId: string, memberIds: readonly string[]): Promise<readonly string[]>;
  insert(group: Group): Promise<void>;
  update(group: Group): Promise<void>;
  /** Deletes the group with its list of members. */
  remove(spaceId: string, id: string): Promise<void>;
  addMembers(groupId: string, memberIds: readonly string[]): Promise<void>;
  removeMembers(groupId: string, memberIds: readonly string[]): Promise<void>;
  leaveAll(memberId: string): Promise<void>;
  /** The role that groups give to a member; null for none. */
  roleOf(memberId: string): Promise<MappedRole | null>;
  /**
   * The members whose roles groups can change: not the owner, super admins, removed members and delegated
   * profiles.
   */
  listRoles(spaceId: string, memberIds: readonly string[]): Promise<readonly GroupRole[]>;
  setRole(spaceId: string, memberIds: readonly string[], role: MappedRole): Promise<void>;
}
