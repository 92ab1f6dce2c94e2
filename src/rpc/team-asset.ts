import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../call/handlers.ts";
import type { Share, ShareFilter, ShareType } from "../core/assets/share.ts";
import type { Shares } from "../core/assets/shares.ts";
import { capped, type Visibility } from "../core/visibility.ts";
import type { ListShareableAssetsRequest, TeamAssetAuditApiV2Service } from "../gen/proto/team/v2/team_asset_audit_service_pb.ts";
import type { TeamAssetManageApiV2Service } from "../gen/proto/team/v2/team_asset_manage_service_pb.ts";
import { AssetType, AssetTypeSchema, type ShareableAssetSchema, ShareScope } from "../gen/proto/team/v2/team_asset_pb.ts";
import { endOf, startOf } from "./data-export-words.ts";

const limitDefault = 100;

/** Null: nothing of that type is shared here, so that its list is empty. */
const shareTypes: Readonly<Record<AssetType, ShareType | null>> = {
  [AssetType.UNSPECIFIED]: null,
  [AssetType.SESSION_COLLABORATION]: null,
  [AssetType.SESSION_SHARE]: "task",
  [AssetType.FILE_SHARE]: null,
  [AssetType.WEBSITE_PUBLISH]: "website",
  [AssetType.PROJECT_SHARE]: null,
};
const assetTypes: Readonly<Record<ShareType, AssetType>> = { task: AssetType.SESSION_SHARE, website: AssetType.WEBSITE_PUBLISH };

const scopeOf: Readonly<Record<Visibility, ShareScope>> = {
  private: ShareScope.OWNER,
  team: ShareScope.TEAM_ONLY,
  public: ShareScope.PUBLIC,
};
/** Undefined: not given. */
const visibilityOf: Readonly<Record<ShareScope, Visibility | undefined>> = {
  [ShareScope.UNSPECIFIED]: undefined,
  [ShareScope.OWNER]: "private",
  [ShareScope.TEAM_ONLY]: "team",
  [ShareScope.PUBLIC]: "public",
};

/** team.asset.list (contract/enterprise.md 9.2). */
export const teamAssetAuditHandlers = (shares: Shares): Handlers<typeof TeamAssetAuditApiV2Service> => ({
  async listShareableAssets(tx, caller, asked) {
    const { assetType, limit = limitDefault, offset = 0 } = asked;
    const listed = { name: AssetTypeSchema.value[assetType]?.name ?? "", type: shareTypes[assetType] ?? null };
    const { items, total } = await shares.list(tx, caller, listed, filterOf(asked), { limit, offset });
    return { assets: items.map(assetMessage), total, limit, offset };
  },
});

/** team.asset.update_scope (contract/enterprise.md 9.3). */
export const teamAssetManageHandlers = (shares: Shares): Handlers<typeof TeamAssetManageApiV2Service> => ({
  async updateAssetShareScope(tx, caller, { shareUid, permission, note = "" }) {
    // The field's rule lets no other scope through.
    await shares.cap(tx, caller, shareUid, visibilityOf[permission] ?? "private", note);
    return {};
  },
});

function filterOf({ keyword = "", ownerId = "", permission, startTime, endTime }: ListShareableAssetsRequest): ShareFilter {
  const visibility = visibilityOf[permission ?? ShareScope.UNSPECIFIED];
  const [from, until] = [startOf(startTime), endOf(endTime)];
  return {
    ...(keyword === "" ? {} : { prefix: keyword }),
    ...(ownerId === "" ? {} : { accountId: ownerId }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(from === null ? {} : { from }),
    ...(until === null ? {} : { until }),
  };
}

const assetMessage = (share: Share): MessageInitShape<typeof ShareableAssetSchema> => ({
  uid: share.id,
  assetType: assetTypes[share.type],
  assetName: share.name,
  assetId: share.id,
  permission: scopeOf[capped(share.visibility, share.maxVisibility)],
  ...(share.maxVisibility === null ? {} : { maxPermission: scopeOf[share.maxVisibility] }),
  sharedAt: timestampFromMs(share.sharedAt),
  lastOperatedAt: timestampFromMs(share.changedAt),
  ownerId: share.accountId,
  sessionId: share.taskId,
  assetExists: share.exists,
});
