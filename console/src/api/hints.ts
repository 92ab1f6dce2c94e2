import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";

/**
 * What a session may do, for pages and buttons. The server alone decides: `test/console/hints.test.ts`
 * compares them with its rule.
 */
export interface Hints {
  /** In a team's space. A personal space has no roles, and its person is the owner. */
  readonly isTeam: boolean;
  readonly isOperator: boolean;
  readonly isOwner: boolean;
  readonly isAdmin: boolean;
  readonly isGuest: boolean;
}

export const hintsOf = (role: TeamMemberRole | undefined, isOperator: boolean): Hints => ({
  isTeam: role !== undefined,
  isOperator,
  isOwner: role === undefined || role === TeamMemberRole.OWNER,
  isAdmin: role === undefined || role === TeamMemberRole.OWNER || role === TeamMemberRole.SUPER_ADMIN,
  isGuest: role === TeamMemberRole.GUEST,
});
