import { setTimeout as delay } from "node:timers/promises";
import { type Frame, framesIn } from "../../support/event-stream.ts";
import { type Caller, count } from "./caller.ts";
import type { ShownEvent } from "./events.ts";

/** What somebody saw who watched a task from its first event, over all his connections. */
export interface WatchRecord {
  /** Each event's JSON, as it came. */
  readonly events: string[];
  /** What must not be: a gap, a double, a refusal. */
  readonly flaws: string[];
}

/** Somebody who watches, and connects again wherever there is a node. */
export interface Watcher {
  readonly record: WatchRecord;
  /** Resolves once this event was seen. */
  until(seq: number): Promise<void>;
  close(): void;
}

/** Without a byte for so long a connection is given up: comments come every 15 s. */
const silenceMs = 18_000;
/** Nobody connects again without a pause. */
const pauseMs = 200;
/** Refusals that a fault explains. */
const passing: readonly string[] = ["unavailable", "resource_exhausted"];

/** Watches a task at once; `settles` asks each connection to end when the task rests. */
export function watch(caller: Caller, taskId: string, settles: boolean): Watcher {
  const record: WatchRecord = { events: [], flaws: [] };
  const closed = new AbortController();
  const news = new EventTarget();

  function take({ event, data, lastEventId }: Exclude<Frame, { readonly comment: string }>): void {
    if (event === "end") {
      ended(JSON.parse(data));
      return;
    }
    const { seq, type } = JSON.parse(data) as ShownEvent;
    const next = record.events.length + 1;
    if (seq !== next) record.flaws.push(`event ${seq} came where ${next} was due`);
    if (lastEventId !== `${seq}` || event !== type) record.flaws.push(`the frame ${event} ${lastEventId} holds ${data}`);
    record.events.push(data);
    news.dispatchEvent(new Event("seen"));
  }

  function ended({ ok, error }: { readonly ok: boolean; readonly error?: { readonly code: string } }): void {
    if (!ok && !passing.includes(error?.code ?? "")) record.flaws.push(`the stream ended with ${JSON.stringify(error)}`);
  }

  /** One connection, to its end or its break. */
  async function connect(url: string): Promise<void> {
    const query = new URLSearchParams({ task_id: taskId, after_seq: "0", ...(settles ? { until_settled: "true" } : {}) });
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), silenceMs);
    const seen = record.events.length;
    try {
      const reply = await fetch(`${url}/v2/task.watch?${query}`, {
        headers: { ...caller.headers, ...(seen > 0 ? { "last-event-id": `${seen}` } : {}) },
        signal: AbortSignal.any([closed.signal, silence.signal]),
      });
      if (reply.status === 204) return;
      if (reply.status !== 200 || !reply.body) return ended(JSON.parse(await reply.text()));
      for await (const frame of framesIn(heard(reply.body, timer))) if (!("comment" in frame)) take(frame);
    } finally {
      clearTimeout(timer);
    }
  }

  async function watchOn(): Promise<void> {
    for (let connections = 0; !closed.signal.aborted; connections += 1) {
      const url = caller.anywhere();
      if (url !== undefined) {
        count(caller.tally, connections === 0 ? "watchers" : "watchers' reconnections");
        // Broken off; what was not seen comes with the next one.
        await connect(url).catch(() => undefined);
      }
      await delay(pauseMs, undefined, { signal: closed.signal }).catch(() => undefined);
    }
  }
  void watchOn();

  return {
    record,
    async until(seq) {
      while (record.events.length < seq && !closed.signal.aborted) {
        await new Promise((resolve) => news.addEventListener("seen", resolve, { once: true }));
      }
    },
    close: () => closed.abort(),
  };
}

/** The chunks of a body; each winds the clock of silence up again. */
async function* heard(body: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    timer.refresh();
    yield chunk;
  }
}
