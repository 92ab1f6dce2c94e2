import { apiKeys } from "../core/keys/api-keys.ts";
import { ownSessions } from "../core/sign-in/own-sessions.ts";
import { ownSpaces } from "../core/sign-in/own-spaces.ts";
import { apiKeyHandlers } from "../rpc/api-key.ts";
import { accountHandlers, userHandlers } from "../rpc/user.ts";
import type { CreateModule } from "./module.ts";

/** Users, their accounts and their API keys. */
export const createAccounts: CreateModule = (context) => ({
  handlers: [
    userHandlers,
    accountHandlers(ownSessions(context.clock), ownSpaces(context.clock)),
    apiKeyHandlers(apiKeys(context)),
  ],
});
