import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../call/handlers.ts";
import { invalid } from "../core/failure.ts";
import type { Cascaded, HeldProfile, TeamUser, TeamUserInFull, TeamUserRef, TeamUsers } from "../core/teams/team-user.ts";
import {
  type CascadeAffectedSchema,
  type DelegatedProfileSchema,
  DelegationState,
  TeamMemberRole,
  type TeamUserSchema,
  UserStatus,
} from "../gen/proto/team/v2/team_user_pb.ts";
import type { CreateUserRequest, GetUserRequest, TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { delegationWords, grantableRole, migratedRoles, roleValues, statusValues, statusWords } from "./team-user-words.ts";

const limitDefault = 100;

/** The members of the caller's team (contract/enterprise.md 5). */
export function teamUserHandlers(users: TeamUsers): Handlers<typeof TeamUserManagementApiV2Service> {
  return {
    async listUsers(tx, caller, { limit = limitDefault, offset = 0, statusFilter, delegationState }) {
      const status = statusWords[statusFilter ?? UserStatus.UNSPECIFIED];
      const delegation = delegationWords[delegationState ?? DelegationState.UNSPECIFIED];
      const page = await users.list(tx, caller, { status, delegation, limit, offset });
      return { users: page.users.map(toMessage), total: page.total, limit, offset };
    },
    async getUser(tx, caller, asked) {
      return { user: inFull(await users.find(tx, caller, refOf(asked))) };
    },
    async createUser(tx, caller, asked) {
      // The field's rule lets nothing else through.
      const role = grantableRole(asked.role) ?? "member";
      return { user: toMessage(await users.create(tx, caller, { email: asked.email, role, name: nameOf(asked) })) };
    },
    async updateUser(tx, caller, asked) {
      const status = statusWords[asked.status ?? UserStatus.UNSPECIFIED];
      const role = grantableRole(asked.role ?? TeamMemberRole.UNSPECIFIED);
      return cascaded(await users.update(tx, caller, refOf(asked), { status, role }));
    },
    async delegateProfile(tx, caller, { teamUserId, targetTeamUserId, role: asked }) {
      const role = migratedRoles[asked];
      if (role === undefined) throw invalid("role", "must be given");
      return { user: inFull(await users.delegate(tx, caller, teamUserId, targetTeamUserId, role)) };
    },
    async reclaimProfile(tx, caller, { teamUserId }) {
      const { previousDelegate, ...reclaimed } = await users.reclaim(tx, caller, teamUserId);
      return { user: inFull(reclaimed), previousDelegate };
    },
    async renameProfile(tx, caller, { teamUserId, displayName }) {
      return { user: inFull(await users.rename(tx, caller, teamUserId, displayName)) };
    },
    async removeMember(tx, caller, { teamUserId }) {
      return cascaded(await users.remove(tx, caller, teamUserId));
    },
  };
}

/** An empty id is none. */
const refOf = ({ teamUserId, email }: Pick<GetUserRequest, "teamUserId" | "email">): TeamUserRef => ({
  id: teamUserId || undefined,
  email,
});

/** First and last name joined by a blank beat the user name (contract/enterprise.md 5.3); empty ones are none. */
const nameOf = ({ userName = "", firstName = "", lastName = "" }: CreateUserRequest): string | undefined =>
  [firstName, lastName].filter((part) => part !== "").join(" ") || userName || undefined;

const toMessage = ({ id, email, name, status, role, delegation }: TeamUser) =>
  ({
    email,
    ...(name === null ? {} : { userName: name }),
    status: statusValues[status],
    role: roleValues[role],
    teamUserId: id,
    ...(delegation === null ? {} : { delegatedTo: delegation.to, originalEmail: delegation.originalEmail }),
  }) satisfies MessageInitShape<typeof TeamUserSchema>;

const inFull = ({ user, holds }: TeamUserInFull) => ({ ...toMessage(user), delegatedProfiles: holds.map(heldMessage) });

const heldMessage = ({ id, displayName, role, delegatedAt }: HeldProfile) =>
  ({
    teamUserId: id,
    displayName,
    role: roleValues[role],
    delegatedAt: timestampFromMs(delegatedAt),
  }) satisfies MessageInitShape<typeof DelegatedProfileSchema>;

const cascaded = ({ cascade, ...changed }: Cascaded) => ({ user: inFull(changed), cascadeAffected: cascade.map(affectedMessage) });

const affectedMessage = ({ id, displayName }: Cascaded["cascade"][number]) =>
  ({
    teamUserId: id,
    displayName,
    action: "returned_to_pool",
    newStatus: UserStatus.INACTIVE,
  }) satisfies MessageInitShape<typeof CascadeAffectedSchema>;
