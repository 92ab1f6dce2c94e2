import type { MemberStatus, Role } from "../core/accounts/account.ts";
import type { GrantableRole, MigratedRole, TeamUserFilter } from "../core/teams/team-user.ts";
import { DelegationState, MigratedProfileRole, TeamMemberRole, UserStatus } from "../gen/proto/team/v2/team_user_pb.ts";

/** Members' statuses as they are sent. */
export const statusValues: Readonly<Record<MemberStatus, UserStatus>> = {
  active: UserStatus.ACTIVE,
  inactive: UserStatus.INACTIVE,
  removed: UserStatus.REMOVED,
};

/** Undefined: not given. */
export const statusWords: Readonly<Record<UserStatus, MemberStatus | undefined>> = {
  [UserStatus.UNSPECIFIED]: undefined,
  [UserStatus.ACTIVE]: "active",
  [UserStatus.INACTIVE]: "inactive",
  [UserStatus.REMOVED]: "removed",
};

/** Roles as they are sent. */
export const roleValues: Readonly<Record<Role, TeamMemberRole>> = {
  owner: TeamMemberRole.OWNER,
  super_admin: TeamMemberRole.SUPER_ADMIN,
  admin: TeamMemberRole.ADMIN,
  member: TeamMemberRole.MEMBER,
  guest: TeamMemberRole.GUEST,
};

const grantable: readonly GrantableRole[] = ["super_admin", "admin", "member", "guest"];

/** Undefined for the owner's, which the fields' rules refuse, and where none is given. */
export const grantableRole = (value: TeamMemberRole): GrantableRole | undefined => grantable.find((role) => roleValues[role] === value);

/** Undefined: no filter. */
export const delegationWords: Readonly<Record<DelegationState, TeamUserFilter["delegation"]>> = {
  [DelegationState.UNSPECIFIED]: undefined,
  [DelegationState.DELEGATED]: "delegated",
  [DelegationState.HAS_DELEGATES]: "has_delegates",
  [DelegationState.NONE]: "none",
};

/** Undefined: refused. */
export const migratedRoles: Readonly<Record<MigratedProfileRole, MigratedRole | undefined>> = {
  [MigratedProfileRole.UNSPECIFIED]: undefined,
  [MigratedProfileRole.MEMBER]: "member",
  [MigratedProfileRole.FREE_GUEST]: "free_guest",
  [MigratedProfileRole.DEACTIVATED]: "deactivated",
};
