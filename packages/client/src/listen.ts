import { ConnectionError, refusalIn } from "./errors.ts";
import { readEvents } from "./events.ts";
import type { ListenerDelivery, ListenerLoss, ListenWebhookRequest, WebhookListener } from "./generated/v2.ts";
import { timeLimit } from "./runtime.ts";
import { readError, type Transport } from "./transport.ts";

/** What a listener yields: itself with its secret first, and then deliveries and counts of dropped events. `type` says which. */
export type ListenEvent =
  | ({ readonly type: "listener" } & WebhookListener)
  | ({ readonly type: "delivery" } & ListenerDelivery)
  /** `count` events were dropped since the listener was created, because 100 events waited. */
  | ({ readonly type: "dropped" } & ListenerLoss);

/** The events that a listener gets. */
export interface ListenOptions extends ListenWebhookRequest {
  readonly signal?: AbortSignal | undefined;
}

/** The server sends a comment after 10 s of silence: after 30 s the connection counts as lost. */
const silenceMs = 30_000;
const types: readonly string[] = ["listener", "delivery", "dropped"] satisfies readonly ListenEvent["type"][];

/** The event of a frame; undefined for a type that this release does not know. */
const eventIn = ({ event, data }: { readonly event: string; readonly data: string }): ListenEvent | undefined =>
  types.includes(event) ? ({ type: event, ...JSON.parse(data) } as ListenEvent) : undefined;

/** Opens a listener once. A lost connection ends it: the next listener has another secret. */
export async function* listen(http: Transport, { signal, ...body }: ListenOptions = {}): AsyncGenerator<ListenEvent> {
  const operation = "webhook.listen";
  const limit = timeLimit(silenceMs, operation, signal);
  try {
    const stream = await http.open({ operation, path: `/v2/${operation}`, body, isChange: false }, limit);
    if (stream === null) throw new ConnectionError(`the answer has no body: ${operation}`);
    for await (const frame of readEvents(stream, () => limit.renew())) {
      if (frame.event === "end") {
        const envelope = JSON.parse(frame.data);
        if (envelope.ok === true) return;
        throw refusalIn(envelope, { status: 0, operation, requestId: undefined, retryAfter: undefined });
      }
      const event = eventIn(frame);
      if (event === undefined) continue;
      // The reader may take its time.
      limit.pause();
      yield event;
      limit.renew();
    }
    throw new ConnectionError(`the stream was cut: ${operation}`);
  } catch (thrown) {
    signal?.throwIfAborted();
    throw readError(thrown, limit, operation);
  } finally {
    limit.stop();
  }
}
