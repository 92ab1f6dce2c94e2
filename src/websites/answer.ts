import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer | Readable;
}

/** What a page may do in its separate origin. Only pages of the same origin can frame it. */
const sandbox = [
  "sandbox",
  ..."downloads forms modals orientation-lock pointer-lock popups popups-to-escape-sandbox presentation same-origin scripts top-navigation-by-user-activation"
    .split(" ")
    .map((right) => `allow-${right}`),
].join(" ");
const policy = "frame-ancestors 'self'; base-uri 'self'; object-src 'self'";

/** Headers of every response of a website's host, which isolate its origin. */
const commonHeaders: OutgoingHttpHeaders = {
  "Referrer-Policy": "strict-origin-when-cross-origin",
  "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "X-Frame-Options": "SAMEORIGIN",
};

/** A PDF has no sandbox, because browsers show no PDF in a sandbox. They run no scripts of a PDF. */
const policyFor = (type: unknown): string => (type === "application/pdf" ? policy : `${sandbox}; ${policy}`);

/**
 * Sends a response, without its body to HEAD. If the body fails, the connection is cut, so that the response
 * never looks complete.
 */
export async function send(
  response: ServerResponse,
  { status, headers, body }: Answer,
  isHead: boolean,
): Promise<void> {
  response.writeHead(status, {
    ...commonHeaders,
    "Content-Security-Policy": policyFor(headers["Content-Type"]),
    ...headers,
  });
  if (isHead || body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
    response.end(isHead ? undefined : body);
    return;
  }
  // The visitor may leave, or reading may fail: in both cases the connection can only be cut.
  await pipeline(body, response).catch(() => response.destroy());
}

const text = (status: number, message: string, headers: OutgoingHttpHeaders = {}): Answer => ({
  status,
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(pageOf(message)),
    "Cache-Control": "no-store",
    ...headers,
  },
  body: pageOf(message),
});

const pageOf = (message: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${message}</title><meta name="viewport" content="width=device-width"><h1>${message}</h1></html>\n`;

/** The same response for missing, unpublished and forbidden pages. */
export const notFound = text(404, "Not found");
export const wrongMethod = text(405, "Method not allowed", { Allow: "GET, HEAD" });
export const failed = text(500, "Something went wrong");
/** A ticket that was used, has expired, or belongs to another website. */
export const badTicket = text(403, "This link was used already, or is too old. Open the website again.");

/** @param status one that keeps GET a GET. */
export const redirect = (
  status: 302 | 303 | 308,
  location: string,
  headers: OutgoingHttpHeaders = {},
): Answer => ({
  status,
  headers: { Location: location, "Cache-Control": "no-store", "Content-Length": 0, ...headers },
});
