import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { EnterpriseExportScope } from "#proto/dataexport/v1/export_pb.ts";
import { EnterpriseDataExportV2Service } from "#proto/dataexport/v2/export_service_pb.ts";
import { EventName } from "#proto/observability/v2/compliance_export_pb.ts";
import { EnterpriseComplianceV2Service } from "#proto/observability/v2/compliance_export_service_pb.ts";
import { CheckField, SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";

const text = words(
  {
    person: "Person",
    personTitle: "Export the data of a person",
    eventsTitle: "Export events of agents",
    submit: "Export",
    scope: "Content",
    scopes: {
      full: "All data",
      tasks: "Tasks with their events",
      files: "Tasks with events and files",
      custom: "Chosen tasks",
      webs: "Websites",
      projects: "Projects",
    },
    ids: "Ids of the tasks",
    idsHint: "Separated by blanks.",
    files: "With attached files",
    deleted: "With deleted tasks and skills",
    from: "From",
    to: "Until",
    reason: "Reason",
    reasonHint: "Kept in the audit log.",
    kinds: "Kinds of event",
    kindNames: { 1: "Messages of users", 2: "Messages of agents", 3: "Uses of tools", 4: "Results of tools" },
    payload: "With the content of messages and tool calls",
    payloadHint: "Only if the operator allows it (SIEM_PAYLOADS).",
  },
  {
    person: "Person",
    personTitle: "Daten einer Person exportieren",
    eventsTitle: "Ereignisse der Agenten exportieren",
    submit: "Exportieren",
    scope: "Inhalt",
    scopes: {
      full: "Alle Daten",
      tasks: "Aufgaben mit Ereignissen",
      files: "Aufgaben mit Ereignissen und Dateien",
      custom: "Ausgewählte Aufgaben",
      webs: "Websites",
      projects: "Projekte",
    },
    ids: "Ids der Aufgaben",
    idsHint: "Durch Leerzeichen getrennt.",
    files: "Mit angehängten Dateien",
    deleted: "Mit gelöschten Aufgaben und Skills",
    from: "Von",
    to: "Bis",
    reason: "Grund",
    reasonHint: "Steht danach im Audit-Protokoll.",
    kinds: "Arten von Ereignissen",
    kindNames: {
      1: "Nachrichten von Personen",
      2: "Nachrichten von Agenten",
      3: "Aufrufe von Werkzeugen",
      4: "Ergebnisse von Werkzeugen",
    },
    payload: "Mit dem Inhalt von Nachrichten und Aufrufen",
    payloadHint: "Nur wenn der Betreiber es erlaubt (SIEM_PAYLOADS).",
  },
);

const scopes = [
  [EnterpriseExportScope.FULL, text.scopes.full],
  [EnterpriseExportScope.TASKS, text.scopes.tasks],
  [EnterpriseExportScope.TASKS_WITH_ATTACHMENTS, text.scopes.files],
  [EnterpriseExportScope.CUSTOM_SESSION_IDS, text.scopes.custom],
  [EnterpriseExportScope.WEBDEV_PROJECT, text.scopes.webs],
  [EnterpriseExportScope.PROJECT, text.scopes.projects],
] as const;

const noCommon = { from: "", to: "", reason: "" };

/** The members that both kinds of request have; times of the form are local. */
const commonOf = ({ from, to, reason }: typeof noCommon) => ({
  reason,
  ...(from === "" ? {} : { startTime: timestampFromDate(new Date(from)) }),
  ...(to === "" ? {} : { endTime: timestampFromDate(new Date(to)) }),
});

type Common = typeof noCommon;

const CommonFields = ({
  value,
  onValue,
}: {
  value: Common;
  onValue: (change: (value: Common) => Common) => void;
}) => (
  <>
    <div className="pair">
      <TextField
        label={text.from}
        type="datetime-local"
        value={value.from}
        onValue={(from) => onValue((old) => ({ ...old, from }))}
      />
      <TextField
        label={text.to}
        type="datetime-local"
        value={value.to}
        onValue={(to) => onValue((old) => ({ ...old, to }))}
      />
    </div>
    <TextField
      label={text.reason}
      hint={text.reasonHint}
      maxLength={2000}
      value={value.reason}
      onValue={(reason) => onValue((old) => ({ ...old, reason }))}
    />
  </>
);

interface PersonProps {
  readonly user: string;
  readonly people: readonly (readonly [string, string])[];
  readonly onClose: () => void;
  /** Gets the address of the person whose data is exported. */
  readonly onMade: (user: string) => void;
}

/** Requests an archive of one person's data. */
export function PersonDialog({ user, people, onClose, onMade }: PersonProps) {
  const [email, setEmail] = useState(user);
  const [scope, setScope] = useState<EnterpriseExportScope>(EnterpriseExportScope.FULL);
  const [ids, setIds] = useState("");
  const [includeFiles, setFiles] = useState(false);
  const [includeDeleted, setDeleted] = useState(false);
  const [common, setCommon] = useState(noCommon);
  const isCustom = scope === EnterpriseExportScope.CUSTOM_SESSION_IDS;
  const sessionIds = isCustom ? ids.split(/\s+/).filter(Boolean) : [];
  const create = useMutation(EnterpriseDataExportV2Service.method.createExport, {
    onSuccess: () => {
      onMade(email);
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.personTitle}
      submit={text.submit}
      {...{ onClose, error: create.error, isPending: create.isPending, isReady: email !== "" }}
      draft="export person"
      onSubmit={() =>
        create.mutate({ email, scope, sessionIds, includeFiles, includeDeleted, ...commonOf(common) })
      }
    >
      <SelectField label={text.person} value={email} options={people} onValue={setEmail} />
      <SelectField<EnterpriseExportScope>
        label={text.scope}
        value={scope}
        options={scopes}
        onValue={setScope}
      />
      {isCustom && <TextField label={text.ids} hint={text.idsHint} required value={ids} onValue={setIds} />}
      <CheckField label={text.files} checked={includeFiles} onValue={setFiles} />
      <CheckField label={text.deleted} checked={includeDeleted} onValue={setDeleted} />
      <CommonFields value={common} onValue={setCommon} />
    </FormDialog>
  );
}

const kinds = [
  EventName.USER_CHAT,
  EventName.AGENT_REPLY,
  EventName.TOOL_CALL,
  EventName.TOOL_RESULT,
] as const;

/** Requests an archive of the team's events. */
export function EventsDialog({ onClose }: { onClose: () => void }) {
  const [eventNames, setNames] = useState<readonly EventName[]>(kinds);
  const [includePayload, setPayload] = useState(false);
  const [common, setCommon] = useState(noCommon);
  const create = useMutation(EnterpriseComplianceV2Service.method.createExport, { onSuccess: onClose });
  return (
    <FormDialog
      title={text.eventsTitle}
      submit={text.submit}
      {...{ onClose, error: create.error, isPending: create.isPending, isReady: eventNames.length > 0 }}
      draft="export events"
      onSubmit={() => create.mutate({ eventNames: [...eventNames], includePayload, ...commonOf(common) })}
    >
      <fieldset className="stack tight">
        <legend className="legend">{text.kinds}</legend>
        {kinds.map((kind) => (
          <CheckField
            key={kind}
            label={text.kindNames[kind]}
            checked={eventNames.includes(kind)}
            onValue={(on) =>
              setNames(kinds.filter((name) => (name === kind ? on : eventNames.includes(name))))
            }
          />
        ))}
      </fieldset>
      <CheckField
        label={text.payload}
        hint={text.payloadHint}
        checked={includePayload}
        onValue={setPayload}
      />
      <CommonFields value={common} onValue={setCommon} />
    </FormDialog>
  );
}
