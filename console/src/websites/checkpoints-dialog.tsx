import { useMutation, useQuery } from "@connectrpc/connect-query";
import { CheckpointStatus, type WebsiteCheckpoint } from "#proto/website/v2/website_pb.ts";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { formatDateTime, fromSeconds } from "../ui/time.tsx";
import { titleOf } from "../words.ts";
import { isOnline, isPublishing, nameOf, type Site } from "./site.ts";
import { text } from "./words.ts";

/** The checkpoints of a website, newest first. While it is online, each saved one can be served instead. */
export function CheckpointsDialog({
  site,
  onClose,
  onDone,
}: {
  site: Site;
  onClose: () => void;
  onDone: () => void;
}) {
  const { websiteId } = site;
  const list = useQuery(WebsiteService.method.listWebsiteCheckpoints, { websiteId });
  const rollBack = useMutation(WebsiteService.method.rollbackWebsite, { onSuccess: onDone });
  const found = list.data?.data;
  const canChoose = isOnline(site);
  const livePlace = found?.findIndex(({ versionId }) => versionId === site.versionId) ?? -1;
  return (
    <Dialog title={`${text.checkpoints}: ${nameOf(site)}`} onClose={onClose} isWide>
      <p className="muted">{canChoose ? text.checkpointsText : text.unpublishedText}</p>
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      <ErrorNote error={rollBack.error} />
      {found?.length === 0 && <p>{text.noCheckpoint}</p>}
      <ul className="rows">
        {found?.map((checkpoint, place) => (
          <CheckpointRow
            key={checkpoint.versionId}
            checkpoint={checkpoint}
            isLive={place === livePlace}
            label={
              canChoose && checkpoint.status === CheckpointStatus.SUCCESS
                ? place < livePlace
                  ? text.rollForward
                  : text.rollBack
                : ""
            }
            isBusy={rollBack.isPending || isPublishing(site)}
            onChoose={() => rollBack.mutate({ websiteId, versionId: checkpoint.versionId })}
          />
        ))}
      </ul>
    </Dialog>
  );
}

interface RowProps {
  readonly checkpoint: WebsiteCheckpoint;
  readonly isLive: boolean;
  /** The text of the button that serves the checkpoint; empty where it cannot be served. */
  readonly label: string;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

const CheckpointRow = ({
  checkpoint: { message, createdAt, status },
  isLive,
  label,
  isBusy,
  onChoose,
}: RowProps) => (
  <li className="flush">
    <span className="main">
      <strong>{message}</strong>
      <small>{formatDateTime(fromSeconds(createdAt))}</small>
    </span>
    {titleOf(text.checkpointStates, status) && (
      <span className="badge rest">{titleOf(text.checkpointStates, status)}</span>
    )}
    {isLive && (
      <span className="badge done">
        <Icon name="done" />
        {text.online}
      </span>
    )}
    {!isLive && label !== "" && (
      <button
        type="button"
        className="button"
        aria-label={`${label}: ${message}`}
        disabled={isBusy}
        onClick={onChoose}
      >
        {label}
      </button>
    )}
  </li>
);
