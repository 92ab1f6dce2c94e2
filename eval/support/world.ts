import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** A result of the search service, in the form of SearXNG. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly content: string;
  readonly publishedDate?: string;
}

/** What a running task's world may do to it. */
export interface Control {
  /** Sends the task a message. */
  send(text: string): Promise<void>;
  /** Kills the server's process with SIGKILL, and starts it again on the same data. */
  restart(): Promise<void>;
}

/** What is around a task: servers on loopback, generated files, and what happens while it works. */
export interface World extends AsyncDisposable {
  /** Values for `{{name}}` in the prompt. */
  readonly vars: Readonly<Record<string, string>>;
  /** Generated files of the message. */
  readonly inputs?: Readonly<Record<string, Uint8Array | string>>;
  /** The answer to each search. */
  readonly search?: readonly SearchHit[];
  /** A server of the Model Context Protocol, and its tools whose uses the policy approves. */
  readonly connector?: { readonly name: string; readonly url: string; readonly allowed: readonly string[] };
  /** Messages, each sent once the turn before has ended. */
  readonly followUps?: readonly (() => string)[];
  /** Called when the task has begun. */
  readonly during?: (control: Control) => Promise<void>;
}

/** An answer of a page: HTML, or anything else. */
export type PageAnswer =
  | string
  | Buffer
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** A request to a page. */
export interface PageRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** A web server on loopback that records its visits. */
export interface Web extends AsyncDisposable {
  readonly url: string;
  /** The requested paths in order, except `/robots.txt` and `/favicon.ico`. */
  readonly visits: readonly string[];
}

/** Opens a server; an undefined answer is 404. */
export async function openWeb(
  answer: (request: PageRequest) => PageAnswer | undefined | Promise<PageAnswer | undefined>,
): Promise<Web> {
  const visits: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = "GET", url: path = "/" } = request;
    if (!/^\/(robots\.txt|favicon\.ico)$/.test(path)) visits.push(path);
    const headers = new Headers(Object.entries(request.headers).map(([name, text]) => [name, String(text)]));
    const given = (await answer({ method, path, headers, body: await buffer(request) })) ?? { status: 404 };
    const isPlain = typeof given === "string" || Buffer.isBuffer(given);
    const { status = 200, headers: more = {}, body = "" } = isPlain ? {} : given;
    const type = Buffer.isBuffer(given) ? "application/octet-stream" : "text/html; charset=utf-8";
    response.writeHead(status, { "content-type": type, ...more }).end(isPlain ? given : body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // It listens on TCP.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    visits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A page with a title and its content as HTML. */
export const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><main><h1>${title}</h1>${content}</main></body></html>`;

/** The same numbers each time, at least 0 and below `max`. */
export function numbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
}
