import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { coalesce } from "../async/coalesce.ts";
import type { Clock } from "../core/clock.ts";
import type { Broadcast } from "../core/store.ts";
import { type ChangeNews, createOutbox, listeners, type NotifiedFeed, parseNews } from "./news.ts";
import { openLock } from "./postgresql-marks.ts";

/** One connection to PostgreSQL that receives notifications of other processes and sends them. */
interface Link {
  /** Returns false when the texts could not be sent; then the link has ended or is about to end. */
  send(channel: Channel, texts: readonly string[]): Promise<boolean>;
  /** Resolves when the connection has ended, with what ended it. Never rejects. */
  readonly gone: Promise<unknown>;
  end(): Promise<void>;
}

/**
 * News of changes; and texts that processes broadcast, on a separate channel because older releases query the
 * store for unknown news.
 */
const channels = ["platform", "platform_texts"] as const;
type Channel = (typeof channels)[number];
/** Waiting broadcast texts; further ones are dropped. */
const broadcastMax = 2_000;
/** The longest time for connecting and for one notification. */
const timeoutMs = 5_000;
/** After this idle time, the system sends TCP keep-alive probes. */
const keepAliveMs = 10_000;

/** @param onText receives the notifications of other connections, not this connection's own. */
async function openLink(databaseUrl: string, onText: (channel: string, text: string) => void): Promise<Link> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  const gone = Promise.withResolvers<unknown>();
  let reason: unknown;
  client.on("error", (thrown) => {
    reason = thrown;
  });
  client.once("end", () => gone.resolve(reason));
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly pid: number }>(
      `SELECT pg_backend_pid() AS pid, pg_advisory_lock_shared(${openLock})`,
    );
    client.on("notification", ({ processId, channel, payload = "" }) => {
      if (processId !== rows[0]?.pid) onText(channel, payload);
    });
    for (const channel of channels) await client.query(`LISTEN ${channel}`);
  } catch (thrown) {
    await client.end();
    throw thrown;
  }
  return {
    gone: gone.promise,
    async send(channel, texts) {
      try {
        await client.query({
          name: "notify",
          text: "SELECT pg_notify($1, text) FROM unnest($2::text[]) AS text",
          values: [channel, texts],
        });
        return true;
      } catch (thrown) {
        reason = thrown;
        void client.end();
        return false;
      }
    },
    end: () => client.end(),
  };
}

/**
 * News between the processes on one PostgreSQL, by NOTIFY: soon, at most once, and optional, because the
 * store is the source of truth.
 */
export interface Relay {
  /** Sends news to the other processes. If news cannot be sent, they query the store. */
  send(news: ChangeNews): void;
  readonly broadcast: Broadcast;
  /** Sends the remaining news, then stops receiving. */
  close(): Promise<void>;
}

/** The parameters for opening a relay. */
export interface RelayParts {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Receives the news of other processes, and a loss whenever news may have been missed. */
  readonly notified: Pick<NotifiedFeed, "publish" | "reportLoss">;
  /** Reports why there is no connection, once for each time it is lost. */
  readonly failed: (thrown: unknown) => void;
  /** Receives the error of a listener of broadcast texts. */
  readonly listenerFailed: (thrown: unknown) => void;
}

/**
 * The pause after each send, which collects news: each notification is a transaction. It uses the system's
 * timer.
 */
const batchMs = 5;
/** The first pause between two tries to connect, doubled each time, and the longest. */
const pauseMs = 100;
const pauseMaxMs = 5_000;

/**
 * Opens a separate connection that listens and notifies, and reconnects after a loss.
 * The news of changes are sent here after their commit, in batches: NOTIFY within the
 * changes would make PostgreSQL commit them sequentially, because it holds one lock of
 * the complete database while it syncs. Resolves when the relay listens, or when the
 * first connection failed.
 */
export async function openRelay({
  databaseUrl,
  clock,
  notified,
  failed,
  listenerFailed,
}: RelayParts): Promise<Relay> {
  const outbox = createOutbox();
  const closing = new AbortController();
  const broadcast = listeners<string>(listenerFailed);
  let waiting: string[] = [];
  let link: Link | null = null;

  function receive(channel: string, text: string): void {
    const news = channel === "platform" ? parseNews(text) : null;
    if (channel === "platform_texts") broadcast.notify(text);
    else if (news) notified.publish(news);
    else notified.reportLoss();
  }

  /**
   * Starts after the caller's current turn of the event loop, so that news of the same turn are sent
   * together.
   */
  const flush = coalesce(async () => {
    if (!link) return;
    const [news, texts] = [outbox.take(), waiting];
    waiting = [];
    if (news.length > 0 && !(await link.send("platform", news))) return outbox.recordLoss();
    if (texts.length > 0) await link?.send("platform_texts", texts);
    if (news.length + texts.length > 0) await pause(batchMs);
  });

  async function connect(): Promise<unknown> {
    try {
      link = await openLink(databaseUrl, receive);
    } catch (thrown) {
      return thrown;
    }
    // News sent before this were not received here.
    notified.reportLoss();
    void flush();
    return null;
  }

  async function stayConnected(): Promise<void> {
    for (let tries = 0; !closing.signal.aborted; tries += 1) {
      if (link) {
        const reason = await link.gone;
        [link, tries] = [null, 0];
        if (!closing.signal.aborted) failed(reason);
      }
      await clock.sleep(Math.min(pauseMs * 2 ** tries, pauseMaxMs), closing.signal).catch(() => undefined);
      if (!closing.signal.aborted) await connect();
    }
  }

  const reason = await connect();
  if (reason !== null) failed(reason);
  const staying = stayConnected();
  return {
    send(news) {
      outbox.put(news);
      void flush();
    },
    broadcast: {
      send(text) {
        // Without a connection they would arrive too late to be of use.
        if (!link || waiting.length >= broadcastMax) return;
        waiting.push(text);
        void flush();
      },
      onText: broadcast.add,
    },
    async close() {
      await flush();
      closing.abort();
      await link?.end();
      await staying;
      await link?.end();
    },
  };
}
