import { useCallback, useEffect, useRef, useState } from "react";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import { SortOrder } from "#proto/task/v2/task_pb.ts";
import { TaskService, type TextDelta } from "#proto/task/v2/task_service_pb.ts";
import { clientOf } from "../api/client.ts";
import { type Connection, keepLive } from "../api/live.ts";
import { addToFeed, emptyFeed, type Feed } from "./feed.ts";

const pageSize = 200;
const pollMs = 2_000;
const newestFirst = { limit: pageSize, order: SortOrder.DESC, verbose: true };

/** A page of older events, the newest first. */
interface OlderPage {
  readonly messages: readonly TaskEvent[];
  readonly hasMore: boolean;
  readonly nextCursor?: string | undefined;
}

/** The events of a task, kept up to date. */
export interface TaskEvents {
  /**
   * Events without gaps: the newest page and what came later, and older pages once requested. And the text
   * that is being written.
   */
  readonly feed: Feed;
  readonly isLoaded: boolean;
  /** The agent has read the messages up to this event; 0 while that is not known. */
  readonly readSeq: number;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  /** Loads all older pages, up to the first event. */
  readonly loadAll: () => Promise<void>;
  readonly connection: Connection;
}

/**
 * Loads the newest events of a task, and follows it while the tab is visible. Each event comes once; a cut
 * leaves no gap.
 */
export function useTaskEvents(taskId: string): TaskEvents {
  const [feed, setFeed] = useState(emptyFeed);
  const [isLoaded, setLoaded] = useState(false);
  const [readSeq, setReadSeq] = useState(0);
  const [older, setOlder] = useState<string>();
  const [connection, setConnection] = useState<Connection>({ kind: "waiting", until: 0 });
  const lastSeq = useRef(0);
  /** Aborted once the page shows another task. */
  const following = useRef(AbortSignal.abort());

  /** Adds newer events and parts of texts, at most once per frame: a burst renders once. */
  const queue = useRef<(TaskEvent | TextDelta)[]>([]);
  const add = useCallback((item: TaskEvent | TextDelta): void => {
    if (queue.current.push(item) > 1) return;
    requestAnimationFrame(() => {
      const batch = queue.current;
      queue.current = [];
      setFeed((known) => addToFeed(known, batch));
    });
  }, []);
  const append = useCallback(
    (event: TaskEvent): void => {
      if (event.seq <= lastSeq.current) return;
      lastSeq.current = event.seq;
      add(event);
    },
    [add],
  );

  useEffect(() => {
    const stop = new AbortController();
    following.current = stop.signal;
    setFeed(emptyFeed);
    setLoaded(false);
    setReadSeq(0);
    lastSeq.current = 0;
    const load = async (signal: AbortSignal): Promise<void> => {
      const page = await clientOf(TaskService).listMessages({ ...newestFirst, taskId }, { signal });
      const first = page.messages.toReversed();
      lastSeq.current = first.at(-1)?.seq ?? 0;
      setFeed({ ...emptyFeed, events: first });
      setOlder(page.hasMore ? page.nextCursor : undefined);
      setLoaded(true);
    };
    const stream = async (signal: AbortSignal, heard: () => void): Promise<void> => {
      const responses = clientOf(TaskService).watchTask(
        { taskId, afterSeq: lastSeq.current, keepAlive: true, deltas: true, reads: true },
        { signal },
      );
      for await (const { event, delta, messageRead } of responses) {
        heard();
        if (messageRead) setReadSeq(messageRead.readSeq);
        if (event) append(event);
        if (delta) add(delta);
      }
    };
    const poll = async (signal: AbortSignal): Promise<void> => {
      for (let hasMore = true; hasMore; ) {
        const request = {
          taskId,
          afterSeq: lastSeq.current,
          limit: pageSize,
          order: SortOrder.ASC,
          verbose: true,
        };
        const page = await clientOf(TaskService).listMessages(request, { signal });
        for (const event of page.messages) append(event);
        hasMore = page.hasMore;
      }
    };
    void keepLive({ load, stream, poll, pollMs }, setConnection, stop.signal);
    return () => stop.abort();
  }, [taskId, add, append]);

  /** Adds older pages: one, or all up to the first event. A failure keeps what has come. */
  const loadPages = useCallback(
    async (max: number): Promise<void> => {
      if (older === undefined) return;
      let cursor: string | undefined = older;
      const signal = following.current;
      const found: TaskEvent[] = [];
      setOlder(undefined);
      try {
        for (let count = 0; cursor !== undefined && count < max; count += 1) {
          const page: OlderPage = await clientOf(TaskService).listMessages(
            { ...newestFirst, taskId, cursor },
            { signal },
          );
          found.push(...page.messages);
          cursor = page.hasMore ? page.nextCursor : undefined;
        }
      } finally {
        if (!signal.aborted) {
          setFeed((known) => ({ ...known, events: [...found.reverse(), ...known.events] }));
          setOlder(cursor);
        }
      }
    },
    [taskId, older],
  );
  const loadOlder = useCallback(() => loadPages(1), [loadPages]);
  const loadAll = useCallback(() => loadPages(Number.POSITIVE_INFINITY), [loadPages]);

  return { feed, isLoaded, readSeq, hasOlder: older !== undefined, loadOlder, loadAll, connection };
}
