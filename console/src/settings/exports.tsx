import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type EnterpriseExportRecord, ExportStatus } from "#proto/dataexport/v1/export_pb.ts";
import { EnterpriseDataExportV2Service } from "#proto/dataexport/v2/export_service_pb.ts";
import { ComplianceExportStatus } from "#proto/observability/v2/compliance_export_pb.ts";
import { EnterpriseComplianceV2Service } from "#proto/observability/v2/compliance_export_service_pb.ts";
import { clientOf } from "../api/client.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import { EventsDialog, PersonDialog } from "./export-dialogs.tsx";
import { type ExportItem, ExportRow } from "./export-row.tsx";
import { useExportable } from "./exportable.ts";

const text = words(
  {
    people: "Data of a person",
    peopleText: "An archive of what one member did: tasks, files, projects and websites.",
    person: "Person",
    create: "New export",
    none: "No export of this person yet. An archive can be downloaded here when it is ready.",
    events: "Events of agents",
    eventsText: "Messages and uses of tools in the whole team, for a SIEM. One export at a time.",
    noEvents: "No export of events yet. A file can be downloaded here when it is ready.",
    remove: "Delete",
    removeTitle: "Delete this export?",
    removeText: "Its archive and its download addresses are gone at once. The audit log keeps the request.",
    more: "Only the newest 50 are shown.",
  },
  {
    people: "Daten einer Person",
    peopleText: "Ein Archiv dessen, was ein Mitglied getan hat: Aufgaben, Dateien, Projekte und Websites.",
    person: "Person",
    create: "Neuer Export",
    none: "Noch kein Export dieser Person. Ein fertiges Archiv kann hier heruntergeladen werden.",
    events: "Ereignisse der Agenten",
    eventsText:
      "Nachrichten und Aufrufe von Werkzeugen im ganzen Team, für ein SIEM. Immer nur ein Export zur gleichen Zeit.",
    noEvents: "Noch kein Export von Ereignissen. Eine fertige Datei kann hier heruntergeladen werden.",
    remove: "Löschen",
    removeTitle: "Diesen Export löschen?",
    removeText: "Archiv und Downloadadressen sind sofort weg. Das Audit-Protokoll behält die Anfrage.",
    more: "Nur die neuesten 50 werden gezeigt.",
  },
);

const pageSize = 50;

const commandOf = (operation: string): string =>
  `curl -s "${location.origin}/v2/${operation}" -H "x-service-api-key: $KEY"`;

/** Archives of a person's data, and of the events of agents; for the owner. */
export default function ExportsPage() {
  return (
    <>
      <PersonExports />
      <EventExports />
    </>
  );
}

/** While an export is made, its state is asked for again. */
const pollMs = (isWorking: boolean): number | false => (isWorking ? 1500 : false);

function PersonExports() {
  const people = useExportable();
  const [chosen, setChosen] = useState("");
  const user = chosen || (people[0]?.[0] ?? "");
  const exports = useQuery(
    EnterpriseDataExportV2Service.method.listExports,
    { user, page: 1, pageSize },
    {
      enabled: user !== "",
      refetchInterval: ({ state }) =>
        pollMs(state.data?.records.some((record) => isOpen(record.status)) ?? false),
    },
  );
  const client = clientOf(EnterpriseDataExportV2Service);
  return (
    <ExportList
      {...{
        title: text.people,
        about: text.peopleText,
        none: text.none,
        command: commandOf(`enterprise.export.list?user=${encodeURIComponent(user)}`),
      }}
      error={exports.error}
      items={exports.data?.records.map(itemOfRecord)}
      total={exports.data?.total ?? 0}
      onChanged={() => void exports.refetch()}
      onCancel={async (uid) => void (await client.cancelExport({ uid }))}
      onRemove={async (uid) => void (await client.deleteExport({ uid }))}
      urlOf={async (uid) => (await client.getDownloadURL({ uid })).downloadUrl}
      create={(done) => <PersonDialog user={user} people={people} onClose={done} onMade={setChosen} />}
    >
      {people.length > 0 && (
        <SelectField label={text.person} value={user} options={people} onValue={setChosen} />
      )}
    </ExportList>
  );
}

const isOpen = (status: ExportStatus): boolean =>
  status === ExportStatus.PENDING || status === ExportStatus.PROCESSING;

const itemOfRecord = (record: EnterpriseExportRecord): ExportItem => ({
  uid: record.uid,
  state: record.status,
  createdAt: record.createdAt ? timestampMs(record.createdAt) : 0,
  bytes: record.fileSize,
  fault: record.errorMessage,
  percent: record.progress?.percent,
});

/** The states of exports of events, which are never cancelled but fail, as those of the other kind. */
const states: Readonly<Partial<Record<ComplianceExportStatus, ExportStatus>>> = {
  [ComplianceExportStatus.PENDING]: ExportStatus.PENDING,
  [ComplianceExportStatus.PROCESSING]: ExportStatus.PROCESSING,
  [ComplianceExportStatus.COMPLETED]: ExportStatus.COMPLETED,
  [ComplianceExportStatus.FAILED]: ExportStatus.FAILED,
};

const stateOf = (status: ComplianceExportStatus): ExportStatus => states[status] ?? ExportStatus.UNSPECIFIED;

function EventExports() {
  const exports = useQuery(
    EnterpriseComplianceV2Service.method.listExports,
    { page: 1, pageSize },
    {
      refetchInterval: ({ state }) =>
        pollMs(state.data?.records.some(({ status }) => isOpen(stateOf(status))) ?? false),
    },
  );
  const client = clientOf(EnterpriseComplianceV2Service);
  return (
    <ExportList
      {...{
        title: text.events,
        about: text.eventsText,
        none: text.noEvents,
        command: commandOf("enterprise.compliance.export.list"),
      }}
      error={exports.error}
      items={exports.data?.records.map((record) => ({
        uid: record.uid,
        state: stateOf(record.status),
        createdAt: record.createdAt ? timestampMs(record.createdAt) : 0,
        bytes: record.fileSize,
        fault: record.errorMessage,
        percent: record.progress?.percent,
      }))}
      total={exports.data?.total ?? 0}
      onChanged={() => void exports.refetch()}
      onCancel={async (uid) => void (await client.cancelExport({ uid }))}
      onRemove={async (uid) => void (await client.deleteExport({ uid }))}
      urlOf={async (uid) => (await client.getDownloadURL({ uid })).downloadUrl}
      create={(done) => <EventsDialog onClose={done} />}
    />
  );
}

/** A call of one of the two services, for the export with an id. */
const useCall = (mutationFn: (uid: string) => Promise<void>, onSuccess: () => void) =>
  useMutation({ mutationFn, onSuccess });

interface ListProps {
  readonly title: string;
  readonly about: string;
  readonly none: string;
  /** The list by a terminal. */
  readonly command: string;
  readonly error: unknown;
  readonly items: readonly ExportItem[] | undefined;
  readonly total: number;
  readonly onChanged: () => void;
  readonly onCancel: (uid: string) => Promise<void>;
  readonly onRemove: (uid: string) => Promise<void>;
  /** A new download address of the archive. */
  readonly urlOf: (uid: string) => Promise<string>;
  /** The dialog of a new export. */
  readonly create: (done: () => void) => ReactNode;
  readonly children?: ReactNode;
}

function ExportList({
  title,
  about,
  none,
  command,
  error,
  items,
  total,
  onChanged,
  onCancel,
  onRemove,
  urlOf,
  create,
  children,
}: ListProps) {
  const [isMaking, setMaking] = useState(false);
  const [removed, setRemoved] = useState<string>();
  const cancel = useCall(onCancel, onChanged);
  const download = useCall(async (uid) => location.assign(await urlOf(uid)), onChanged);
  return (
    <section className="stack tight" aria-label={title}>
      <div className="actions">
        <h2>{title}</h2>
        <span className="spacer" />
        <button type="button" className="button primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {text.create}
        </button>
      </div>
      <p className="muted">{about}</p>
      {children}
      <ErrorNote error={error ?? cancel.error ?? download.error} onRetry={onChanged} />
      {items?.length === 0 && <Empty command={command}>{none}</Empty>}
      {items && items.length > 0 && (
        <ul className="card rows">
          {items.map((item) => (
            <ExportRow
              key={item.uid}
              item={item}
              isBusy={cancel.isPending}
              onCancel={() => cancel.mutate(item.uid)}
              onDownload={() => download.mutate(item.uid)}
              onRemove={() => setRemoved(item.uid)}
            />
          ))}
        </ul>
      )}
      {total > pageSize && <p className="muted">{text.more}</p>}
      {isMaking &&
        create(() => {
          setMaking(false);
          onChanged();
        })}
      {removed && (
        <RemoveDialog
          onRemove={() => onRemove(removed)}
          onClose={() => setRemoved(undefined)}
          onRemoved={onChanged}
        />
      )}
    </section>
  );
}

function RemoveDialog({
  onRemove,
  onClose,
  onRemoved,
}: {
  onRemove: () => Promise<void>;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const remove = useCall(onRemove, () => {
    onRemoved();
    onClose();
  });
  return (
    <FormDialog
      title={text.removeTitle}
      submit={text.remove}
      danger
      {...{ onClose, error: remove.error, isPending: remove.isPending }}
      onSubmit={() => remove.mutate("")}
    >
      <p>{text.removeText}</p>
    </FormDialog>
  );
}
