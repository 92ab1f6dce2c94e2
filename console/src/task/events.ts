import { Code, ConnectError } from "@connectrpc/connect";
import { useCallback, useEffect, useRef, useState } from "react";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import { SortOrder } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { clientOf, isTemporary } from "../api/client.ts";
import { announceSignedOut } from "../api/signed-out.ts";
import { holdStreamPlace } from "../api/stream-places.ts";

const pageSize = 200;
const pollMs = 2_000;
const backoffMs = [500, 1_000, 2_000, 4_000, 8_000];

/** How the page gets news: by a stream, by polling (other tabs hold the streams), or not now. */
export type Connection =
  | { readonly kind: "live" }
  | { readonly kind: "waiting"; readonly until: number }
  | { readonly kind: "ended"; readonly error: unknown };

/** The events of a task, kept up to date. */
export interface TaskEvents {
  /** In the order of `seq`, without gaps: the newest page and what came later, and older pages once requested. */
  readonly events: readonly TaskEvent[];
  readonly isLoaded: boolean;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  readonly connection: Connection;
}

/** Loads the newest events of a task, and follows it while the tab is visible. Each event comes once; a cut leaves no gap. */
export function useTaskEvents(taskId: string): TaskEvents {
  const [events, setEvents] = useState<readonly TaskEvent[]>([]);
  const [isLoaded, setLoaded] = useState(false);
  const [older, setOlder] = useState<string>();
  const [connection, setConnection] = useState<Connection>({ kind: "waiting", until: 0 });
  const lastSeq = useRef(0);

  /** Adds newer events, at most once per frame: a burst renders once. */
  const queue = useRef<TaskEvent[]>([]);
  const append = useCallback((event: TaskEvent): void => {
    if (event.seq <= lastSeq.current) return;
    lastSeq.current = event.seq;
    if (queue.current.push(event) > 1) return;
    requestAnimationFrame(() => {
      const batch = queue.current;
      queue.current = [];
      setEvents((known) => [...known, ...batch]);
    });
  }, []);

  useEffect(() => {
    const stop = new AbortController();
    setEvents([]);
    setLoaded(false);
    lastSeq.current = 0;
    const load = async (): Promise<void> => {
      const page = await clientOf(TaskService).listMessages(
        { taskId, limit: pageSize, order: SortOrder.DESC, verbose: true },
        { signal: stop.signal },
      );
      const first = page.messages.toReversed();
      lastSeq.current = first.at(-1)?.seq ?? 0;
      setEvents(first);
      setOlder(page.hasMore ? page.nextCursor : undefined);
      setLoaded(true);
    };
    void follow({ taskId, load, append, after: () => lastSeq.current, report: setConnection, signal: stop.signal });
    return () => stop.abort();
  }, [taskId, append]);

  const loadOlder = useCallback(async (): Promise<void> => {
    if (older === undefined) return;
    setOlder(undefined);
    const page = await clientOf(TaskService).listMessages({ taskId, limit: pageSize, order: SortOrder.DESC, verbose: true, cursor: older });
    setEvents((known) => [...page.messages.toReversed(), ...known]);
    setOlder(page.hasMore ? page.nextCursor : undefined);
  }, [taskId, older]);

  return { events, isLoaded, hasOlder: older !== undefined, loadOlder, connection };
}

interface Follow {
  readonly taskId: string;
  readonly load: () => Promise<void>;
  readonly append: (event: TaskEvent) => void;
  readonly after: () => number;
  readonly report: (connection: Connection) => void;
  readonly signal: AbortSignal;
}

/** Follows a task until it is gone or the page is left: again after each cut, longer apart while the server does not answer. */
async function follow({ load, report, signal, ...stream }: Follow): Promise<void> {
  let attempt = 0;
  let isLoaded = false;
  while (!signal.aborted) {
    try {
      if (!isLoaded) await load();
      isLoaded = true;
      await visible(signal);
      report({ kind: "live" });
      await followOnce({ ...stream, signal, began: () => (attempt = 0) });
    } catch (error) {
      if (signal.aborted) return;
      if (ConnectError.from(error).code === Code.Unauthenticated) announceSignedOut();
      if (!isTemporary(error) && ConnectError.from(error).code !== Code.ResourceExhausted) return report({ kind: "ended", error });
      const pause = backoffMs[Math.min(attempt, backoffMs.length - 1)] ?? 0;
      attempt += 1;
      report({ kind: "waiting", until: Date.now() + pause });
      await delay(pause, signal);
    }
  }
}

/** Streams while this tab has one of the browser's places for streams and is visible; polls otherwise. */
async function followOnce({
  taskId,
  append,
  after,
  signal,
  began,
}: Pick<Follow, "taskId" | "append" | "after" | "signal"> & { began: () => void }): Promise<void> {
  const place = await holdStreamPlace();
  const hidden = new AbortController();
  const hide = (): void => {
    if (document.hidden) hidden.abort();
  };
  document.addEventListener("visibilitychange", hide);
  const either = AbortSignal.any([signal, hidden.signal]);
  try {
    if (place === null) await poll({ taskId, append, after, signal: either, began });
    else
      for await (const { event } of clientOf(TaskService).watchTask({ taskId, afterSeq: after(), keepAlive: true }, { signal: either })) {
        began();
        if (event) append(event);
      }
  } catch (error) {
    if (!hidden.signal.aborted) throw error;
  } finally {
    place?.release();
    document.removeEventListener("visibilitychange", hide);
  }
}

/** Asks for news a few times and returns, so that the next attempt can get a place for a stream. */
async function poll({ taskId, append, after, signal, began }: Parameters<typeof followOnce>[0]): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    const page = await clientOf(TaskService).listMessages(
      { taskId, afterSeq: after(), limit: pageSize, order: SortOrder.ASC, verbose: true },
      { signal },
    );
    began();
    for (const event of page.messages) append(event);
    if (!page.hasMore) await delay(pollMs, signal);
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

const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
