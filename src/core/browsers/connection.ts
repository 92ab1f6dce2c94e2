import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { JsonObject } from "../json.ts";

/** What a browser's program says once it has said hello. */
export type FromBrowser =
  | { readonly kind: "result"; readonly id: number; readonly result: JsonObject }
  | { readonly kind: "error"; readonly id: number; readonly error: string }
  /** An event, or a pong: it is there. */
  | { readonly kind: "alive" };

/** A command of the Chrome DevTools Protocol. */
export interface BrowserCommand {
  /** Empty for the browser itself. */
  readonly sessionId: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** What it is told. */
export type ToBrowser = { readonly kind: "attached" | "ping" } | (BrowserCommand & { readonly kind: "command"; readonly id: number });

/** How long a command may take, and who waits for it. */
export interface Patience {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** The stream was closed, or nothing came in time: the browser cannot be worked in now. */
export class BrowserLost extends Error {}
/** The browser refused a command; the text is the browser's own. */
export class BrowserRefused extends Error {}

/** A stream to a browser, with the commands that are under way. */
export interface Connection {
  /** @throws BrowserLost, BrowserRefused, or the reason of the signal. */
  send(command: BrowserCommand, patience: Patience): Promise<JsonObject>;
  ping(): void;
  hear(message: FromBrowser): void;
  /** What is to go out, until the stream is closed. @throws whatever it was closed with. */
  outgoing(): AsyncGenerator<ToBrowser, void, void>;
  /** Ends it, with a refusal or in good order. */
  close(why?: Failure): void;
  isOpen(): boolean;
  /** Of the monotonic clock. */
  heardAt(): number;
}

/** Commands that wait for an answer; who wants more has lost count. */
const pendingMax = 100;
/** Messages of the client's from one ping to the next, about 5 s: a busy page's events fit, a flood does not. */
export const messagesMax = 2_000;

interface Pending {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (thrown: Error) => void;
}

export function openConnection(clock: Clock): Connection {
  const pending = new Map<number, Pending>();
  const queue: ToBrowser[] = [];
  let next = 1;
  let messages = 0;
  let heard = clock.monotonic();
  let news = Promise.withResolvers<void>();
  let closed: { readonly why: Failure | null } | undefined;

  function put(message: ToBrowser): void {
    queue.push(message);
    news.resolve();
  }

  function settle(id: number, act: (of: Pending) => void): void {
    const of = pending.get(id);
    pending.delete(id);
    if (of) act(of);
  }

  function close(why?: Failure): void {
    closed ??= { why: why ?? null };
    for (const { reject } of pending.values()) reject(new BrowserLost());
    pending.clear();
    news.resolve();
  }

  return {
    close,
    async send(command, { ms, signal }) {
      signal.throwIfAborted();
      if (closed || pending.size >= pendingMax) throw new BrowserLost();
      const id = next++;
      const answer = new Promise<JsonObject>((resolve, reject) => pending.set(id, { resolve, reject }));
      answer.catch(() => undefined);
      put({ kind: "command", id, ...command });
      const over = new AbortController();
      const late = clock.sleep(ms, AbortSignal.any([signal, over.signal])).then(() => {
        throw new BrowserLost();
      });
      late.catch(() => undefined);
      try {
        return await Promise.race([answer, late]);
      } finally {
        pending.delete(id);
        over.abort();
      }
    },
    ping() {
      messages = 0;
      if (!queue.some(({ kind }) => kind === "ping")) put({ kind: "ping" });
    },
    hear(message) {
      heard = clock.monotonic();
      messages += 1;
      if (messages > messagesMax) close(new Failure("exhausted", `more than ${messagesMax} messages in 5 s`));
      if (message.kind === "result") settle(message.id, ({ resolve }) => resolve(message.result));
      if (message.kind === "error") settle(message.id, ({ reject }) => reject(new BrowserRefused(message.error)));
    },
    async *outgoing() {
      for (;;) {
        for (let message = queue.shift(); message && !closed; message = queue.shift()) yield message;
        if (closed?.why) throw closed.why;
        if (closed) return;
        await news.promise;
        news = Promise.withResolvers();
      }
    },
    isOpen: () => closed === undefined,
    heardAt: () => heard,
  };
}
