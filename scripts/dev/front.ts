import { type IncomingMessage, type ServerResponse, request as send } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { isApplication, relaxedPolicy } from "./page.ts";

/** What the front needs of Vite. */
export interface Modules {
  /** Serves a module or an asset of the console. */
  serve(request: IncomingMessage, response: ServerResponse): void;
  /** The page of the console, with Vite's scripts. */
  page(url: string): Promise<string>;
}

/** Addresses of Vite's dev server; the platform has none of them. */
const ofVite = /^\/(@vite|@fs|@id|@react-refresh|src|node_modules)(\/|$|\?)/;
const isPageRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === "GET" && headers.accept?.includes("text/html") === true;

/** How long a request waits for a server that starts again, in milliseconds. */
const waitMs = 15_000;
const retryMs = 50;

/**
 * The one address of `npm run dev`: modules of the console from Vite, everything else from the platform on
 * `serverPort`.
 */
export const frontOf =
  (serverPort: number, modules: Modules) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const fail = (thrown: unknown): void => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { "content-type": "text/plain" }).end(`${String(thrown)}\n`);
    };
    if (ofVite.test(request.url ?? "")) modules.serve(request, response);
    else forward(request, response, serverPort, modules).catch(fail);
  };

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  serverPort: number,
  modules: Modules,
): Promise<void> {
  const socket = await connected(serverPort);
  const { "accept-encoding": encoding, ...headers } = request.headers;
  const call = send({
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    // A page is read here, so that it must not be compressed.
    headers: isPageRequest(request) || encoding === undefined ? headers : request.headers,
  });
  response.once("close", () => call.destroy());
  request.pipe(call);
  const reply = await new Promise<IncomingMessage>((resolve, reject) =>
    call.once("response", resolve).once("error", reject),
  );
  if (isPageRequest(request) && reply.headers["content-type"]?.startsWith("text/html"))
    return sendPage(request, reply, response, modules);
  const { connection: _connection, ...passed } = reply.headers;
  response.writeHead(reply.statusCode ?? 502, passed);
  // A stream may have no byte for long.
  response.flushHeaders();
  reply.on("error", () => response.destroy()).pipe(response);
}

async function sendPage(
  request: IncomingMessage,
  reply: IncomingMessage,
  response: ServerResponse,
  { page }: Modules,
): Promise<void> {
  const body = await text(reply);
  if (!isApplication(body)) return void response.writeHead(reply.statusCode ?? 502, reply.headers).end(body);
  const { "content-length": _length, "content-security-policy": policy = "", ...headers } = reply.headers;
  const html = await page(request.url ?? "/");
  response
    .writeHead(reply.statusCode ?? 502, {
      ...headers,
      "content-security-policy": relaxedPolicy(String(policy)),
    })
    .end(html);
}

/** Connects to the platform, and waits while it starts again. */
async function connected(port: number): Promise<Socket> {
  const until = performance.now() + waitMs;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const fault = await new Promise<Error | undefined>((resolve) =>
      socket.once("connect", () => resolve(undefined)).once("error", resolve),
    );
    if (fault === undefined) return socket;
    if (performance.now() > until)
      throw new Error("the server does not run: see the terminal of `npm run dev`");
    await delay(retryMs);
  }
}
