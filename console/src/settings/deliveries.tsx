import { useInfiniteQuery, useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Delivery, DeliveryState } from "#proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import { MoreButton } from "../ui/call-dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { titleOf, words } from "../words.ts";
import { eventTitle } from "./webhook-words.ts";

const text = words(
  {
    state: "State",
    states: { 0: "All", 1: "Pending", 2: "Delivered", 3: "Failed", 4: "Cancelled" },
    none: "No delivery.",
    attempts: (count: number) => (count === 1 ? "1 attempt" : `${count} attempts`),
    details: "Details",
    resend: "Send again",
    resent: "It is sent again.",
    recover: "Send failed ones of the last 24 hours again",
    recovered: (count: number) => `${count} sent again.`,
    payload: "Payload",
    older: "Older deliveries",
  },
  {
    state: "Zustand",
    states: { 0: "Alle", 1: "Wartend", 2: "Zugestellt", 3: "Fehlgeschlagen", 4: "Abgebrochen" },
    none: "Keine Zustellung.",
    attempts: (count: number) => (count === 1 ? "1 Versuch" : `${count} Versuche`),
    details: "Einzelheiten",
    resend: "Erneut senden",
    resent: "Sie wird erneut gesendet.",
    recover: "Fehlgeschlagene der letzten 24 Stunden erneut senden",
    recovered: (count: number) => `${count} erneut gesendet.`,
    payload: "Inhalt",
    older: "Ältere Zustellungen",
  },
);

const looks = { 0: "rest", 1: "wait", 2: "done", 3: "fail", 4: "rest" } as const;
const filters = [
  DeliveryState.UNSPECIFIED,
  DeliveryState.DELIVERED,
  DeliveryState.PENDING,
  DeliveryState.FAILED,
] as const;

/** The log of a webhook: what was sent, what came back, and sending it again. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const [state, setState] = useState<DeliveryState>(DeliveryState.UNSPECIFIED);
  const deliveries = useInfiniteQuery(
    WebhookService.method.listDeliveries,
    { webhookId, limit: 20, cursor: "", ...(state === DeliveryState.UNSPECIFIED ? {} : { state }) },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      refetchInterval: 5_000,
      placeholderData: (kept) => kept,
    },
  );
  const refresh = (): void => void deliveries.refetch();
  const recover = useMutation(WebhookService.method.recoverDeliveries, { onSuccess: refresh });
  const found = deliveries.data?.pages.flatMap(({ data }) => data);
  return (
    <div className="stack tight" style={{ flexBasis: "100%" }}>
      <SelectField
        label={text.state}
        value={state}
        options={filters.map((key) => [key, text.states[key]] as const)}
        onValue={setState}
      />
      <ErrorNote error={deliveries.error ?? recover.error} />
      {found?.length === 0 && <p className="muted">{text.none}</p>}
      <ul className="rows">
        {found?.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} onResent={refresh} />
        ))}
      </ul>
      <MoreButton list={deliveries} label={text.older} />
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={recover.isPending}
          onClick={() => recover.mutate({ webhookId, since: BigInt(Math.floor(Date.now() / 1000) - 86_400) })}
        >
          {text.recover}
        </button>
        <span role="status">{recover.data ? text.recovered(recover.data.recovered) : ""}</span>
      </div>
    </div>
  );
}

/** One delivery. @param webhook the name of its webhook, where a list has several. */
export function DeliveryRow({
  delivery,
  webhook,
  onResent,
}: {
  delivery: Delivery;
  webhook?: string;
  onResent: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const resend = useMutation(WebhookService.method.resendDelivery, { onSuccess: onResent });
  const title = eventTitle(delivery.eventType);
  return (
    <li className="wrap flush">
      <span className="main">
        <span>{title}</span>
        {webhook && <small>{webhook}</small>}
        <small>
          <Ago at={fromSeconds(delivery.createdAt)} /> · {text.attempts(delivery.attempts)}
        </small>
        <span role="status">{resend.isSuccess ? text.resent : ""}</span>
        <ErrorNote error={resend.error} />
      </span>
      <span className="actions">
        <span className={`badge ${titleOf(looks, delivery.state)}`}>
          {titleOf(text.states, delivery.state)}
        </span>
        <button type="button" className="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {text.details}
        </button>
        <button
          type="button"
          className="button"
          disabled={resend.isPending}
          onClick={() => resend.mutate({ deliveryId: delivery.id })}
        >
          {text.resend}
        </button>
      </span>
      {isOpen && <Details delivery={delivery} />}
    </li>
  );
}

function Details({ delivery: { id: deliveryId, body } }: { delivery: Delivery }) {
  const attempts = useQuery(
    WebhookService.method.listDeliveryAttempts,
    { deliveryId },
    { refetchInterval: 5_000 },
  );
  return (
    <div className="stack tight" style={{ flexBasis: "100%" }}>
      <ErrorNote error={attempts.error} />
      {attempts.data?.data.map(({ number, at, status, failure, latencyMs, response }) => (
        <div key={number} className="stack tight">
          <p>
            {number}. <Ago at={fromSeconds(at)} /> · {status ?? failure} · {formatNumber(latencyMs)} ms
          </p>
          {response && <pre>{response}</pre>}
        </div>
      ))}
      {body && (
        <>
          <h3>{text.payload}</h3>
          <pre>{body}</pre>
        </>
      )}
    </div>
  );
}
