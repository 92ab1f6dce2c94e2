import type { JsonObject } from "@bufbuild/protobuf";
import { systemIds } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { InstallationService } from "../../src/gen/proto/installation/v1/installation_service_pb.ts";
import { ModelService } from "../../src/gen/proto/installation/v1/model_service_pb.ts";
import { AccountService } from "../../src/gen/proto/settings/v1/account_service_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { TeamAssetAuditApiV2Service } from "../../src/gen/proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "../../src/gen/proto/team/v2/team_asset_manage_service_pb.ts";
import { TeamUserManagementApiV2Service } from "../../src/gen/proto/team/v2/team_user_service_pb.ts";
import { UsageService } from "../../src/gen/proto/usage/v2/usage_service_pb.ts";
import type { Person } from "../support/service.ts";
import { entries, noInput, type Prepare } from "./entry.ts";
import { message } from "./tasks.ts";

/** An admin of the person's team. */
const heirId: Prepare = async ({ spaceId }, store) => {
  const id = systemIds.short();
  const teamId = `team-${spaceId}`;
  const member = {
    id,
    teamId,
    spaceId,
    accountId: systemIds.uuid(),
    email: `${id}@example.com`,
    role: "admin",
    status: "active",
  } as const;
  await store.change((tx) => tx.accounts.insertMember({ ...member, createdAt: 1 }));
  return { team_user_id: id };
};

/** A member of the person's team, active or not. */
const teamUserId: Prepare = async (person) => {
  const { body } = await person.v2("team.user.create", {
    email: `${systemIds.short()}@example.com`,
    role: "TEAM_MEMBER_ROLE_MEMBER",
  });
  return { team_user_id: body["user"].team_user_id };
};

const inactiveId = async (person: Person, store: Store): Promise<JsonObject> => {
  const id = await teamUserId(person, store);
  await person.v2("team.user.update", { ...id, status: "USER_STATUS_INACTIVE" });
  return id;
};

/** An inactive profile, and a member to delegate to. */
const delegation: Prepare = async (person, store) => {
  const { team_user_id } = await teamUserId(person, store);
  return {
    ...(await inactiveId(person, store)),
    target_team_user_id: String(team_user_id),
    role: "MIGRATED_PROFILE_ROLE_MEMBER",
  };
};

/** A group of the person's team. */
const groupId: Prepare = async ({ spaceId }, store) => {
  const id = systemIds.short();
  const group = { id, spaceId, displayName: id, externalId: null, role: null, createdAt: 1, updatedAt: 1 };
  await store.change((tx) => tx.groups.insert(group));
  return { id, role: "TEAM_MEMBER_ROLE_GUEST" };
};

/** A call of an operator. */
const byOperator =
  (input: JsonObject): Prepare =>
  async ({ accountId }, store) => {
    await store.change((tx) => tx.accounts.setOperator(accountId, true));
    return input;
  };
const model = {
  name: "sample",
  entry: { api: "openai", base_url: "https://1.1.1.1/v1", model: "sample", context_tokens: 32_000 },
};

/** `installation.v1`. */
export const installationEntries = [
  ...entries(InstallationService, { getStatus: ["installation/status", byOperator({})] }),
  ...entries(ModelService, {
    listModels: ["installation/models", byOperator({})],
    setModel: ["installation/models", byOperator(model)],
    removeModel: [
      "installation/models",
      async (person, store) => {
        const { name, entry } = model;
        const row = { name, entry, secrets: null, keyEnd: null, price: null, profiles: [], updatedAt: 1 };
        await store.change((tx) => tx.models.put(row));
        return byOperator({ name })(person, store);
      },
    ],
    // Its address is refused, and nothing is called.
    testModel: [
      "installation/models",
      byOperator({ name: "sample", entry: { ...model.entry, base_url: "https://10.0.0.1/v1" } }),
    ],
  }),
];

/** `settings.v1.TeamService`. */
export const teamEntries = entries(TeamService, {
  transferOwnership: ["settings/ownership", heirId],
  listMembers: ["teams/directory", noInput],
  sendInvitation: ["teams/directory", teamUserId],
  renameTeam: ["teams/directory", async () => ({ name: systemIds.short() })],
  listGroups: ["scim/group-roles", noInput],
  setGroupRole: ["scim/group-roles", groupId],
});

/** `team.v2.TeamUserManagementApiV2Service`. */
export const teamUserEntries = entries(TeamUserManagementApiV2Service, {
  listUsers: ["teams/team-users", noInput],
  getUser: ["teams/invitation", teamUserId],
  createUser: [
    "teams/invitation",
    async () => ({ email: `${systemIds.short()}@example.com`, role: "TEAM_MEMBER_ROLE_GUEST" }),
  ],
  updateUser: [
    "teams/permissions",
    async (person, store) => ({ ...(await teamUserId(person, store)), status: "USER_STATUS_INACTIVE" }),
  ],
  delegateProfile: ["teams/permissions", delegation],
  reclaimProfile: [
    "teams/permissions",
    async (person, store) => {
      const delegated = await delegation(person, store);
      await person.v2("team.user.delegate", delegated);
      return { team_user_id: delegated["team_user_id"] ?? "" };
    },
  ],
  renameProfile: [
    "teams/invitation",
    async (person, store) => ({ ...(await teamUserId(person, store)), display_name: "Ann" }),
  ],
  removeMember: ["teams/permissions", teamUserId],
});

/** `team.v2.TeamAssetAuditApiV2Service`. */
export const assetAuditEntries = entries(TeamAssetAuditApiV2Service, {
  listShareableAssets: ["teams/assets", async () => ({ asset_type: "ASSET_TYPE_SESSION_SHARE" })],
});

/** `team.v2.TeamAssetManageApiV2Service`. */
export const assetManageEntries = entries(TeamAssetManageApiV2Service, {
  updateAssetShareScope: [
    "teams/assets",
    async (person) => {
      const { body } = await person.v2("task.create", { message, share_visibility: "public" });
      return { share_uid: body["task_id"], permission: "SHARE_SCOPE_TEAM_ONLY", note: "Not for everybody." };
    },
  ],
});

/** `settings.v1.AccountService`. */
export const accountEntries = entries(AccountService, {
  updateProfile: ["settings/account", async () => ({ name: "Ann Lee" })],
  listSessions: ["settings/account", noInput],
  revokeSession: ["settings/account", async (person) => ({ id: (await person.session()).id })],
  listSpaces: ["settings/spaces", noInput],
  switchSpace: ["settings/spaces", async ({ spaceId }) => ({ space_id: spaceId })],
});

/** `settings.v1.ApiKeyService`. */
export const apiKeyEntries = entries(ApiKeyService, {
  createApiKey: ["settings/keys", async () => ({ name: "ci" })],
  listApiKeys: ["settings/keys", noInput],
  revokeApiKey: ["settings/keys", async ({ keyId }) => ({ id: keyId })],
  renameApiKey: ["settings/space-keys", async ({ keyId }) => ({ id: keyId, name: "ci" })],
  restrictApiKey: [
    "settings/restricted-keys",
    async ({ keyId }) => ({ id: keyId, restrictions: { address_ranges: ["127.0.0.1"] } }),
  ],
  listSpaceApiKeys: ["settings/space-keys", noInput],
  revokeSpaceApiKey: ["settings/space-keys", async ({ keyId }) => ({ id: keyId })],
});

/** `settings.v1.BudgetService`. */
export const budgetEntries = entries(BudgetService, {
  setBudget: [
    "settings/budgets",
    async ({ accountId }) => ({ kind: "BUDGET_KIND_ACCOUNT", subject: accountId, credits: 1 }),
  ],
  listBudgets: ["settings/budgets", noInput],
  listOwnBudgets: ["settings/budgets", noInput],
  removeBudget: [
    "settings/budgets",
    async (person) => {
      const { budget } = await person
        .client(BudgetService)
        .setBudget({ kind: BudgetKind.ACCOUNT, subject: person.accountId, credits: 1n });
      return { id: budget?.id ?? "" };
    },
  ],
});

/** `usage.v2.UsageService`. */
export const usageEntries = entries(UsageService, {
  listUsage: ["usage/usage", noInput],
  getAvailableCredits: ["usage/usage", noInput],
  getTeamUsageStatistic: ["usage/usage", noInput],
  listTeamUsageLog: ["usage/usage", noInput],
  getUsageStatistic: ["usage/breakdown", noInput],
  listUsageBreakdown: ["usage/breakdown", async () => ({ group_by: "project" })],
});
