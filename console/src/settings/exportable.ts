import { useQuery } from "@connectrpc/connect-query";
import { UserStatus } from "#proto/team/v2/team_user_pb.ts";
import { TeamUserManagementApiV2Service } from "#proto/team/v2/team_user_service_pb.ts";
import { useMe } from "../api/me.ts";
import { words } from "../words.ts";

const text = words(
  { removed: (name: string) => `${name} (removed)` },
  { removed: (name: string) => `${name} (entfernt)` },
);

const { listUsers } = TeamUserManagementApiV2Service.method;

/**
 * The people whose data can be exported, as pairs of address and name: present members, then removed ones.
 */
export function useExportable(): readonly (readonly [string, string])[] {
  const me = useMe().data;
  const present = useQuery(listUsers, { limit: 1000 });
  const removed = useQuery(listUsers, { limit: 1000, statusFilter: UserStatus.REMOVED });
  return [
    ...(present.data?.users ?? []).map(
      ({ email, userName }) =>
        [email, userName ?? (email === me?.email ? me.name : undefined) ?? email] as const,
    ),
    ...(removed.data?.users ?? []).map(
      ({ email, userName }) => [email, text.removed(userName ?? email)] as const,
    ),
  ];
}
