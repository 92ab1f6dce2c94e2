import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Share, ShareFilter, Shares, ShareType } from "../core/assets/share.ts";
import { defined } from "../core/defined.ts";
import { applyCaps, type Visibility } from "../core/visibility.ts";
import {
  type ListShareableAssetsRequest,
  TeamAssetAuditApiV2Service,
} from "../gen/proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "../gen/proto/team/v2/team_asset_manage_service_pb.ts";
import {
  AssetType,
  AssetTypeSchema,
  type ShareableAssetSchema,
  ShareScope,
} from "../gen/proto/team/v2/team_asset_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { endOf, startOf } from "./data-export-messages.ts";

const limitDefault = 100;

/** Null: the platform has no shares of this type, so its list is empty. */
const shareTypes: Readonly<Record<AssetType, ShareType | null>> = {
  [AssetType.UNSPECIFIED]: null,
  [AssetType.SESSION_COLLABORATION]: null,
  [AssetType.SESSION_SHARE]: "task",
  [AssetType.FILE_SHARE]: null,
  [AssetType.WEBSITE_PUBLISH]: "website",
  [AssetType.PROJECT_SHARE]: null,
};
const assetTypes: Readonly<Record<ShareType, AssetType>> = {
  task: AssetType.SESSION_SHARE,
  website: AssetType.WEBSITE_PUBLISH,
};

const scopeOf: Readonly<Record<Visibility, ShareScope>> = {
  private: ShareScope.OWNER,
  team: ShareScope.TEAM_ONLY,
  public: ShareScope.PUBLIC,
};
const visibilityOf: Readonly<Record<ShareScope, Visibility | undefined>> = {
  [ShareScope.UNSPECIFIED]: undefined,
  [ShareScope.OWNER]: "private",
  [ShareScope.TEAM_ONLY]: "team",
  [ShareScope.PUBLIC]: "public",
};

/** team.asset.list (spec/enterprise.md 9.2). */
export const teamAssetAuditHandlers = (shares: Shares) =>
  implement(TeamAssetAuditApiV2Service, {
    async listShareableAssets(tx, caller, request) {
      const { assetType, limit = limitDefault, offset = 0 } = request;
      const listedType = {
        name: AssetTypeSchema.value[assetType]?.name ?? "",
        type: shareTypes[assetType] ?? null,
      };
      const { items, total } = await shares.list(tx, caller, listedType, filterOf(request), {
        limit,
        offset,
      });
      return { assets: items.map(assetMessage), total, limit, offset };
    },
  });

/** team.asset.update_scope (spec/enterprise.md 9.3). */
export const teamAssetManageHandlers = (shares: Shares) =>
  implement(TeamAssetManageApiV2Service, {
    async updateAssetShareScope(tx, caller, { shareUid, permission, note = "" }) {
      // The field's rule allows no other scope.
      await shares.cap(tx, caller, shareUid, visibilityOf[permission] ?? "private", note);
      return {};
    },
  });

function filterOf({
  keyword = "",
  ownerId = "",
  permission,
  startTime,
  endTime,
}: ListShareableAssetsRequest): ShareFilter {
  const visibility = visibilityOf[permission ?? ShareScope.UNSPECIFIED];
  const [from, until] = [startOf(startTime), endOf(endTime)];
  return {
    ...(keyword === "" ? {} : { prefix: keyword }),
    ...(ownerId === "" ? {} : { accountId: ownerId }),
    ...defined({ visibility }),
    ...(from === null ? {} : { from }),
    ...(until === null ? {} : { until }),
  };
}

const assetMessage = (share: Share): MessageInitShape<typeof ShareableAssetSchema> => ({
  uid: share.id,
  assetType: assetTypes[share.type],
  assetName: share.name,
  assetId: share.id,
  permission: scopeOf[applyCaps(share.visibility, share.maxVisibility)],
  ...(share.maxVisibility === null ? {} : { maxPermission: scopeOf[share.maxVisibility] }),
  sharedAt: timestampFromMs(share.sharedAt),
  lastOperatedAt: timestampFromMs(share.changedAt),
  ownerId: share.accountId,
  sessionId: share.taskId,
  assetExists: share.exists,
});
