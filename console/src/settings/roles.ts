import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { words } from "../words.ts";

const titles: Readonly<Partial<Record<TeamMemberRole, string>>> = words(
  {
    [TeamMemberRole.OWNER]: "Owner",
    [TeamMemberRole.SUPER_ADMIN]: "Super admin",
    [TeamMemberRole.ADMIN]: "Admin",
    [TeamMemberRole.MEMBER]: "Member",
    [TeamMemberRole.GUEST]: "Guest",
  },
  {
    [TeamMemberRole.OWNER]: "Inhaber",
    [TeamMemberRole.SUPER_ADMIN]: "Super-Admin",
    [TeamMemberRole.ADMIN]: "Admin",
    [TeamMemberRole.MEMBER]: "Mitglied",
    [TeamMemberRole.GUEST]: "Gast",
  },
);

export const roleTitle = (role: TeamMemberRole): string => titles[role] ?? "";

const optionsOf = (...roles: readonly TeamMemberRole[]) =>
  roles.map((role) => [role, roleTitle(role)] as const);

/** The roles that a member can be given. */
export const memberRoles = optionsOf(
  TeamMemberRole.SUPER_ADMIN,
  TeamMemberRole.ADMIN,
  TeamMemberRole.MEMBER,
  TeamMemberRole.GUEST,
);

/** The roles that a group of the identity provider can give. */
export const groupRoles = optionsOf(TeamMemberRole.ADMIN, TeamMemberRole.MEMBER, TeamMemberRole.GUEST);
