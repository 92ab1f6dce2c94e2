import { ExportStatus } from "#proto/dataexport/v1/export_pb.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Ago, formatBytes } from "../ui/time.tsx";
import { words } from "../words.ts";

const text = words(
  {
    states: { 1: "Waits", 2: "In progress", 3: "Ready", 4: "Failed", 5: "Cancelled" },
    asked: "requested",
    cancel: "Cancel export",
    download: "Download",
    remove: "Delete",
    progress: "Progress",
  },
  {
    states: { 1: "Wartet", 2: "In Arbeit", 3: "Fertig", 4: "Fehlgeschlagen", 5: "Abgebrochen" },
    asked: "angefordert",
    cancel: "Export abbrechen",
    download: "Herunterladen",
    remove: "Löschen",
    progress: "Fortschritt",
  },
);

/** An export of either kind. */
export interface ExportItem {
  readonly uid: string;
  readonly state: ExportStatus;
  /** In Unix milliseconds. */
  readonly createdAt: number;
  /** Size of the archive when it is ready. */
  readonly bytes: bigint | undefined;
  /** Why it failed. */
  readonly fault: string | undefined;
  /** While it is made. */
  readonly percent: number | undefined;
}

interface Look {
  readonly tone: string;
  readonly icon: IconName;
  readonly title: string;
}

const waiting: Look = { tone: "rest", icon: "clock", title: text.states[1] };

const looks: Readonly<Partial<Record<ExportStatus, Look>>> = {
  [ExportStatus.PENDING]: waiting,
  [ExportStatus.PROCESSING]: { tone: "run", icon: "running", title: text.states[2] },
  [ExportStatus.COMPLETED]: { tone: "done", icon: "done", title: text.states[3] },
  [ExportStatus.FAILED]: { tone: "fail", icon: "failed", title: text.states[4] },
  [ExportStatus.CANCELLED]: { tone: "rest", icon: "stop", title: text.states[5] },
};

interface RowProps {
  readonly item: ExportItem;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
  readonly onDownload: () => void;
  readonly onRemove: () => void;
}

/** An export with its state, and what can be done with it. */
export function ExportRow({
  item: { uid, state, createdAt, bytes, fault, percent },
  isBusy,
  onCancel,
  onDownload,
  onRemove,
}: RowProps) {
  const isOpen = state === ExportStatus.PENDING || state === ExportStatus.PROCESSING;
  const { tone, icon, title } = looks[state] ?? waiting;
  return (
    <li className="wrap">
      <span className={`badge ${tone}`}>
        <Icon name={icon} className={state === ExportStatus.PROCESSING ? "spin" : ""} />
        {title}
      </span>
      <span className="main">
        <code>{uid}</code>
        <small>
          {text.asked} <Ago at={createdAt} />
          {bytes !== undefined && ` · ${formatBytes(bytes)}`}
          {percent !== undefined && ` · ${percent} %`}
          {fault !== undefined && ` · ${fault}`}
        </small>
        {percent !== undefined && <progress max={100} value={percent} aria-label={text.progress} />}
      </span>
      <span className="actions">
        {isOpen && (
          <button type="button" className="button" disabled={isBusy} onClick={onCancel}>
            {text.cancel}
          </button>
        )}
        {state === ExportStatus.COMPLETED && (
          <button type="button" className="button" onClick={onDownload}>
            <Icon name="download" />
            {text.download}
          </button>
        )}
        {!isOpen && (
          <button type="button" className="button danger" onClick={onRemove}>
            {text.remove}
          </button>
        )}
      </span>
    </li>
  );
}
