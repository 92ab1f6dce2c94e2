import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What happens to one request. `cut` after the server has processed it: no answer arrives. */
export type Fault =
  | "cut before"
  | "cut after"
  | "half an answer"
  | "byte by byte"
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The answer is cut after this number of bytes. */
  | { readonly bytes: number };

/** A request as it arrived. */
export interface Seen {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** A proxy on loopback that treats requests as `faults` says, one fault for each, and passes the others. */
export interface FaultyNetwork extends AsyncDisposable {
  readonly url: string;
  readonly faults: Fault[];
  readonly seen: Seen[];
  /** Streams and other answers that are being sent. */
  readonly open: number;
}

export async function openFaultyNetwork(target: () => string): Promise<FaultyNetwork> {
  const faults: Fault[] = [];
  const seen: Seen[] = [];
  let open = 0;

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await buffer(incoming);
    const { "idempotency-key": key } = incoming.headers;
    seen.push({
      path: incoming.url ?? "",
      key: key === undefined ? undefined : String(key),
      body: body.toString(),
    });
    const fault = faults.shift();
    if (fault === "cut before") return void incoming.socket.destroy();
    if (typeof fault === "object" && "status" in fault)
      return void outgoing.writeHead(fault.status, fault.headers).end(fault.body ?? "");
    const answer = await forward(incoming, body, target());
    if (fault === "cut after") {
      await buffer(answer);
      return void incoming.socket.destroy();
    }
    const { "content-length": length, ...headers } = answer.headers;
    outgoing.writeHead(
      answer.statusCode ?? 0,
      typeof fault === "object" || length === undefined ? headers : { ...headers, "content-length": length },
    );
    // The client may have left while the server worked.
    if (outgoing.closed) return void answer.destroy();
    open += 1;
    outgoing.once("close", () => {
      open -= 1;
      answer.destroy();
    });
    if (fault === undefined) return void answer.pipe(outgoing);
    await sendFaulty(answer, outgoing, fault);
  }

  const server = createServer(
    (incoming, outgoing) => void pass(incoming, outgoing).catch(() => incoming.socket.destroy()),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    seen,
    get open() {
      return open;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function forward(incoming: IncomingMessage, body: Buffer, target: string): Promise<IncomingMessage> {
  const { method = "POST", headers, url = "" } = incoming;
  const sent = request(`${target}${url}`, { method, headers: { ...headers, host: new URL(target).host } });
  sent.end(body);
  const [answer] = await once(sent, "response");
  return answer as IncomingMessage;
}

async function sendFaulty(answer: IncomingMessage, outgoing: ServerResponse, fault: Fault): Promise<void> {
  if (fault === "half an answer") {
    const whole = await buffer(answer);
    outgoing.write(whole.subarray(0, whole.length / 2), () => outgoing.destroy());
  } else if (fault === "byte by byte") {
    for (const byte of await buffer(answer)) {
      outgoing.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    outgoing.end();
  } else if (typeof fault === "object" && "bytes" in fault) {
    let left = fault.bytes;
    for await (const chunk of answer) {
      const part = (chunk as Buffer).subarray(0, left);
      left -= part.length;
      outgoing.write(part);
      if (left <= 0) break;
    }
    outgoing.end();
    outgoing.destroy();
  }
}
