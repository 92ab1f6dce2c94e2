import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { MemberStatus, Role } from "../core/accounts/account.ts";
import type { Ownership } from "../core/accounts/ownership.ts";
import { invalidArgument } from "../core/failure.ts";
import { type Groups, type ListedGroup, mappedRoles } from "../core/teams/group.ts";
import { renameTeam } from "../core/teams/team-name.ts";
import type {
  CascadeResult,
  GrantableRole,
  HeldProfile,
  MigratedRole,
  TeamPerson,
  TeamUser,
  TeamUserDetail,
  TeamUserFilter,
  TeamUserRef,
  TeamUsers,
} from "../core/teams/team-user.ts";
import { canSeeAddresses } from "../core/use-cases/manage-team.ts";
import {
  type TeamGroupSchema,
  type TeamPersonSchema,
  TeamService,
} from "../gen/proto/settings/v1/team_service_pb.ts";
import {
  type CascadeAffectedSchema,
  type DelegatedProfileSchema,
  DelegationState,
  MigratedProfileRole,
  TeamMemberRole,
  type TeamUserSchema,
  UserStatus,
} from "../gen/proto/team/v2/team_user_pb.ts";
import {
  type CreateUserRequest,
  type GetUserRequest,
  TeamUserManagementApiV2Service,
} from "../gen/proto/team/v2/team_user_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { seconds } from "./wire-values.ts";

const statusValues: Readonly<Record<MemberStatus, UserStatus>> = {
  active: UserStatus.ACTIVE,
  inactive: UserStatus.INACTIVE,
  removed: UserStatus.REMOVED,
};

const memberStatuses: Readonly<Record<UserStatus, MemberStatus | undefined>> = {
  [UserStatus.UNSPECIFIED]: undefined,
  [UserStatus.ACTIVE]: "active",
  [UserStatus.INACTIVE]: "inactive",
  [UserStatus.REMOVED]: "removed",
};

export const roleValues: Readonly<Record<Role, TeamMemberRole>> = {
  owner: TeamMemberRole.OWNER,
  super_admin: TeamMemberRole.SUPER_ADMIN,
  admin: TeamMemberRole.ADMIN,
  member: TeamMemberRole.MEMBER,
  guest: TeamMemberRole.GUEST,
};

const grantable: readonly GrantableRole[] = ["super_admin", "admin", "member", "guest"];

/**
 * The role that may be granted; undefined for the owner's, which the fields' rules refuse, and for
 * unspecified.
 */
const grantableRole = (value: TeamMemberRole): GrantableRole | undefined =>
  grantable.find((role) => roleValues[role] === value);

/** Undefined: no filter. */
const delegationFilters: Readonly<Record<DelegationState, TeamUserFilter["delegation"]>> = {
  [DelegationState.UNSPECIFIED]: undefined,
  [DelegationState.DELEGATED]: "delegated",
  [DelegationState.HAS_DELEGATES]: "has_delegates",
  [DelegationState.NONE]: "none",
};

const migratedRoles: Readonly<Record<MigratedProfileRole, MigratedRole | undefined>> = {
  [MigratedProfileRole.UNSPECIFIED]: undefined,
  [MigratedProfileRole.MEMBER]: "member",
  [MigratedProfileRole.FREE_GUEST]: "free_guest",
  [MigratedProfileRole.DEACTIVATED]: "deactivated",
};

const limitDefault = 100;

/**
 * The team of the session's space (spec/decisions.md 7). Checking a password is slow, so it is done before
 * the transaction.
 */
export function teamHandlers(ownership: Ownership, users: TeamUsers, groups: Groups) {
  return implement(TeamService, {
    transferOwnership: {
      async prepare({ password, teamUserId }, caller) {
        await ownership.prove(caller, password);
        return async (tx) => {
          await ownership.transfer(tx, caller, teamUserId);
          return {};
        };
      },
    },
    async listMembers(tx, caller, { query, limit = 50, offset = 0 }) {
      const { people, total } = await users.directory(tx, caller, {
        query: query || undefined,
        limit,
        offset,
      });
      return { data: people.map(personMessage(canSeeAddresses(caller))), total };
    },
    async sendInvitation(tx, caller, { teamUserId }) {
      return { mailed: await users.invite(tx, caller, teamUserId) };
    },
    async renameTeam(tx, caller, { name }) {
      return { name: await renameTeam(tx, caller, name) };
    },
    async listGroups(tx, caller, { limit = limitDefault, offset = 0 }) {
      const page = await groups.list(tx, caller, { limit, offset });
      return { data: page.groups.map(groupMessage), total: page.total };
    },
    async setGroupRole(tx, caller, { id, role: value }) {
      const role = mappedRoles.find((one) => roleValues[one] === value) ?? null;
      return { group: groupMessage(await groups.setRole(tx, caller, id, role)) };
    },
  });
}

const personMessage =
  (withAddress: boolean) =>
  ({ id: teamUserId, accountId, name, role, email }: TeamPerson) =>
    ({
      teamUserId,
      accountId,
      role: roleValues[role],
      ...(name === null ? {} : { name }),
      ...(withAddress ? { email } : {}),
    }) satisfies MessageInitShape<typeof TeamPersonSchema>;

const groupMessage = ({ id, displayName, role, members, createdAt }: ListedGroup) =>
  ({
    id,
    displayName,
    members,
    createdAt: seconds(createdAt),
    ...(role === null ? {} : { role: roleValues[role] }),
  }) satisfies MessageInitShape<typeof TeamGroupSchema>;

/** The members of the caller's team (spec/enterprise.md 5). */
export function teamUserHandlers(users: TeamUsers) {
  return implement(TeamUserManagementApiV2Service, {
    async listUsers(tx, caller, { limit = limitDefault, offset = 0, statusFilter, delegationState }) {
      const status = memberStatuses[statusFilter ?? UserStatus.UNSPECIFIED];
      const delegation = delegationFilters[delegationState ?? DelegationState.UNSPECIFIED];
      const page = await users.list(tx, caller, { status, delegation, limit, offset });
      return { users: page.users.map(toMessage), total: page.total, limit, offset };
    },
    async getUser(tx, caller, request) {
      return { user: detailMessage(await users.find(tx, caller, refOf(request))) };
    },
    async createUser(tx, caller, request) {
      // The field's rule allows no other value.
      const role = grantableRole(request.role) ?? "member";
      return {
        user: toMessage(
          await users.create(tx, caller, { email: request.email, role, name: nameOf(request) }),
        ),
      };
    },
    async updateUser(tx, caller, request) {
      const status = memberStatuses[request.status ?? UserStatus.UNSPECIFIED];
      const role = grantableRole(request.role ?? TeamMemberRole.UNSPECIFIED);
      return cascadeMessage(await users.update(tx, caller, refOf(request), { status, role }, request.dryRun));
    },
    async delegateProfile(tx, caller, { teamUserId, targetTeamUserId, role: roleValue, dryRun }) {
      const role = migratedRoles[roleValue];
      if (role === undefined) throw invalidArgument("role", "is required");
      const { user, effects } = cascadeMessage(
        await users.delegate(tx, caller, teamUserId, { id: targetTeamUserId, role }, dryRun),
      );
      return { user, ...(effects && { effects }) };
    },
    async reclaimProfile(tx, caller, { teamUserId }) {
      const { previousDelegate, ...reclaimed } = await users.reclaim(tx, caller, teamUserId);
      return { user: detailMessage(reclaimed), previousDelegate };
    },
    async renameProfile(tx, caller, { teamUserId, displayName }) {
      return { user: detailMessage(await users.rename(tx, caller, teamUserId, displayName)) };
    },
    async removeMember(tx, caller, { teamUserId, dryRun }) {
      return cascadeMessage(await users.remove(tx, caller, teamUserId, dryRun));
    },
  });
}

/** The reference to a user; an empty id counts as absent. */
const refOf = ({ teamUserId, email }: Pick<GetUserRequest, "teamUserId" | "email">): TeamUserRef => ({
  id: teamUserId || undefined,
  email,
});

/**
 * First and last name, joined by a blank, override the user name (spec/enterprise.md 5.3); empty ones count
 * as absent.
 */
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

const detailMessage = ({ user, holds }: TeamUserDetail) => ({
  ...toMessage(user),
  delegatedProfiles: holds.map(profileMessage),
});

const profileMessage = ({ id, displayName, role, delegatedAt }: HeldProfile) =>
  ({
    teamUserId: id,
    displayName,
    role: roleValues[role],
    delegatedAt: timestampFromMs(delegatedAt),
  }) satisfies MessageInitShape<typeof DelegatedProfileSchema>;

const cascadeMessage = ({ cascade, effects, ...changed }: CascadeResult) => ({
  user: detailMessage(changed),
  cascadeAffected: cascade.map(affectedMessage),
  ...(effects && { effects }),
});

const affectedMessage = ({ id, displayName }: CascadeResult["cascade"][number]) =>
  ({
    teamUserId: id,
    displayName,
    action: "returned_to_pool",
    newStatus: UserStatus.INACTIVE,
  }) satisfies MessageInitShape<typeof CascadeAffectedSchema>;
