import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { JsonObject } from "../json.ts";

/** A message of a browser's client, after hello. */
export type FromBrowser =
  | { readonly kind: "result"; readonly id: number; readonly result: JsonObject }
  | { readonly kind: "error"; readonly id: number; readonly error: string }
  /** An event or a pong: the client is connected. */
  | { readonly kind: "alive" };

/** A command of the Chrome DevTools Protocol. */
export interface BrowserCommand {
  /** Empty for the browser itself. */
  readonly sessionId: string;
  readonly method: string;
  readonly params: JsonObject;
}

export type ToBrowser =
  | { readonly kind: "attached" | "ping" }
  | (BrowserCommand & { readonly kind: "command"; readonly id: number });

/** The time limit of a command, and the signal that cancels it. */
export interface CommandDeadline {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** The stream was closed, or no answer arrived in time: the browser cannot be used now. */
export class BrowserLost extends Error {}
/** The browser refused a command; the text is the browser's. */
export class BrowserRefused extends Error {}

/** The user has ended the use of the browser by the task, while the task used it. */
export class BrowserDetached extends Error {}

/** A stream to a browser, with the commands in progress. */
export interface Connection {
  /** @throws BrowserLost, BrowserRefused, or the reason of the signal. */
  send(command: BrowserCommand, patience: CommandDeadline): Promise<JsonObject>;
  ping(): void;
  receive(message: FromBrowser): void;
  /** Yields the messages to send until the stream is closed. @throws the Failure that it was closed with. */
  outgoing(): AsyncGenerator<ToBrowser, void, void>;
  /** Closes the stream, with a failure or normally. */
  close(why?: Failure): void;
  isOpen(): boolean;
  /** By the monotonic clock. */
  lastMessageAt(): number;
}

/** The maximum number of commands that wait for an answer. More indicate an error of the sender. */
const pendingMax = 100;
/**
 * Messages that a client may send between two pings, about 5 s: enough for the events of a busy page, but not
 * for a flood.
 */
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
  let lastMessageAt = clock.monotonic();
  let wakeUp = Promise.withResolvers<void>();
  let closed: { why: Failure | null } | undefined;

  function put(message: ToBrowser): void {
    queue.push(message);
    wakeUp.resolve();
  }

  function settle(id: number, act: (command: Pending) => void): void {
    const command = pending.get(id);
    pending.delete(id);
    if (command) act(command);
  }

  function close(why?: Failure): void {
    closed ??= { why: why ?? null };
    for (const { reject } of pending.values()) reject(new BrowserLost());
    pending.clear();
    wakeUp.resolve();
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
      const ended = new AbortController();
      const timeout = clock.sleep(ms, AbortSignal.any([signal, ended.signal])).then(() => {
        throw new BrowserLost();
      });
      timeout.catch(() => undefined);
      try {
        return await Promise.race([answer, timeout]);
      } finally {
        pending.delete(id);
        ended.abort();
      }
    },
    ping() {
      messages = 0;
      if (!queue.some(({ kind }) => kind === "ping")) put({ kind: "ping" });
    },
    receive(message) {
      lastMessageAt = clock.monotonic();
      messages += 1;
      if (messages > messagesMax)
        close(new Failure("resource_exhausted", `more than ${messagesMax} messages in 5 s`));
      if (message.kind === "result") settle(message.id, ({ resolve }) => resolve(message.result));
      if (message.kind === "error")
        settle(message.id, ({ reject }) => reject(new BrowserRefused(message.error)));
    },
    async *outgoing() {
      for (;;) {
        for (let message = queue.shift(); message && !closed; message = queue.shift()) yield message;
        if (closed?.why) throw closed.why;
        if (closed) return;
        await wakeUp.promise;
        wakeUp = Promise.withResolvers();
      }
    },
    isOpen: () => closed === undefined,
    lastMessageAt: () => lastMessageAt,
  };
}
