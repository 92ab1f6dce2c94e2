import { TimeoutError } from "./errors.ts";

/** The environment of the process; empty in browsers, and in Deno without the permission to read it. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/** Waits. @throws the reason of the signal when it is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });

/** A signal that follows others and has a time limit. `stop` releases both; call it when the work is over. */
export interface Limit {
  readonly signal: AbortSignal;
  /** Stops the time until `renew`. */
  pause(): void;
  /** Starts the time again. */
  renew(): void;
  stop(): void;
}

/** @param what ends the message of the error, for example `task.create`. */
export function timeLimit(ms: number, what: string, outer?: AbortSignal): Limit {
  const own = new AbortController();
  const abort = () => own.abort(outer?.reason);
  const expire = () => own.abort(new TimeoutError(`no answer within ${ms} ms: ${what}`));
  let timer = setTimeout(expire, ms);
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort, { once: true });
  return {
    signal: own.signal,
    pause: () => clearTimeout(timer),
    renew() {
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

/** Random bytes as hex: `crypto.randomUUID` is missing on pages without https. */
export const randomHex = (bytes: number): string =>
  [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/**
 * What another implementation of `fetch` throws, as the TypeError that the standard has. @throws it, for
 * `catch`
 */
const asLost = (thrown: unknown): never => {
  if (thrown instanceof TypeError || thrown instanceof DOMException) throw thrown;
  throw new TypeError(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
};

/** `fetch`, or one of the caller. Node's is looked up at each call, so that it can be replaced. */
export const fetchOf =
  (own: typeof fetch | undefined): typeof fetch =>
  async (...args) =>
    await Promise.resolve()
      .then(() => (own ?? fetch)(...args))
      .catch(asLost);

/** The body of an answer. */
export const textOf = async (reply: Response): Promise<string> => await reply.text().catch(asLost);

/**
 * `fetch` that follows no redirect: credentials and bytes go only to the address of the caller. Cloudflare
 * Workers have no `redirect: "error"`; browsers hide the status of a redirect that is not followed.
 *
 * @throws TypeError as `fetch` does, also for a redirect.
 */
export async function fetchDirectly(
  doFetch: typeof fetch,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const reply = await doFetch(url, { ...init, redirect: "manual" });
  if (reply.type !== "opaqueredirect" && (reply.status < 300 || reply.status > 399)) return reply;
  await reply.body?.cancel();
  throw new TypeError("the server answers with a redirect, which is not followed");
}
