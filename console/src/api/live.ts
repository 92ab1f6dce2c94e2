import { Code, ConnectError } from "@connectrpc/connect";
import { isTemporary } from "./client.ts";
import { announceSignedOut } from "./signed-out.ts";
import { holdStreamPlace } from "./stream-places.ts";

const backoffMs = [500, 1_000, 2_000, 4_000, 8_000];
/** Rounds of polling until the next attempt to open a stream. */
const pollRounds = 5;
/**
 * A stream sends at least a keep-alive every 15 seconds. After this silence it is dead, or a proxy holds it
 * back.
 */
const silenceMs = 40_000;

/** How a page gets news: now, again after a pause, or no longer. */
export type Connection =
  | { readonly kind: "live" }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "ended"; readonly error: unknown };

/** Where the news of a page come from. */
export interface LiveSource {
  /** Loads what the page begins with; called again until it succeeds. */
  readonly load: (signal: AbortSignal) => Promise<void>;
  /** Follows until the server ends the stream, and calls `heard` for each response. */
  readonly stream: (signal: AbortSignal, heard: () => void) => Promise<void>;
  /** Asks once. */
  readonly poll: (signal: AbortSignal) => Promise<void>;
  readonly pollMs: number;
}

/**
 * Follows a source until it is gone or the page is left. After each cut it follows again, with growing pauses
 * while the server does not answer; it is live again once the server has answered a poll. While the tab is
 * hidden, it has no stream and asks nothing. When the browser loses or finds its network, it tries again at
 * once: a stream that is cut without an answer would stay silent.
 */
export async function keepLive(
  source: LiveSource,
  report: (connection: Connection) => void,
  signal: AbortSignal,
): Promise<void> {
  let attempt = 0;
  let isLoaded = false;
  let canStream = true;
  while (!signal.aborted) {
    let hasHeard = false;
    let isOpening = false;
    try {
      const wasLoaded = isLoaded;
      if (!wasLoaded) await source.load(signal);
      isLoaded = true;
      await visible(signal);
      if (wasLoaded && attempt > 0) await source.poll(signal);
      report({ kind: "live" });
      const heard = (): void => {
        hasHeard = true;
        attempt = 0;
      };
      isOpening = canStream;
      await followOnce(source, canStream, heard, signal);
      canStream = true;
    } catch (error) {
      if (signal.aborted) return;
      if (ConnectError.from(error).code === Code.Unauthenticated) announceSignedOut();
      // A stream that sent nothing: perhaps a proxy does not let streams through. Polling finds out whether
      // the source is gone.
      const isStreamRefused: boolean = isOpening && !hasHeard;
      if (!isStreamRefused && isFinal(error)) return report({ kind: "ended", error });
      canStream = !isStreamRefused;
      const pause = backoffMs[Math.min(attempt, backoffMs.length - 1)] ?? 0;
      attempt += 1;
      report({ kind: "waiting", until: Date.now() + pause });
      await delay(pause, signal);
    }
  }
}

const isFinal = (error: unknown): boolean =>
  !isTemporary(error) && ConnectError.from(error).code !== Code.ResourceExhausted;

/** Streams while this tab has one of the browser's places for streams and is visible; polls otherwise. */
async function followOnce(
  source: LiveSource,
  canStream: boolean,
  heard: () => void,
  signal: AbortSignal,
): Promise<void> {
  const place = canStream ? await holdStreamPlace() : null;
  const hidden = new AbortController();
  const hide = (): void => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener("visibilitychange", hide);
  hide();
  const cut = new AbortController();
  const lose = (): void => cut.abort();
  addEventListener("offline", lose);
  const either = AbortSignal.any([signal, hidden.signal, cut.signal]);
  try {
    if (place === null) await pollFor(source, heard, either);
    else await streamOnce(source, heard, either);
  } catch (error) {
    if (!hidden.signal.aborted) throw error;
  } finally {
    place?.release();
    removeEventListener("offline", lose);
    document.removeEventListener("visibilitychange", hide);
  }
}

/** Streams, and ends a stream that is silent for too long. */
async function streamOnce(source: LiveSource, heard: () => void, signal: AbortSignal): Promise<void> {
  const silent = new AbortController();
  let timer = setTimeout(() => silent.abort(), silenceMs);
  try {
    await source.stream(AbortSignal.any([signal, silent.signal]), () => {
      heard();
      clearTimeout(timer);
      timer = setTimeout(() => silent.abort(), silenceMs);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Asks a few times and returns, so that the next attempt can be a stream. */
async function pollFor({ poll, pollMs }: LiveSource, heard: () => void, signal: AbortSignal): Promise<void> {
  for (let round = 0; round < pollRounds && !signal.aborted; round += 1) {
    await poll(signal);
    heard();
    await delay(pollMs, signal);
  }
}

/** Resolves once the tab is visible. */
function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve());
  });
}

/** Waits; not longer than until the browser finds its network. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
