import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Caller, CallerCredential } from "../core/accounts/caller.ts";
import { updateProfile } from "../core/accounts/profile.ts";
import type { ListedSession, OwnSessions } from "../core/sign-in/own-sessions.ts";
import type { ListedSpace, OwnSpaces } from "../core/sign-in/own-spaces.ts";
import type { Tx } from "../core/store.ts";
import { AccountService, type OwnSpaceSchema } from "../gen/proto/settings/v1/account_service_pb.ts";
import type { SessionSchema } from "../gen/proto/settings/v1/session_pb.ts";
import {
  CredentialKind,
  type GetCurrentUserResponseSchema,
  UserService,
} from "../gen/proto/user/v2/user_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { roleValues } from "./team.ts";
import { seconds } from "./wire-values.ts";

type Me = MessageInitShape<typeof GetCurrentUserResponseSchema>;

/** No access option of user.me admits a worker. */
const credentialKinds: Readonly<Record<CallerCredential["kind"], CredentialKind>> = {
  key: CredentialKind.KEY,
  token: CredentialKind.TOKEN,
  session: CredentialKind.SESSION,
  worker: CredentialKind.UNSPECIFIED,
};

/**
 * user.me: an inexpensive check of a credential (spec/api.md 8.33). A token is answered without a statement.
 */
export const userHandlers = implement(UserService, {
  async getCurrentUser(tx, caller) {
    const { accountId, spaceId, credential } = caller;
    const me = { message: "ok", userId: accountId, credentialKind: credentialKinds[credential.kind] };
    if (credential.kind === "token") return { ...me, space: { id: spaceId }, scopes: [...credential.scopes] };
    const operator = credential.kind === "session" ? { operator: credential.operator } : {};
    return { ...me, ...(await personOf(tx, caller)), ...operator, ...limitsOf(caller) };
  },
});

const limitsOf = ({ credential, within }: Caller): { scopes?: string[]; projectIds?: string[] } => ({
  ...(credential.kind === "key" && credential.scopes !== null ? { scopes: [...credential.scopes] } : {}),
  ...(within === undefined ? {} : { projectIds: [...within.projectIds] }),
});

/** What only the person's own credentials show. */
async function personOf(tx: Tx, { accountId, spaceId, role }: Caller): Promise<Me> {
  const profile = await tx.accounts.profile(accountId, spaceId);
  const teamName = profile?.teamName ?? null;
  return {
    space: { id: spaceId, ...(teamName === null ? {} : { name: teamName }) },
    ...(profile && { email: profile.email, locale: profile.locale }),
    ...(profile?.name ? { name: profile.name } : {}),
    ...(role === null ? {} : { role: roleValues[role] }),
  };
}

/** The caller's own profile, sessions and spaces (spec/decisions.md 57, 80). */
export const accountHandlers = (sessions: OwnSessions, spaces: OwnSpaces) =>
  implement(AccountService, {
    async updateProfile(tx, caller, edit) {
      const { name, locale } = await updateProfile(tx, caller, edit);
      return { locale, ...(name === null ? {} : { name }) };
    },
    async listSessions(tx, caller) {
      return { data: (await sessions.list(tx, caller)).map(sessionMessage) };
    },
    async revokeSession(tx, caller, { id }) {
      await sessions.revoke(tx, caller, id);
      return {};
    },
    async listSpaces(tx, caller) {
      return { data: (await spaces.list(tx, caller)).map(spaceMessage) };
    },
    async switchSpace(tx, caller, { spaceId }) {
      return { space: spaceMessage(await spaces.switchTo(tx, caller, spaceId)) };
    },
  });

const spaceMessage = ({ spaceId, team, isCurrent }: ListedSpace) =>
  ({
    id: spaceId,
    current: isCurrent,
    ...(team && { teamName: team.name, role: roleValues[team.role] }),
  }) satisfies MessageInitShape<typeof OwnSpaceSchema>;

const sessionMessage = ({ id, createdAt, expiresAt, teamName, isCurrent }: ListedSession) =>
  ({
    id,
    current: isCurrent,
    createdAt: seconds(createdAt),
    expiresAt: seconds(expiresAt),
    ...(teamName === null ? {} : { teamName }),
  }) satisfies MessageInitShape<typeof SessionSchema>;
