import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { AgentCard } from "@a2a-js/sdk";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";

/** An agent of the SDK's server, by JSON-RPC at an address on loopback. */
export interface SdkAgent extends AsyncDisposable {
  readonly url: string;
  /** The headers of each request. */
  readonly headers: Readonly<Record<string, unknown>>[];
}

export async function startSdkAgent(executor: AgentExecutor): Promise<SdkAgent> {
  const card = {
    name: "SDK",
    capabilities: { streaming: true },
    skills: [],
    supportedInterfaces: [],
  } as unknown as AgentCard;
  const handler = new JsonRpcTransportHandler(
    new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
  );
  const headers: SdkAgent["headers"] = [];
  const server = createServer(async (request, response) => {
    headers.push(request.headers);
    const context = new ServerCallContext({ requestedVersion: "1.0" });
    const answer = await handler.handle(await text(request), context);
    if (!(Symbol.asyncIterator in answer)) {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for await (const item of answer) response.write(`data: ${JSON.stringify(item)}\r\n\r\n`);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
