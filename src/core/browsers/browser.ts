import { poll } from "../../async/poll.ts";
import type { OpenCall, Scope } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, failureOf, invalidArgument } from "../failure.ts";
import type { Store } from "../store.ts";
import { type Connection, type FromBrowser, openConnection, type ToBrowser } from "./connection.ts";

export type BrowserOwner = Pick<Scope, "accountId" | "spaceId">;

/** A user's browser that agents may use while its stream is open (spec/api.md 7.12, 9.4). */
export interface Browser extends BrowserOwner {
  /** The permanent UUID that the client chose. */
  readonly id: string;
  readonly nodeId: string;
  readonly name: string;
  readonly userAgent: string;
  /** Unix milliseconds. Greater with each attach of the same id, so it identifies the attach. */
  readonly attachedAt: number;
}

/** The maximum number of browsers that an account may have online in a space. */
export const browsersMax = 10;

export interface BrowserRows {
  /** Oldest first. */
  list(owner: BrowserOwner): Promise<readonly Browser[]>;
  find(owner: BrowserOwner, id: string): Promise<Browser | null>;
  /** How many browsers other than this one are online. */
  countOthers(owner: BrowserOwner, id: string): Promise<number>;
  /** Replaces an earlier attach; null if the id belongs to another account or space. */
  put(browser: Browser): Promise<Browser | null>;
  /** Deletes a browser, unless another attach has replaced it. */
  remove(browser: Pick<Browser, "id" | "attachedAt">): Promise<void>;
  /** Deletes all browsers of a node that has ended. */
  deleteOfNode(nodeId: string): Promise<void>;
}

/** The first message of a browser's client. */
export interface Hello extends Pick<Browser, "id" | "name" | "userAgent"> {
  readonly kind: "hello";
}

/** The browsers whose streams this process holds. */
export interface AttachedBrowsers {
  /**
   * Holds a stream. The credential is checked again every 5 s (spec/decisions.md 17).
   *
   * @throws Failure as `BrowserService.Attach` specifies, also after the stream began.
   */
  attach(call: OpenCall, messages: AsyncIterable<Hello | FromBrowser>): AsyncGenerator<ToBrowser, void, void>;
  /** The stream of an account's browser, if this process holds it. */
  find(owner: BrowserOwner, id: string): Connection | null;
  /** From now on this process runs tasks, under this node id. */
  serve(id: () => string): void;
}

export interface AttachedParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Aborted when all streams must end. */
  readonly draining: AbortSignal;
}

const helloMs = 10_000;
const recheckMs = 5_000;
const silentMs = 30_000;

const stoppingFailure = (): Failure =>
  new Failure("unavailable", "the server is stopping: attach again", { retryAfter: 1 });
const replacedFailure = (): Failure =>
  new Failure("failed_precondition", "the browser was attached again elsewhere");

export function attachedBrowsers({ store, clock, draining }: AttachedParts): AttachedBrowsers {
  const streams = new Map<string, { browser: Browser; connection: Connection }>();
  let nodeId: (() => string) | undefined;

  async function register(
    { accountId, spaceId }: BrowserOwner,
    { id, name, userAgent }: Hello,
  ): Promise<Browser> {
    if (draining.aborted) throw stoppingFailure();
    if (!nodeId)
      throw new Failure("unavailable", "this process runs no tasks: attach to one that does", {
        retryAfter: 1,
      });
    const requested: Browser = {
      id,
      accountId,
      spaceId,
      name,
      userAgent,
      nodeId: nodeId(),
      attachedAt: clock.now(),
    };
    return store.change(async (tx) => {
      await tx.accounts.lockSpace(spaceId);
      if ((await tx.browsers.countOthers(requested, id)) >= browsersMax) {
        throw new Failure("resource_exhausted", `${browsersMax} browsers are online already`);
      }
      const browser = await tx.browsers.put(requested);
      if (!browser)
        throw new Failure("already_exists", "client_id: belongs to another account", { path: "client_id" });
      return browser;
    });
  }

  /** Checks that the stream may continue. @throws Failure if it may not. */
  async function check(call: OpenCall, browser: Browser, connection: Connection): Promise<void> {
    await call.reauthenticate();
    if (clock.monotonic() - connection.lastMessageAt() > silentMs)
      throw new Failure("unavailable", "the client was silent for too long");
    const now = await store.browsers.find(browser, browser.id);
    // Other nodes consider this one dead, or deleted the browser.
    if (!now || nodeId?.() !== browser.nodeId) throw stoppingFailure();
    if (now.attachedAt !== browser.attachedAt) throw replacedFailure();
    connection.ping();
  }

  function enter(browser: Browser, connection: Connection): void {
    const before = streams.get(browser.id);
    // Two attaches may arrive at the same time: the row decides which one is later.
    const isLate = before !== undefined && before.browser.attachedAt > browser.attachedAt;
    (isLate ? connection : before?.connection)?.close(replacedFailure());
    if (!isLate) streams.set(browser.id, { browser, connection });
  }

  async function leave(browser: Browser, connection: Connection): Promise<void> {
    connection.close();
    if (streams.get(browser.id)?.connection === connection) streams.delete(browser.id);
    await store.change((tx) => tx.browsers.remove(browser));
  }

  return {
    async *attach(call, messages) {
      const incoming = messages[Symbol.asyncIterator]();
      const hello = await readHello(incoming, clock, call.gone);
      const browser = await register(call.caller, hello);
      const connection = openConnection(clock);
      enter(browser, connection);
      const ended = new AbortController();
      const close = () => connection.close(draining.aborted ? stoppingFailure() : undefined);
      const closing = AbortSignal.any([call.gone, draining]);
      closing.addEventListener("abort", close, { once: true });
      if (closing.aborted) close();
      void receiveAll(incoming, connection);
      const checks = poll(
        clock,
        recheckMs,
        ended.signal,
        () => undefined,
        () =>
          check(call, browser, connection).catch((thrown: unknown) => connection.close(failureOf(thrown))),
      );
      try {
        yield { kind: "attached" };
        yield* connection.outgoing();
      } finally {
        closing.removeEventListener("abort", close);
        ended.abort();
        await leave(browser, connection).catch(() => undefined);
        await checks;
      }
    },
    find({ accountId, spaceId }, id) {
      const stream = streams.get(id);
      const isOwners = stream?.browser.accountId === accountId && stream.browser.spaceId === spaceId;
      return isOwners && stream.connection.isOpen() ? stream.connection : null;
    },
    serve(id) {
      nodeId = id;
    },
  };
}

/** @throws Failure `invalid_argument` when the first message is not a hello, or does not arrive in time. */
async function readHello(
  incoming: AsyncIterator<Hello | FromBrowser>,
  clock: Clock,
  gone: AbortSignal,
): Promise<Hello> {
  const early = new AbortController();
  const late = clock.sleep(helloMs, AbortSignal.any([gone, early.signal])).then(
    () => null,
    () => null,
  );
  const first = await Promise.race([incoming.next(), late]).finally(() => early.abort());
  if (first === null || first.done || first.value.kind !== "hello")
    throw invalidArgument("hello", "must be the first message");
  return first.value;
}

/** Receives the client's messages until the stream ends or a message is invalid. */
async function receiveAll(
  incoming: AsyncIterator<Hello | FromBrowser>,
  connection: Connection,
): Promise<void> {
  try {
    for (
      let message = await incoming.next();
      !message.done && connection.isOpen();
      message = await incoming.next()
    ) {
      if (message.value.kind === "hello") throw invalidArgument("hello", "must be sent once");
      connection.receive(message.value);
    }
    connection.close();
  } catch (thrown) {
    // A broken stream is not an internal error. A client that is still connected receives the reason for
    // refusing its message.
    connection.close(
      thrown instanceof Failure ? thrown : new Failure("cancelled", "the stream was interrupted"),
    );
  }
}
