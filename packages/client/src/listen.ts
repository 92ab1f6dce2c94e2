import { ConnectionError } from "./errors.ts";
import type {
  ListenerDelivery,
  ListenerLoss,
  ListenWebhookRequest,
  WebhookListener,
} from "./generated/v2.ts";
import type { StreamEvent, Transport } from "./transport.ts";

/**
 * What a listener yields: itself with its secret first, and then deliveries and counts of dropped events.
 * `type` says which.
 */
export type ListenEvent =
  | ({ readonly type: "listener" } & WebhookListener)
  | ({ readonly type: "delivery" } & ListenerDelivery)
  /** `count` events were dropped since the listener was created, because 100 events waited. */
  | ({ readonly type: "dropped" } & ListenerLoss);

/** The events that a listener gets. */
export interface ListenOptions extends ListenWebhookRequest {
  readonly signal?: AbortSignal | undefined;
}

const types: readonly string[] = ["listener", "delivery", "dropped"] satisfies readonly ListenEvent["type"][];

/** The event of a frame; undefined for a type that this release does not know. */
const eventIn = ({ event, data }: StreamEvent): ListenEvent | undefined =>
  types.includes(event) ? ({ type: event, ...(data as object) } as ListenEvent) : undefined;

/** Opens a listener once. A lost connection ends it: the next listener has another secret. */
export async function* listen(
  http: Transport,
  { signal, ...body }: ListenOptions = {},
): AsyncGenerator<ListenEvent> {
  const operation = "webhook.listen";
  try {
    const events = await http.events(
      { operation, path: `/v2/${operation}`, body, isChange: false },
      { signal },
    );
    if (events === null) throw new ConnectionError(`the answer has no body: ${operation}`);
    for await (const frame of events) {
      const event = eventIn(frame);
      if (event !== undefined) yield event;
    }
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}
