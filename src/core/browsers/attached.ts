import type { Clock } from "../clock.ts";
import { Failure, failureOf, invalid } from "../failure.ts";
import type { OpenCall } from "../open-call.ts";
import { repeat } from "../repeat.ts";
import type { Store } from "../store.ts";
import { type Browser, browsersMax, type Lender } from "./browser.ts";
import { type Connection, type FromBrowser, openConnection, type ToBrowser } from "./connection.ts";

/** What a browser's program says first. */
export interface Hello extends Pick<Browser, "id" | "name" | "userAgent"> {
  readonly kind: "hello";
}

/** The browsers whose streams this process holds. */
export interface AttachedBrowsers {
  /**
   * Holds a stream. The credential is looked at anew every 5 s (contract/decisions.md 17).
   *
   * @throws Failure as `BrowserService.Attach` has them, also after it began.
   */
  attach(call: OpenCall, messages: AsyncIterable<Hello | FromBrowser>): AsyncGenerator<ToBrowser, void, void>;
  /** The stream of an account's browser, if it is here. */
  find(lender: Lender, id: string): Connection | null;
  /** From now on this process runs tasks, under this id. */
  serve(nodeId: () => string): void;
}

/** What holding streams needs. */
export interface AttachedParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Aborted when no stream is to be held any longer. */
  readonly draining: AbortSignal;
}

const helloMs = 10_000;
const recheckMs = 5_000;
const silentMs = 30_000;

const stopping = (): Failure => new Failure("unavailable", "the server is stopping: attach again", { retryAfter: 1 });
const replaced = (): Failure => new Failure("precondition", "the browser was attached anew elsewhere");

export function attachedBrowsers({ store, clock, draining }: AttachedParts): AttachedBrowsers {
  const held = new Map<string, { readonly browser: Browser; readonly connection: Connection }>();
  let nodeId: (() => string) | undefined;

  async function register({ accountId, spaceId }: Lender, { id, name, userAgent }: Hello): Promise<Browser> {
    if (draining.aborted) throw stopping();
    if (!nodeId) throw new Failure("unavailable", "this process runs no tasks: attach to one that does", { retryAfter: 1 });
    const wanted: Browser = { id, accountId, spaceId, name, userAgent, nodeId: nodeId(), attachedAt: clock.now() };
    return store.change(async (tx) => {
      await tx.accounts.lockSpace(spaceId);
      if ((await tx.browsers.countBeside(wanted, id)) >= browsersMax) {
        throw new Failure("exhausted", `${browsersMax} browsers are online already`);
      }
      const browser = await tx.browsers.put(wanted);
      if (!browser) throw new Failure("exists", "client_id: is another's", { path: "client_id" });
      return browser;
    });
  }

  /** Whether the stream may go on. @throws Failure when it may not. */
  async function check(call: OpenCall, browser: Browser, connection: Connection): Promise<void> {
    await call.again();
    if (clock.monotonic() - connection.heardAt() > silentMs) throw new Failure("unavailable", "the client has said nothing for too long");
    const now = await store.browsers.find(browser, browser.id);
    // Peers took this process for dead, or another attach was later.
    if (!now || nodeId?.() !== browser.nodeId) throw stopping();
    if (now.attachedAt !== browser.attachedAt) throw replaced();
    connection.ping();
  }

  function enter(browser: Browser, connection: Connection): void {
    const before = held.get(browser.id);
    // Two may come at a time: the row says which of them was the later.
    const isLate = before !== undefined && before.browser.attachedAt > browser.attachedAt;
    (isLate ? connection : before?.connection)?.close(replaced());
    if (!isLate) held.set(browser.id, { browser, connection });
  }

  async function leave(browser: Browser, connection: Connection): Promise<void> {
    connection.close();
    if (held.get(browser.id)?.connection === connection) held.delete(browser.id);
    await store.change((tx) => tx.browsers.remove(browser));
  }

  return {
    async *attach(call, messages) {
      const incoming = messages[Symbol.asyncIterator]();
      const hello = await helloFrom(incoming, clock, call.gone);
      const browser = await register(call.caller, hello);
      const connection = openConnection(clock);
      enter(browser, connection);
      const over = new AbortController();
      const close = () => connection.close(draining.aborted ? stopping() : undefined);
      const ends = AbortSignal.any([call.gone, draining]);
      ends.addEventListener("abort", close, { once: true });
      if (ends.aborted) close();
      void listen(incoming, connection);
      const checks = repeat(
        clock,
        recheckMs,
        over.signal,
        () => undefined,
        () => check(call, browser, connection).catch((thrown: unknown) => connection.close(failureOf(thrown))),
      );
      try {
        yield { kind: "attached" };
        yield* connection.outgoing();
      } finally {
        ends.removeEventListener("abort", close);
        over.abort();
        await leave(browser, connection).catch(() => undefined);
        await checks;
      }
    },
    find({ accountId, spaceId }, id) {
      const found = held.get(id);
      const isTheirs = found?.browser.accountId === accountId && found.browser.spaceId === spaceId;
      return isTheirs && found.connection.isOpen() ? found.connection : null;
    },
    serve(of) {
      nodeId = of;
    },
  };
}

/** @throws Failure `invalid` when it does not come first, or not in time. */
async function helloFrom(incoming: AsyncIterator<Hello | FromBrowser>, clock: Clock, gone: AbortSignal): Promise<Hello> {
  const early = new AbortController();
  const late = clock.sleep(helloMs, AbortSignal.any([gone, early.signal])).then(
    () => null,
    () => null,
  );
  const first = await Promise.race([incoming.next(), late]).finally(() => early.abort());
  if (first === null || first.done || first.value.kind !== "hello") throw invalid("hello", "must come first");
  return first.value;
}

/** Hears what the client says, until it ends or says what it must not. */
async function listen(incoming: AsyncIterator<Hello | FromBrowser>, connection: Connection): Promise<void> {
  try {
    for (let said = await incoming.next(); !said.done && connection.isOpen(); said = await incoming.next()) {
      if (said.value.kind === "hello") throw invalid("hello", "comes once");
      connection.hear(said.value);
    }
    connection.close();
  } catch (thrown) {
    // A stream that breaks off is no fault of ours: whoever is still there is told what was wrong with what it said.
    connection.close(thrown instanceof Failure ? thrown : new Failure("cancelled", "the stream broke off"));
  }
}
