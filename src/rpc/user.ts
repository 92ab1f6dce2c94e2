import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { Caller, CallerCredential } from "../core/accounts/caller.ts";
import type { Tx } from "../core/store.ts";
import { CredentialKind, type GetCurrentUserResponseSchema, type UserService } from "../gen/proto/user/v2/user_service_pb.ts";
import { roleValues } from "./team.ts";

type Me = MessageInitShape<typeof GetCurrentUserResponseSchema>;

/** No access option of user.me admits a worker. */
const credentialKinds: Readonly<Record<CallerCredential["kind"], CredentialKind>> = {
  key: CredentialKind.KEY,
  token: CredentialKind.TOKEN,
  session: CredentialKind.SESSION,
  worker: CredentialKind.UNSPECIFIED,
};

/** user.me: an inexpensive check of a credential (spec/api.md 8.33). A token is answered without a statement. */
export const userHandlers: Handlers<typeof UserService> = {
  async getCurrentUser(tx, caller) {
    const { accountId: userId, spaceId: id, credential } = caller;
    const me = { message: "ok", userId, credentialKind: credentialKinds[credential.kind] };
    if (credential.kind === "token") return { ...me, space: { id }, scopes: [...credential.scopes] };
    return { ...me, ...(await personOf(tx, caller)) };
  },
};

/** What only the person's own credentials show. */
async function personOf(tx: Tx, { accountId, spaceId: id, role }: Caller): Promise<Me> {
  const profile = await tx.accounts.profile(accountId, id);
  const teamName = profile?.teamName ?? null;
  return {
    space: { id, ...(teamName === null ? {} : { name: teamName }) },
    ...(profile && { email: profile.email, locale: profile.locale }),
    ...(profile?.name ? { name: profile.name } : {}),
    ...(role === null ? {} : { role: roleValues[role] }),
  };
}
