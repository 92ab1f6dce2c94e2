import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { type Webhook, WebhookEventType } from "#proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import { eventTitle, eventTypes } from "./webhook-words.ts";

const text = words(
  {
    url: "Address",
    urlHint: "A public https address. The platform sends a test request to it first.",
    name: "Name",
    events: "Events",
    project: "Only tasks of",
    everyProject: "All projects",
    label: "Only tasks with the label",
    labelHint: "A pair of the task's metadata, for example team=sales.",
    save: "Save",
    made: "Copy the secret now",
    madeText: "Your server verifies deliveries with it. It is shown only this once.",
    done: "Done",
  },
  {
    url: "Adresse",
    urlHint: "Eine öffentliche https-Adresse. Die Plattform sendet zuerst eine Testanfrage an sie.",
    name: "Name",
    events: "Ereignisse",
    project: "Nur Aufgaben von",
    everyProject: "Alle Projekte",
    label: "Nur Aufgaben mit der Markierung",
    labelHint: "Ein Paar der Metadaten der Aufgabe, zum Beispiel team=sales.",
    save: "Speichern",
    made: "Kopieren Sie das Geheimnis jetzt",
    madeText: "Ihr Server prüft damit Zustellungen. Es wird nur dieses eine Mal gezeigt.",
    done: "Fertig",
  },
);

interface WebhookDialogProps {
  readonly title: string;
  /** Absent: a new one. */
  readonly webhook: Webhook | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The form of a webhook. A new one shows its secret afterwards. */
export function WebhookDialog({ title, webhook, onClose, onSaved }: WebhookDialogProps) {
  const projects = useQuery(ProjectService.method.listProjects, {});
  const [url, setUrl] = useState(webhook?.url ?? "");
  const [name, setName] = useState(webhook?.name ?? "");
  const [types, setTypes] = useState(
    webhook?.eventTypes ?? [WebhookEventType.TASK_CREATED, WebhookEventType.TASK_STOPPED],
  );
  const [projectId, setProjectId] = useState(webhook?.projectId ?? "");
  const [label, setLabel] = useState(labelOf(webhook?.metadata));
  const create = useMutation(WebhookService.method.createWebhook, { onSuccess: onSaved });
  const update = useMutation(WebhookService.method.updateWebhook, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  if (create.data)
    return (
      <SigningSecret
        title={text.made}
        hint={text.madeText}
        secret={create.data.signingSecret}
        onClose={onClose}
      />
    );
  const metadata = metadataOf(label);
  const save = (): void => {
    const common = { url, name, eventTypes: types, projectId };
    if (!webhook) create.mutate({ ...common, metadata });
    else
      update.mutate({
        ...common,
        webhookId: webhook.id,
        metadata: { ...cleared(webhook.metadata), ...metadata },
      });
  };
  return (
    <FormDialog
      submit={webhook ? text.save : title}
      {...{
        title,
        onClose,
        error: create.error ?? update.error,
        isPending: create.isPending || update.isPending,
      }}
      draft={`webhook ${webhook?.id ?? "new"}`}
      isReady={types.length > 0}
      onSubmit={save}
    >
      <TextField
        type="url"
        label={text.url}
        hint={text.urlHint}
        required
        maxLength={2048}
        value={url}
        onValue={setUrl}
      />
      <TextField label={text.name} maxLength={100} value={name} onValue={setName} />
      <fieldset className="stack tight">
        <legend className="legend">{text.events}</legend>
        {eventTypes.map((type) => (
          <CheckField
            key={type}
            label={eventTitle(type)}
            checked={types.includes(type)}
            onValue={(checked) =>
              setTypes(checked ? [...types, type] : types.filter((other) => other !== type))
            }
          />
        ))}
      </fieldset>
      <SelectField
        label={text.project}
        value={projectId}
        options={[
          ["", text.everyProject],
          ...(projects.data?.data.map((project) => [project.id, project.name] as const) ?? []),
        ]}
        onValue={setProjectId}
      />
      <TextField
        label={text.label}
        hint={text.labelHint}
        pattern="[A-Za-z0-9_.\-]+=.+"
        value={label}
        onValue={setLabel}
      />
    </FormDialog>
  );
}

const labelOf = (metadata: Readonly<Record<string, string>> = {}): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join();

function metadataOf(label: string): Record<string, string> {
  const [key = "", ...value] = label.split("=");
  return key === "" ? {} : { [key]: value.join("=") };
}

/** An empty value removes a pair. */
const cleared = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(metadata).map((key) => [key, ""]));

/** A signing secret, shown once. */
export const SigningSecret = ({
  title,
  hint,
  secret,
  onClose,
}: {
  title: string;
  hint: string;
  secret: string;
  onClose: () => void;
}) => (
  <Dialog title={title} onClose={onClose}>
    <p>{hint}</p>
    <pre>{secret}</pre>
    <div className="actions">
      <Copy value={secret} />
      <button type="button" className="button primary" onClick={onClose}>
        {text.done}
      </button>
    </div>
  </Dialog>
);
