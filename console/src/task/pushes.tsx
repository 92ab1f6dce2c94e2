import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Webhook, WebhookStatus } from "#proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import { CallDialog } from "../ui/call-dialog.tsx";
import { words } from "../words.ts";
import styles from "./task.module.css";

const text = words(
  {
    pushes: "Receivers",
    about: "Each update of this task is sent there (A2A).",
    over: "ended",
    remove: "Delete",
    title: (host: string) => `Stop sending to ${host}?`,
    question: "Nothing more of this task is sent there.",
  },
  {
    pushes: "Empfänger",
    about: "Jede Änderung dieser Aufgabe wird dorthin gesendet (A2A).",
    over: "beendet",
    remove: "Löschen",
    title: (host: string) => `Nicht mehr an ${host} senden?`,
    question: "Von dieser Aufgabe wird nichts mehr dorthin gesendet.",
  },
);

/** Where push notifications of a task go. Nothing without one. */
export function Pushes({ taskId }: { taskId: string }) {
  const list = useQuery(WebhookService.method.listWebhooks, { includeTaskPushes: true }, { retry: false });
  const [leaving, setLeaving] = useState<Webhook>();
  const pushes = list.data?.data.filter((webhook) => webhook.taskId === taskId) ?? [];
  if (pushes.length === 0) return null;
  return (
    <section>
      <h2>
        {text.pushes} <small>{pushes.length}</small>
      </h2>
      <p className="small muted">{text.about}</p>
      <ul className={styles.pushes}>
        {pushes.map((push) => (
          <li key={push.id}>
            <span title={push.url}>
              {hostOf(push)}{" "}
              {push.status === WebhookStatus.INACTIVE && (
                <small title={push.inactiveReason}>{text.over}</small>
              )}
            </span>
            <button type="button" className="button ghost small" onClick={() => setLeaving(push)}>
              {text.remove}
            </button>
          </li>
        ))}
      </ul>
      {leaving && (
        <CallDialog
          method={WebhookService.method.deleteWebhook}
          input={{ webhookId: leaving.id }}
          title={text.title(hostOf(leaving))}
          submit={text.remove}
          onClose={() => setLeaving(undefined)}
          onDone={() => void list.refetch()}
        >
          {text.question}
        </CallDialog>
      )}
    </section>
  );
}

const hostOf = ({ url }: Webhook): string => new URL(url).host;
