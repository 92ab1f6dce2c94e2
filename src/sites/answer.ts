import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** What is answered to a visitor of a website. */
export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer | Readable;
}

/** What any page may do in an origin of its own; whatever frames it is of that origin too. */
const sandbox = [
  "sandbox",
  ..."downloads forms modals orientation-lock pointer-lock popups popups-to-escape-sandbox presentation same-origin scripts top-navigation-by-user-activation"
    .split(" ")
    .map((right) => `allow-${right}`),
].join(" ");
const policy = "frame-ancestors 'self'; base-uri 'self'; object-src 'self'";

/** Headers of every answer on a website's host: it is an origin by itself, and stays so. */
const headersOfAll: OutgoingHttpHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "strict-origin-when-cross-origin",
  "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Origin-Agent-Cluster": "?1",
  "X-Frame-Options": "SAMEORIGIN",
};

/** Browsers show no PDF in a sandbox, and run none of what is in it. */
const policyFor = (type: unknown): string => (type === "application/pdf" ? policy : `${sandbox}; ${policy}`);

/** Sends an answer; nothing of its body to HEAD. What breaks off on the way is cut, so that nobody takes it for whole. */
export async function send(response: ServerResponse, { status, headers, body }: Answer, isHead: boolean): Promise<void> {
  response.writeHead(status, { ...headersOfAll, "Content-Security-Policy": policyFor(headers["Content-Type"]), ...headers });
  if (isHead || body === undefined || typeof body === "string" || Buffer.isBuffer(body)) {
    response.end(isHead ? undefined : body);
    return;
  }
  // The visitor may leave, and bytes may end: both cut the connection, which is all that is left to say.
  await pipeline(body, response).catch(() => response.destroy());
}

const text = (status: number, said: string, headers: OutgoingHttpHeaders = {}): Answer => ({
  status,
  headers: {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(pageOf(said)),
    "Cache-Control": "no-store",
    ...headers,
  },
  body: pageOf(said),
});

const pageOf = (said: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${said}</title><meta name="viewport" content="width=device-width"><h1>${said}</h1></html>\n`;

/** The same for what is not there, not published, and not for the visitor. */
export const notFound = text(404, "Not found");
export const wrongMethod = text(405, "Method not allowed", { Allow: "GET, HEAD" });
export const failed = text(500, "Something went wrong");
/** A ticket that was used, or is over, or somebody else's. */
export const badTicket = text(403, "This link was used already, or is too old. Open the website again.");

/** @param status one that keeps GET a GET. */
export const redirect = (status: 302 | 303 | 308, location: string, headers: OutgoingHttpHeaders = {}): Answer => ({
  status,
  headers: { Location: location, "Cache-Control": "no-store", "Content-Length": 0, ...headers },
});
