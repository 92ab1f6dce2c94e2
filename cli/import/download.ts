import { lookup } from "node:dns";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { isPublic } from "../../src/adapters/egress/public-address.ts";
import { defined } from "../../src/core/defined.ts";
import type { CliContext } from "../frame/context.ts";

/** The most bytes of one file. */
export const fileMax = 512 * 1024 ** 2;
/** Milliseconds without progress after which a download fails. */
const silenceMs = 60_000;
const attempts = 4;

/** A file that cannot be copied. `isGone`: the source no longer has it. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
  readonly isGone: boolean;

  constructor(message: string, { isGone = false }: { readonly isGone?: boolean } = {}) {
    super(message);
    this.isGone = isGone;
  }
}

/** The head of an answer, and its bytes. */
interface Reply {
  readonly status: number;
  readonly retryAfter: number;
  readonly length: number | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * Opens the bytes at an address of the source: on its origin, or at a public https address. No credential is
 * sent, and no redirect is followed. An answer of 5xx or 429 is repeated.
 *
 * @throws DownloadError for another address, a file of more than 512 MB, and an answer that is not 200.
 */
export async function openDownload(
  context: Pick<CliContext, "fetch" | "sleep">,
  origin: string,
  address: string,
  max = fileMax,
): Promise<{ readonly size?: number; readonly body: ReadableStream<Uint8Array> }> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) throw new DownloadError("its address is not valid");
  const get = url.origin === origin ? () => getFromSource(context.fetch, url) : () => getPublic(url);
  for (let tried = 1; ; tried += 1) {
    const reply = await get();
    if (reply.status === 200) return opened(reply, max);
    await reply.body.cancel().catch(() => undefined);
    const isTransient = reply.status === 429 || reply.status >= 500;
    if (!isTransient || tried === attempts) throw refusal(reply.status);
    await context.sleep(Math.min(900, reply.retryAfter || 2 ** tried) * 1000);
  }
}

function refusal(status: number): DownloadError {
  if (status === 404 || status === 410)
    return new DownloadError("the source no longer has the file", { isGone: true });
  if (status >= 300 && status < 400)
    return new DownloadError(`its address redirects (HTTP ${status}); redirects are not followed`);
  return new DownloadError(`HTTP ${status}`);
}

function opened({ body, length }: Reply, max: number) {
  const tooLarge = () => new DownloadError(`the file has more than ${max} bytes`);
  if (length !== undefined && length > max) {
    void body.cancel().catch(() => undefined);
    throw tooLarge();
  }
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > max) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
  return { body: body.pipeThrough(counter), ...defined({ size: length }) };
}

async function getFromSource(fetching: typeof fetch, url: URL): Promise<Reply> {
  const reply = await fetching(url.href, { redirect: "manual" }).catch((thrown: unknown) => {
    throw new DownloadError(
      `no connection to the source: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    );
  });
  return {
    status: reply.status === 0 ? 302 : reply.status,
    ...headOf((name) => reply.headers.get(name)),
    body: reply.body ?? new Response("").body ?? new ReadableStream(),
  };
}

/**
 * A request of node:https follows no redirect, and connects only to addresses that `publicLookup` has
 * checked.
 */
function getPublic(url: URL): Promise<Reply> {
  if (url.protocol !== "https:") throw new DownloadError("its address is neither on the source nor https");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) > 0 && !isPublic(host)) throw notPublic(host);
  return new Promise((resolve, reject) => {
    const call = request(url, { lookup: publicLookup, timeout: silenceMs, agent: false }, (reply) => {
      // Both declarations of web streams differ only in their generics.
      const body = Readable.toWeb(reply) as ReadableStream<Uint8Array>;
      resolve({
        status: reply.statusCode ?? 0,
        ...headOf((name) => String(reply.headers[name] ?? "")),
        body,
      });
    });
    call.on("timeout", () => call.destroy(new DownloadError("the download has stopped")));
    call.on("error", (error) =>
      reject(error instanceof DownloadError ? error : new DownloadError(error.message)),
    );
    call.end();
  });
}

const notPublic = (host: string): DownloadError => new DownloadError(`${host} is not a public address`);

/** Looks a name up, and refuses it when one of its addresses is not public. */
export const publicLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error) return done(error, "", 0);
    const refused = found.find(({ address }) => !isPublic(address));
    const [first] = found;
    if (refused || !first) return done(notPublic(host), "", 0);
    if (options.all) return done(null, found);
    return done(null, first.address, first.family);
  });
};

function headOf(header: (name: string) => string | null) {
  const [after, length] = [Number(header("retry-after") || 0), header("content-length")];
  return {
    retryAfter: Number.isFinite(after) && after > 0 ? after : 0,
    length: length && /^\d+$/.test(length) ? Number(length) : undefined,
  };
}
