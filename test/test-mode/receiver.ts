import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a receiver got. */
export interface Received {
  readonly id: string;
  /** Unix seconds of its signature. */
  readonly at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A receiver of webhooks in this process. */
export interface Receiver extends Disposable {
  readonly url: string;
  readonly received: Received[];
  /** The status of the next answers. */
  status: number;
}

export async function openReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    received.push({
      id: headers["webhook-id"] ?? "",
      at: Number(headers["webhook-timestamp"]),
      headers,
      body: Buffer.concat(chunks).toString(),
    });
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received,
    status: 200,
    [Symbol.dispose]: () => void server.close(),
  };
  return receiver;
}
