import type { Handlers } from "../call/handlers.ts";
import type { UserService } from "../gen/proto/user/v2/user_service_pb.ts";

/** user.me: a cheap check of a credential (contract/v2.md 8.33). */
export const userHandlers: Handlers<typeof UserService> = {
  getCurrentUser: async (_tx, { accountId }) => ({ message: "ok", userId: accountId }),
};
