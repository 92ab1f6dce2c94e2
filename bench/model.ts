import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A model's endpoint with the API of OpenAI, which streams the pieces of an answer on request. */
export interface ModelEndpoint extends AsyncDisposable {
  readonly baseUrl: string;
  /** Resolves once the platform waits for an answer. */
  asked(): Promise<void>;
  /** Streams an answer with a pause after each piece; `sent` is called before each piece is written. */
  answer(pieces: number, pauseMs: number, sent: () => void): Promise<void>;
}

const piece = "Some words ";

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

/** Opens an endpoint on loopback. It serves one answer at a time. */
export async function openModel(): Promise<ModelEndpoint> {
  let waiting = Promise.withResolvers<ServerResponse>();
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      waiting.resolve(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async asked() {
      await waiting.promise;
    },
    async answer(pieces, pauseMs, sent) {
      const response = await waiting.promise;
      waiting = Promise.withResolvers();
      const startedAt = performance.now();
      for (let count = 0; count < pieces; count += 1) {
        await sleep(Math.max(0, startedAt + count * pauseMs - performance.now()));
        sent();
        response.write(chunk({ role: "assistant", content: piece }));
      }
      response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
