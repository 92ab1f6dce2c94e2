import { useQuery } from "@connectrpc/connect-query";
import { UserService } from "#proto/user/v2/user_service_pb.ts";
import { type Hints, hintsOf } from "./hints.ts";

/** The signed-in person; undefined until it is known. */
export const useMe = () => useQuery(UserService.method.getCurrentUser, {}, { staleTime: 60_000 });

/** What the signed-in person may do. */
export function useRole(): Hints {
  const { data } = useMe();
  return hintsOf(data?.role, data?.operator === true);
}
