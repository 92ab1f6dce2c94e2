import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { hangMs } from "../support/patience.ts";

/** A request that a receiver of push notifications got. */
export interface Notified {
  readonly headers: IncomingMessage["headers"];
  /** The path of the receiver's URL. */
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as the receiver sees them
  readonly body: any;
}

/** A receiver of push notifications on this machine. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly got: Notified[];
  /** What it answers from now on; by default 200. The promise of an answer holds the request. */
  answer: (request: Notified) => Answer | Promise<Answer>;
  /** Waits until it has got this many requests of a path. */
  until(count: number, path?: string): Promise<readonly Notified[]>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openReceiver(): Promise<Receiver> {
  const got: Notified[] = [];
  const server = createServer(async (request, response) => {
    const notified = {
      headers: request.headers,
      path: request.url ?? "",
      body: JSON.parse(await text(request)),
    };
    got.push(notified);
    const { status, headers = {} } = await receiver.answer(notified);
    response.writeHead(status, headers).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const of = (path?: string) => got.filter((each) => path === undefined || each.path === path);
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}`,
    got,
    answer: () => ({ status: 200 }),
    async until(count, path) {
      await expect.poll(() => of(path).length, { timeout: hangMs }).toBeGreaterThanOrEqual(count);
      return of(path);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
