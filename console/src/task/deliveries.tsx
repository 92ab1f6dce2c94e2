import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import { DeliveryRow } from "../settings/deliveries.tsx";
import { MoreButton } from "../ui/call-dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { words } from "../words.ts";

const text = words(
  {
    none: "No webhook was notified of this task.",
    webhooks: "Webhooks",
    older: "Older deliveries",
  },
  {
    none: "Kein Webhook wurde über diese Aufgabe benachrichtigt.",
    webhooks: "Webhooks",
    older: "Ältere Zustellungen",
  },
);

/** The deliveries of a task to all webhooks, each with its attempts, and sending it again. */
export function TaskDeliveries({ taskId }: { taskId: string }) {
  const webhooks = useQuery(WebhookService.method.listWebhooks, {});
  const deliveries = useInfiniteQuery(
    WebhookService.method.listDeliveries,
    { taskId, limit: 20, cursor: "" },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      refetchInterval: 5_000,
    },
  );
  const found = deliveries.data?.pages.flatMap(({ data }) => data);
  const nameOf = (id: string): string => {
    const webhook = webhooks.data?.data.find((each) => each.id === id);
    return webhook?.name || webhook?.url || id;
  };
  return (
    <div className="stack tight">
      <ErrorNote error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      {found?.length === 0 && (
        <p className="muted">
          {text.none}{" "}
          <Link to="/settings/$page" params={{ page: "webhooks" }}>
            {text.webhooks}
          </Link>
        </p>
      )}
      <ul className="rows">
        {found?.map((delivery) => (
          <DeliveryRow
            key={delivery.id}
            delivery={delivery}
            webhook={nameOf(delivery.webhookId)}
            onResent={() => void deliveries.refetch()}
          />
        ))}
      </ul>
      <MoreButton list={deliveries} label={text.older} />
    </div>
  );
}
