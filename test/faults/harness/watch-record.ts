import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { type Frame, framesIn } from "../../support/event-stream.ts";
import { type Caller, count } from "./caller.ts";
import type { ShownEvent } from "./events.ts";

/** Everything that a watcher of a task received from its first event, over all its connections. */
export interface WatchRecord {
  /** Each event's JSON, as received. */
  readonly events: string[];
  /** What was shown of texts while they were written, after each part (spec/api.md 8.72). */
  readonly texts: string[];
  /** Violations: a gap, a duplicate, a refusal. */
  readonly violations: string[];
}

/** A watcher that reconnects to any node. */
export interface Watcher {
  readonly record: WatchRecord;
  /** Resolves once this event has arrived. */
  until(seq: number): Promise<void>;
  /** Resolves once it holds after an event or a part. */
  untilTrue(holds: () => boolean): Promise<void>;
  close(): void;
}

/** What the tally calls requests of watchers that failed. */
export const refusals = "refusals of watchers";

/** A connection without data for this long is closed: comments arrive every 10 s. */
const silenceMs = 13_000;
/** Pause before a reconnection. */
const pauseMs = 200;
/** Refusals that a fault explains. */
const passing: readonly string[] = ["unavailable", "resource_exhausted"];

/**
 * Watches a task at once; `settles` asks each connection to end when the task is idle, `deltas` for texts
 * while they are written.
 */
export function watch(
  caller: Pick<Caller, "headers" | "readyUrl" | "tally">,
  taskId: string,
  settles: boolean,
  deltas = false,
): Watcher {
  const record: WatchRecord = { events: [], texts: [], violations: [] };
  let text = { attempt: 0, shown: "" };
  const closed = new AbortController();
  const news = new EventTarget();

  function take({ event, data, lastEventId }: Exclude<Frame, { readonly comment: string }>): void {
    if (event === "end" || event === "text_delta") {
      (event === "end" ? ended : takePart)(JSON.parse(data));
      return;
    }
    const { seq, type } = JSON.parse(data) as ShownEvent;
    const next = record.events.length + 1;
    if (seq !== next) record.violations.push(`event ${seq} came where ${next} was due`);
    if (lastEventId !== `${seq}` || event !== type)
      record.violations.push(`the frame ${event} ${lastEventId} holds ${data}`);
    record.events.push(data);
    news.dispatchEvent(new Event("seen"));
  }

  function takePart({
    attempt,
    offset = 0,
    text: part,
  }: {
    readonly attempt: number;
    readonly offset?: number;
    readonly text: string;
  }): void {
    if (attempt < text.attempt)
      record.violations.push(`a part of attempt ${attempt} came after ${text.attempt}`);
    const before = attempt === text.attempt && offset > 0 ? text.shown : "";
    text = { attempt, shown: offset === before.length ? before + part : "" };
    record.texts.push(text.shown);
    news.dispatchEvent(new Event("seen"));
  }

  function ended({ ok, error }: { readonly ok: boolean; readonly error?: { readonly code: string } }): void {
    if (!ok && !passing.includes(error?.code ?? ""))
      record.violations.push(`the stream ended with ${JSON.stringify(error)}`);
  }

  /** One connection, to its end or its break. */
  async function connect(url: string): Promise<void> {
    const query = new URLSearchParams({
      task_id: taskId,
      after_seq: "0",
      ...(settles ? { until_settled: "true" } : {}),
      ...(deltas ? { deltas: "true" } : {}),
    });
    const countBefore = record.events.length;
    const headers = { ...caller.headers, ...(countBefore > 0 ? { "last-event-id": `${countBefore}` } : {}) };
    // A separate socket, which is destroyed on abort in any state.
    const request = get(`${url}/v2/task.watch?${query}`, {
      headers,
      agent: false,
      signal: closed.signal,
      timeout: silenceMs,
    });
    request.once("timeout", () => request.destroy());
    // It may break at any time; the reader of the answer gets the error.
    request.on("error", () => undefined);
    const answered = once(request, "response") as Promise<[IncomingMessage]>; // The type of node:http.
    const [reply] = await answered.catch((thrown: unknown) => {
      if (!closed.signal.aborted) count(caller.tally, `${refusals}: no answer`);
      throw thrown;
    });
    if (reply.statusCode === 204) return;
    if (reply.statusCode !== 200) {
      // 503 is the answer of a process that drains.
      if (reply.statusCode !== 503) count(caller.tally, `${refusals}: ${reply.statusCode}`);
      return ended(JSON.parse(await readText(reply)));
    }
    for await (const frame of framesIn(reply)) if (!("comment" in frame)) take(frame);
  }

  async function watchOn(): Promise<void> {
    for (let connections = 0; !closed.signal.aborted; connections += 1) {
      const url = caller.readyUrl();
      if (url !== undefined) {
        count(caller.tally, connections === 0 ? "watchers" : "watchers' reconnections");
        // The connection broke; missing events arrive on the next one.
        await connect(url).catch(() => undefined);
      }
      await delay(pauseMs, undefined, { signal: closed.signal }).catch(() => undefined);
    }
  }
  void watchOn();

  async function untilTrue(holds: () => boolean): Promise<void> {
    while (!holds() && !closed.signal.aborted)
      await new Promise((resolve) => news.addEventListener("seen", resolve, { once: true }));
  }

  return {
    record,
    until: (seq) => untilTrue(() => record.events.length >= seq),
    untilTrue,
    close: () => closed.abort(),
  };
}
