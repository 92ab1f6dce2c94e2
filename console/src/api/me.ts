import { useQuery } from "@connectrpc/connect-query";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { UserService } from "#proto/user/v2/user_service_pb.ts";

/** The signed-in person; undefined until it is known. */
export const useMe = () => useQuery(UserService.method.getCurrentUser, {}, { staleTime: 60_000 });

/** Whether the person may see pages of the team's administration, and of the installation's. A personal space has no team. */
export function useRole(): { isOwner: boolean; isAdmin: boolean; isTeam: boolean; isOperator: boolean } {
  const { data } = useMe();
  const role = data?.role;
  return {
    isTeam: role !== undefined,
    isOperator: data?.operator === true,
    isOwner: role === undefined || role === TeamMemberRole.OWNER,
    isAdmin: role === undefined || role === TeamMemberRole.OWNER || role === TeamMemberRole.SUPER_ADMIN,
  };
}
