import { setTimeout as rest } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import type { ToldFeed } from "./feed.ts";
import { type Link, openLink } from "./link.ts";
import { type News, newsIn } from "./news.ts";
import { createOutbox } from "./outbox.ts";

/** News between the processes of one PostgreSQL, by NOTIFY: soon, at most once, and never needed, for the store is the truth. */
export interface Relay {
  /** Tells the other processes; what cannot be sent makes them look. */
  send(news: News): void;
  /** Sends what is left, and hears no more. */
  close(): Promise<void>;
}

/** What a relay is opened with. */
export interface RelayParts {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Told what other processes say, and of a loss whenever something may not have been heard. */
  readonly told: Pick<ToldFeed, "tell" | "lose">;
  /** Told why there is no connection, once for each time that it is gone. */
  readonly failed: (thrown: unknown) => void;
}

/** What is new within so long after news were sent goes together: each notification is a transaction. The timer is the machine's. */
const restMs = 5;
/** Between two tries to connect: the first pause, doubled each time, and the longest. */
const pauseMs = 100;
const pauseMaxMs = 5_000;

/**
 * One connection of its own listens and tells, and is made anew when it is gone.
 * What changes have to tell is sent here after their commit, together when there is
 * much: NOTIFY within the changes would have PostgreSQL commit them one after the
 * other, for it holds one lock of the whole database while it syncs. Resolves when
 * the relay hears, or could not connect at first.
 */
export async function openRelay({ databaseUrl, clock, told, failed }: RelayParts): Promise<Relay> {
  const outbox = createOutbox();
  const closing = new AbortController();
  let link: Link | null = null;
  let sending = false;
  let sent = Promise.resolve();

  function hear(text: string): void {
    const news = newsIn(text);
    if (news) told.tell(news);
    else told.lose();
  }

  async function sendAll(): Promise<void> {
    sending = true;
    // News of the same moment go together.
    await Promise.resolve();
    for (let texts = outbox.take(); texts.length > 0; texts = outbox.take()) {
      if (!(await link?.send(texts))) {
        outbox.lose();
        break;
      }
      await rest(restMs);
    }
    sending = false;
  }

  function flush(): void {
    if (!sending && link) sent = sendAll();
  }

  async function connect(): Promise<unknown> {
    try {
      link = await openLink(databaseUrl, hear);
    } catch (thrown) {
      return thrown;
    }
    // What was told until now was not heard here.
    told.lose();
    flush();
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
      flush();
    },
    async close() {
      await sent;
      closing.abort();
      await link?.end();
      await staying;
      await link?.end();
    },
  };
}
