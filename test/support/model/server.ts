import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropicForm } from "./anthropic-form.ts";
import { type CountedInput, inputCounter } from "./cache.ts";
import { openaiForm } from "./openai-form.ts";
import { responsesForm } from "./responses-form.ts";
import type { Answering, ModelRequest, Reply, Script, WireForm } from "./script.ts";

/** The API of a scripted server. */
export type ModelApi = WireForm["api"];
/** All of them. */
export const modelApis: readonly ModelApi[] = ["openai", "openai-responses", "anthropic"];

/** A model behind HTTP on this machine that sends its script. */
export interface ModelServer extends AsyncDisposable {
  /** The value for `base_url`. */
  readonly baseUrl: string;
  readonly requests: readonly ModelRequest[];
  /** Plays another script from now on. */
  play(script: Script): void;
  /** Resolves once this many requests have arrived since the server was opened. */
  received(count: number): Promise<ModelRequest>;
  /** Resolves once the caller has disconnected from this request, counted from 1, or it was answered. */
  closed(nth: number): Promise<void>;
}

const forms: Readonly<Record<ModelApi, WireForm>> = {
  openai: openaiForm,
  "openai-responses": responsesForm,
  anthropic: anthropicForm,
};

/**
 * Opens a scripted server. A request without a reply in the script is answered with 418, which callers do not
 * retry.
 */
export async function openModelServer(api: ModelApi, first: Script = []): Promise<ModelServer> {
  const form = forms[api];
  const count = inputCounter(api);
  const requests: ModelRequest[] = [];
  const closings: Promise<void>[] = [];
  const waiting: { readonly count: number; readonly resolve: (request: ModelRequest) => void }[] = [];
  let script = first;
  let played = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request));
    const received: ModelRequest = {
      nth: requests.length + 1,
      path: request.url ?? "",
      headers: request.headers,
      body,
      ...form.read(body),
      counted: count(body),
    };
    closings.push(new Promise((resolve) => response.once("close", resolve)));
    requests.push(received);
    played += 1;
    const reply = typeof script === "function" ? script(received) : (script[played - 1] ?? { status: 418 });
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve(received);
    if (request.url?.split("?")[0] !== form.path) response.writeHead(404).end();
    else await give(form, reply, response, received.counted);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    play(next) {
      script = next;
      played = 0;
    },
    received(count) {
      const last = requests[count - 1];
      if (last) return Promise.resolve(last);
      return new Promise((resolve) => waiting.push({ count, resolve }));
    },
    closed: async (nth) => closings[nth - 1],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function give(
  form: WireForm,
  reply: Reply,
  response: ServerResponse,
  counted: CountedInput,
): Promise<void> {
  if ("silence" in reply) return;
  if ("refuse" in reply) return void response.destroy();
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    return void response.end(JSON.stringify(form.error(reply.status)));
  }
  if ("flood" in reply) return give(form, flooding(reply.flood), response, counted);
  await reply.wait;
  response.writeHead(200, { "content-type": "text/event-stream" });
  // Each frame is a separate chunk on the wire.
  const answering = { ...reply, usage: reply.usage === "counted" ? { ...counted, output: 10 } : reply.usage };
  const frames = form.begin(answering);
  for (const [index, frame] of frames.entries()) {
    if (index === frames.length - 1) await reply.hold;
    response.write(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (reply.after === "hang") return;
  if (reply.after === "cut") return void response.destroy();
  if (reply.after === "end") return void response.end();
  if (reply.after === "garbage") return void response.end("data: {not json\n\n");
  response.end(form.end(answering).join(""));
}

const flooding = (characters: number): Answering => ({
  text: Array.from({ length: Math.ceil(characters / 1_000) }, () => "x".repeat(1_000)),
});
