import type { Handlers } from "../call/handlers.ts";
import type { Ownership } from "../core/accounts/ownership.ts";
import type { TeamService } from "../gen/proto/settings/v1/team_service_pb.ts";

/** The team of the session's space (contract/decisions.md 7). A password takes a while to check: that is done before the transaction. */
export function teamHandlers(ownership: Ownership): Handlers<typeof TeamService> {
  return {
    transferOwnership: {
      async prepare({ password, teamUserId }, caller) {
        await ownership.prove(caller, password);
        return async (tx) => {
          await ownership.transfer(tx, caller, teamUserId);
          return {};
        };
      },
    },
  };
}
