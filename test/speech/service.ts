import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request to the transcription service. */
interface Heard {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: FormData;
}

/** A transcription service of a test, on loopback. */
export interface SpeechService extends AsyncDisposable {
  /** The URL before `/audio/transcriptions`. */
  readonly url: string;
  readonly heard: Heard[];
  /** Answers each request after its body has arrived. */
  answer: (reply: ServerResponse, heard: Heard) => void;
}

/** Answers with this text as the transcript. */
export const say =
  (text: string): SpeechService["answer"] =>
  (reply) =>
    void reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text }));

export async function openSpeechService(): Promise<SpeechService> {
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const type = request.headers["content-type"] ?? "";
    const form = await new Response(Buffer.concat(chunks), { headers: { "content-type": type } }).formData();
    const heard = { path: request.url ?? "", headers: request.headers, form };
    service.heard.push(heard);
    service.answer(reply, heard);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // The server listens on TCP.
  const service: SpeechService = {
    url: `http://127.0.0.1:${port}/v1`,
    heard: [],
    answer: say("Hello"),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}
