import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { TeamAssetAuditApiV2Service } from "#proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "#proto/team/v2/team_asset_manage_service_pb.ts";
import { AssetType, type ShareableAsset, ShareScope } from "#proto/team/v2/team_asset_pb.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago } from "../ui/time.tsx";
import { words } from "../words.ts";
import { accountChoiceOf, useDirectory } from "./people.ts";

const text = words(
  {
    about: "What members share with the team or with everyone.",
    kind: "Kind",
    kinds: {
      1: "Tasks worked on together",
      2: "Shared tasks",
      3: "Shared files",
      4: "Published websites",
      5: "Shared projects",
    },
    scopes: { 0: "", 1: "Private", 2: "Team", 3: "Everyone" },
    by: "by",
    capped: (scope: string) => `limited to: ${scope}`,
    gone: "deleted",
    none: "Nothing of this kind is shared.",
    change: "Limit",
    changeTitle: (name: string) => `Limit who sees ${name}`,
    scope: "At most visible to",
    effect: "The member cannot share it more widely. A narrower choice takes effect at once.",
    save: "Save",
    more: "More",
  },
  {
    about: "Was Mitglieder mit dem Team oder mit allen teilen.",
    kind: "Art",
    kinds: {
      1: "Gemeinsam bearbeitete Aufgaben",
      2: "Geteilte Aufgaben",
      3: "Geteilte Dateien",
      4: "Veröffentlichte Websites",
      5: "Geteilte Projekte",
    },
    scopes: { 0: "", 1: "Privat", 2: "Team", 3: "Alle" },
    by: "von",
    capped: (scope: string) => `begrenzt auf: ${scope}`,
    gone: "gelöscht",
    none: "Nichts dieser Art ist geteilt.",
    change: "Begrenzen",
    changeTitle: (name: string) => `Begrenzen, wer ${name} sieht`,
    scope: "Höchstens sichtbar für",
    effect: "Das Mitglied kann es nicht weiter teilen. Eine engere Wahl gilt sofort.",
    save: "Speichern",
    more: "Mehr",
  },
);

const kinds = [
  [AssetType.SESSION_SHARE, text.kinds[2]],
  [AssetType.SESSION_COLLABORATION, text.kinds[1]],
  [AssetType.FILE_SHARE, text.kinds[3]],
  [AssetType.WEBSITE_PUBLISH, text.kinds[4]],
  [AssetType.PROJECT_SHARE, text.kinds[5]],
] as const;

const scopeTitles: Readonly<Partial<Record<ShareScope, string>>> = text.scopes;
const scopeTitle = (scope: ShareScope): string => scopeTitles[scope] ?? "";

const scopes = [ShareScope.OWNER, ShareScope.TEAM_ONLY, ShareScope.PUBLIC].map(
  (scope) => [scope, scopeTitle(scope)] as const,
);

/** What the team's members share, and who may see it at most. */
export default function AssetsPage() {
  const [assetType, setType] = useState<AssetType>(AssetType.SESSION_SHARE);
  const names = new Map(useDirectory().map(accountChoiceOf));
  const [changed, setChanged] = useState<ShareableAsset>();
  const assets = useInfiniteQuery(
    TeamAssetAuditApiV2Service.method.listShareableAssets,
    { assetType, limit: 50, offset: 0 },
    {
      pageParamKey: "offset",
      getNextPageParam: ({ assets: page, offset, total }) =>
        offset + page.length < total ? offset + page.length : undefined,
    },
  );
  const found = assets.data?.pages.flatMap((page) => page.assets);
  return (
    <>
      <p className="muted">{text.about}</p>
      <SelectField<AssetType> label={text.kind} value={assetType} options={kinds} onValue={setType} />
      <ErrorNote error={assets.error} onRetry={() => void assets.refetch()} />
      {found?.length === 0 && (
        <Empty command={`curl -s "${location.origin}/v2/team.asset.list" -H "x-service-api-key: $KEY"`}>
          {text.none}
        </Empty>
      )}
      {found && found.length > 0 && (
        <ul className="card rows">
          {found.map((asset) => (
            <AssetRow
              key={asset.uid}
              asset={asset}
              owner={names.get(asset.ownerId)}
              onChange={() => setChanged(asset)}
            />
          ))}
        </ul>
      )}
      {assets.hasNextPage && (
        <div className="actions">
          <button
            type="button"
            className="button"
            disabled={assets.isFetching}
            onClick={() => void assets.fetchNextPage()}
          >
            {text.more}
          </button>
        </div>
      )}
      {changed && (
        <ScopeDialog
          asset={changed}
          onClose={() => setChanged(undefined)}
          onSaved={() => void assets.refetch()}
        />
      )}
    </>
  );
}

function AssetRow({
  asset,
  owner,
  onChange,
}: {
  asset: ShareableAsset;
  owner: string | undefined;
  onChange: () => void;
}) {
  const { assetName, assetId, permission, maxPermission, sharedAt, ownerId, assetExists } = asset;
  return (
    <li className="wrap">
      <Icon name="share" />
      <span className="main">
        <strong>{assetName || assetId}</strong>
        <small>
          {text.by} {owner ?? ownerId}
          {sharedAt && (
            <>
              {" · "}
              <Ago at={timestampMs(sharedAt)} />
            </>
          )}
          {maxPermission !== undefined && ` · ${text.capped(scopeTitle(maxPermission))}`}
        </small>
      </span>
      <span className="actions">
        <span className={`badge ${permission === ShareScope.PUBLIC ? "wait" : "rest"}`}>
          {assetExists ? scopeTitle(permission) : text.gone}
        </span>
        {assetExists && (
          <button
            type="button"
            className="button"
            aria-label={`${text.change}: ${assetName}`}
            onClick={onChange}
          >
            {text.change}
          </button>
        )}
      </span>
    </li>
  );
}

function ScopeDialog({
  asset,
  onClose,
  onSaved,
}: {
  asset: ShareableAsset;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [permission, setPermission] = useState<ShareScope>(asset.maxPermission ?? asset.permission);
  const update = useMutation(TeamAssetManageApiV2Service.method.updateAssetShareScope, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.changeTitle(asset.assetName || asset.assetId)}
      submit={text.save}
      {...{ onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ shareUid: asset.uid, permission })}
    >
      <SelectField<ShareScope>
        label={text.scope}
        value={permission}
        options={scopes}
        onValue={setPermission}
      />
      <p className="muted">{text.effect}</p>
    </FormDialog>
  );
}
