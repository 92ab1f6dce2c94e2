import { useMutation, useQuery } from "@connectrpc/connect-query";
import { lazy, Suspense, useState } from "react";
import { type Webhook, WebhookStatus } from "#proto/webhook/v2/webhook_pb.ts";
import { type GetWebhookHealthResponse, WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { Deliveries } from "./deliveries.tsx";
import { ListPage } from "./list-page.tsx";
import { SigningSecret, WebhookDialog } from "./webhook-dialog.tsx";
import { eventTitle } from "./webhook-words.ts";

const text = words(
  {
    about: "Your server gets a signed request for each event of your tasks.",
    create: "New webhook",
    change: "Change",
    rotate: "New secret",
    rotateText:
      "It is shown once. For 24 hours deliveries have a signature with each secret, so that none is refused.",
    rotated: "Copy the new secret now",
    ping: "Send a test request",
    pause: "Pause",
    resume: "Resume",
    log: "Deliveries",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "Pending deliveries are cancelled. This cannot be undone.",
    active: "Active",
    isFailing: "Failing",
    inactive: "Inactive",
    delivered: "delivered",
    failed: "failed",
    pending: "pending",
    failing: "Every attempt has failed since",
    pinged: (ok: boolean, why: string) =>
      ok ? `The test request arrived: ${why}.` : `The test request was refused: ${why}.`,
    more: "More",
    empty: "You have no webhook yet. Your server gets the events of your tasks with one.",
    verify: "How to verify a delivery",
    steps: [
      "Read the bytes of the body before you parse it.",
      "Compute HMAC-SHA256 of id, timestamp and body with the secret, and compare it in constant time with webhook-signature.",
      "Refuse a timestamp that is more than 300 seconds away, and ignore an event_id that you already have.",
      "Answer 2xx within 10 seconds, before long work.",
    ],
  },
  {
    about: "Ihr Server erhält für jedes Ereignis Ihrer Aufgaben eine signierte Anfrage.",
    create: "Neuer Webhook",
    change: "Ändern",
    rotate: "Neues Geheimnis",
    rotateText:
      "Es wird einmal gezeigt. 24 Stunden lang haben Zustellungen eine Signatur mit jedem der beiden, damit keine abgewiesen wird.",
    rotated: "Kopieren Sie das neue Geheimnis jetzt",
    ping: "Testanfrage senden",
    pause: "Anhalten",
    resume: "Fortsetzen",
    log: "Zustellungen",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Wartende Zustellungen werden abgebrochen. Das lässt sich nicht rückgängig machen.",
    active: "Aktiv",
    isFailing: "Schlägt fehl",
    inactive: "Inaktiv",
    delivered: "zugestellt",
    failed: "fehlgeschlagen",
    pending: "wartend",
    failing: "Jeder Versuch ist fehlgeschlagen seit",
    pinged: (ok: boolean, why: string) =>
      ok ? `Die Testanfrage kam an: ${why}.` : `Die Testanfrage wurde abgewiesen: ${why}.`,
    more: "Mehr",
    empty: "Sie haben noch keinen Webhook. Mit einem erhält Ihr Server die Ereignisse Ihrer Aufgaben.",
    verify: "So prüfen Sie eine Zustellung",
    steps: [
      "Lesen Sie die Bytes des Inhalts, bevor Sie ihn auswerten.",
      "Berechnen Sie HMAC-SHA256 von ID, Zeitstempel und Inhalt mit dem Geheimnis, und vergleichen Sie es in konstanter Zeit mit webhook-signature.",
      "Weisen Sie einen Zeitstempel ab, der mehr als 300 Sekunden abweicht, und übergehen Sie eine event_id, die Sie schon haben.",
      "Antworten Sie mit 2xx innerhalb von 10 Sekunden, vor langer Arbeit.",
    ],
  },
);

/** The webhooks of the person, with their health and their log of deliveries. */
export default function WebhooksPage() {
  const webhooks = useQuery(WebhookService.method.listWebhooks, {});
  const [edited, setEdited] = useState<Webhook>();
  const refresh = (): void => void webhooks.refetch();
  return (
    <ListPage
      about={text.about}
      list={webhooks}
      items={webhooks.data?.data}
      row={(webhook, onRemove) => (
        <WebhookRow
          key={webhook.id}
          {...{ webhook, onRemove }}
          onChanged={refresh}
          onEdit={() => setEdited(webhook)}
        />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/webhook.create -H "x-service-api-key: $KEY" -d '{"url": "https://hooks.example.com/in"}'`}
      add={{
        label: text.create,
        dialog: ({ onClose, onDone }) => (
          <WebhookDialog title={text.create} webhook={undefined} onClose={onClose} onSaved={onDone} />
        ),
      }}
      removal={{
        method: WebhookService.method.deleteWebhook,
        input: ({ id }) => ({ webhookId: id }),
        title: (webhook) => text.removeTitle(nameOf(webhook)),
        submit: text.remove,
        text: text.removeText,
      }}
    >
      <Verify />
      {edited && (
        <WebhookDialog
          title={text.change}
          webhook={edited}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
    </ListPage>
  );
}

const nameOf = ({ name, url }: Webhook): string => name || url;

/** How to check a delivery, with code. The code is loaded when the part is opened. */
function Verify() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="card padded" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{text.verify}</summary>
      <div className="stack">
        <ol className="bullets">
          {text.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        {isOpen && (
          <Suspense>
            <WebhookCode />
          </Suspense>
        )}
      </div>
    </details>
  );
}

const WebhookCode = lazy(() => import("./webhook-code.tsx"));

interface RowProps {
  readonly webhook: Webhook;
  readonly onChanged: () => void;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function WebhookRow({ webhook, onChanged, onEdit, onRemove }: RowProps) {
  const webhookId = webhook.id;
  const isActive = webhook.status === WebhookStatus.ACTIVE;
  const [isOpen, setOpen] = useState(false);
  const ping = useMutation(WebhookService.method.pingWebhook);
  const update = useMutation(WebhookService.method.updateWebhook, { onSuccess: onChanged });
  const rotate = useMutation(WebhookService.method.rotateWebhookSecret);
  const setStatus = (): void =>
    update.mutate({ webhookId, status: isActive ? WebhookStatus.INACTIVE : WebhookStatus.ACTIVE });
  const outcome = ping.data?.attempt;
  const health = useQuery(WebhookService.method.getWebhookHealth, { webhookId });
  const isFailing = isActive && health.data?.failingSince !== undefined;
  return (
    <li className="wrap">
      <Icon name="hook" />
      <span className="main">
        <strong>{nameOf(webhook)}</strong>
        {webhook.name && <small>{webhook.url}</small>}
        <small>{webhook.eventTypes.map(eventTitle).join(", ")}</small>
        {health.data && <Health health={health.data} />}
        {webhook.inactiveReason && <small className="fault">{webhook.inactiveReason}</small>}
        {ping.data && (
          <small role="status">
            {text.pinged(ping.data.delivered, `${outcome?.status ?? outcome?.failure ?? ""}`)}
          </small>
        )}
        <ErrorNote error={ping.error ?? update.error ?? rotate.error} />
      </span>
      <span className="actions">
        {isFailing ? (
          <span className="badge fail">{text.isFailing}</span>
        ) : (
          <span className={`badge ${isActive ? "done" : "rest"}`}>
            {isActive ? text.active : text.inactive}
          </span>
        )}
        <button
          type="button"
          className="button"
          aria-expanded={isOpen}
          aria-label={`${text.log}: ${nameOf(webhook)}`}
          onClick={() => setOpen(!isOpen)}
        >
          {text.log}
        </button>
        <Menu
          label={`${text.more}: ${nameOf(webhook)}`}
          entries={[
            { label: text.ping, icon: "up", run: () => ping.mutate({ webhookId }) },
            { label: text.change, icon: "gear", run: onEdit },
            { label: text.rotate, icon: "key", run: () => rotate.mutate({ webhookId }) },
            { label: isActive ? text.pause : text.resume, icon: isActive ? "stop" : "next", run: setStatus },
            { label: text.remove, icon: "bin", danger: true, run: onRemove },
          ]}
        />
      </span>
      {isOpen && <Deliveries webhookId={webhookId} />}
      {rotate.data && (
        <SigningSecret
          title={text.rotated}
          hint={text.rotateText}
          secret={rotate.data.signingSecret}
          onClose={rotate.reset}
        />
      )}
    </li>
  );
}

function Health({ health }: { health: GetWebhookHealthResponse }) {
  return (
    <small className={health.failingSince === undefined ? "" : "fault"}>
      {formatNumber(health.delivered)} {text.delivered} · {formatNumber(health.failed)} {text.failed} ·{" "}
      {formatNumber(health.pending)} {text.pending}
      {health.failingSince !== undefined && (
        <>
          {" "}
          · {text.failing} <Ago at={fromSeconds(health.failingSince)} />
        </>
      )}
    </small>
  );
}
