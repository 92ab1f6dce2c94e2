import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "../client.ts";
import { constructEvent, type WebhookEvent } from "../webhooks.ts";

/** A delivery that arrived. */
export interface ReceivedEvent {
  readonly event: WebhookEvent;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the body, as text. */
  readonly body: string;
}

export interface WaitOptions {
  /** The longest wait in milliseconds, 10,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** A receiver of webhooks in this process. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly webhookId: string;
  readonly secret: string;
  /** The verified deliveries so far, in order. */
  readonly events: readonly ReceivedEvent[];
  /** Bodies whose signature did not verify. */
  readonly invalid: readonly string[];
  /** Sets the status of further answers; at first 200. */
  respond(status: number): void;
  /**
   * The first delivery of a type, or that fits; it may have arrived already. @throws Error after the time,
   * with what arrived
   */
  waitFor(
    wanted: WebhookEvent["event_type"] | ((event: WebhookEvent) => boolean),
    options?: WaitOptions,
  ): Promise<WebhookEvent>;
  /** Removes the webhook and ends the receiver. */
  close(): Promise<void>;
}

/** Starts a receiver and registers it. */
export async function openReceiver(client: Client): Promise<Receiver> {
  let status = 200;
  let secret = "";
  const events: ReceivedEvent[] = [];
  const invalid: string[] = [];
  const waiting = new Set<() => void>();

  async function receive(request: IncomingMessage): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array); // Node yields bytes.
    const body = Buffer.concat(chunks);
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    // The request of the registration: its secret is not known yet.
    if (secret === "") return;
    try {
      // The server's clock may be far from this one.
      const event = await constructEvent(body, headers, { secret }, { tolerance: Number.MAX_SAFE_INTEGER });
      events.push({ event, headers, body: body.toString() });
    } catch {
      invalid.push(body.toString());
    }
    for (const look of waiting) look();
  }

  const server = createServer((request, response) => {
    const answer = status;
    void receive(request).then(() => response.writeHead(answer).end());
  });
  await listen(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const created = await client.webhooks.create({ url });
  secret = created.signing_secret;
  const webhookId = created.webhook.id;

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    // The webhook is gone after a reset.
    await client.webhooks.delete({ webhook_id: webhookId }).catch(() => undefined);
  }

  return {
    url,
    webhookId,
    secret,
    events,
    invalid,
    close,
    respond(next) {
      status = next;
    },
    waitFor: (wanted, { timeoutMs = 10_000 } = {}) =>
      new Promise((resolve, reject) => {
        const fits =
          typeof wanted === "function" ? wanted : (event: WebhookEvent) => event.event_type === wanted;
        const look = () => {
          const found = events.find(({ event }) => fits(event));
          if (found === undefined) return;
          end();
          resolve(found.event);
        };
        const late = setTimeout(() => {
          end();
          const arrived = events.map(({ event }) => event.event_type).join(", ") || "nothing";
          reject(
            new Error(
              `no such delivery within ${timeoutMs} ms; arrived: ${arrived}${invalid.length > 0 ? `, and ${invalid.length} with a bad signature` : ""}`,
            ),
          );
        }, timeoutMs);
        const end = () => {
          clearTimeout(late);
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    [Symbol.asyncDispose]: close,
  };
}

/** A receiver that is not closed does not hold the process. */
const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve).unref());
