import type { MessageInitShape } from "@bufbuild/protobuf";
import type { KeyKind } from "../core/accounts/caller.ts";
import { invalidArgument } from "../core/failure.ts";
import type { UsedKey } from "../core/keys/api-key.ts";
import type { ApiKeys } from "../core/keys/api-keys.ts";
import type { KeyRestrictions } from "../core/keys/restrictions.ts";
import { ApiKeyKind, type ApiKeySchema } from "../gen/proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "../gen/proto/settings/v1/api_key_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { pageEnd, seconds } from "./wire-values.ts";

const kinds: Record<ApiKeyKind, KeyKind> = {
  [ApiKeyKind.UNSPECIFIED]: "general",
  [ApiKeyKind.GENERAL]: "general",
  [ApiKeyKind.EDISCOVERY]: "ediscovery",
  [ApiKeyKind.SIEM]: "siem",
  [ApiKeyKind.TEAM_USER_MGMT]: "team_user_mgmt",
  [ApiKeyKind.TEAM_ASSET_AUDIT]: "team_asset_audit",
  [ApiKeyKind.TEAM_ASSET_MGMT]: "team_asset_mgmt",
};

const kindMessages: Record<KeyKind, ApiKeyKind> = {
  general: ApiKeyKind.GENERAL,
  ediscovery: ApiKeyKind.EDISCOVERY,
  siem: ApiKeyKind.SIEM,
  team_user_mgmt: ApiKeyKind.TEAM_USER_MGMT,
  team_asset_audit: ApiKeyKind.TEAM_ASSET_AUDIT,
  team_asset_mgmt: ApiKeyKind.TEAM_ASSET_MGMT,
};

/** The end of the year 9999 in Unix seconds: the latest time of every wire. */
const latest = 253_402_300_799n;

/** API keys of an account (spec/decisions.md 3, 4). */
export function apiKeyHandlers(keys: ApiKeys) {
  return implement(ApiKeyService, {
    async createApiKey(tx, caller, { name, kind, expiresAt, restrictions }) {
      const input = {
        name,
        kind: kinds[kind] ?? "general",
        expiresAt: milliseconds(expiresAt),
        restrictions,
      };
      const { key, text } = await keys.create(tx, caller, input);
      return { apiKey: toMessage({ ...key, usedAt: null }), secret: text };
    },
    async listApiKeys(tx, caller) {
      return { data: (await keys.list(tx, caller)).map(toMessage) };
    },
    async revokeApiKey(tx, caller, { id }) {
      await keys.revoke(tx, caller, id);
      return {};
    },
    async renameApiKey(tx, caller, { id, name }) {
      return { apiKey: toMessage(await keys.rename(tx, caller, id, name)) };
    },
    async restrictApiKey(tx, caller, { id, restrictions }) {
      return { apiKey: toMessage(await keys.restrict(tx, caller, id, restrictions)) };
    },
    async listSpaceApiKeys(tx, caller, { limit = 20, cursor, userId }) {
      const { items, next } = await keys.listOfSpace(tx, caller, userId || undefined, { limit, cursor });
      const data = items.map((key) => ({
        apiKey: toMessage(key),
        userId: key.accountId,
        email: key.email ?? "",
      }));
      return { data, ...pageEnd(next) };
    },
    async revokeSpaceApiKey(tx, caller, { id }) {
      await keys.revokeInSpace(tx, caller, id);
      return {};
    },
  });
}

/** @throws Failure `invalid_argument` for a time after the year 9999. */
function milliseconds(time: bigint | undefined): number | null {
  if (time !== undefined && time > latest)
    throw invalidArgument("expires_at", "must be a time of the years 1 to 9999");
  return time === undefined ? null : Number(time) * 1000;
}

const toMessage = ({ id, name, kind, createdAt, usedAt, expiresAt, lastFour, ...restrictions }: UsedKey) =>
  ({
    id,
    name,
    kind: kindMessages[kind],
    createdAt: seconds(createdAt),
    ...(usedAt === null ? {} : { lastUsedAt: seconds(usedAt) }),
    ...(expiresAt === null ? {} : { expiresAt: seconds(expiresAt) }),
    ...(lastFour === null ? {} : { lastFour }),
    ...restrictionsOf(restrictions),
  }) satisfies MessageInitShape<typeof ApiKeySchema>;

/** Absent for a key without restrictions. */
function restrictionsOf({
  scopes,
  projectIds,
  addressRanges,
}: KeyRestrictions): Pick<MessageInitShape<typeof ApiKeySchema>, "restrictions"> {
  if (scopes === null && projectIds === null && addressRanges === null) return {};
  return {
    restrictions: {
      scopes: [...(scopes ?? [])],
      projectIds: [...(projectIds ?? [])],
      addressRanges: [...(addressRanges ?? [])],
    },
  };
}
