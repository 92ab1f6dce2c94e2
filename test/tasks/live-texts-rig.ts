import type { Broadcast, Feed } from "../../src/core/store.ts";
import type { NewEvent, TaskEvent } from "../../src/core/tasks/event.ts";
import type { TextReader } from "../../src/core/tasks/text-reader.ts";

/** Joins processes: texts of each arrive at the others, unless the test loses them. */
export interface Network {
  /** All texts that were sent, in order. */
  readonly sent: readonly string[];
  /** True while texts are lost. */
  lossy: boolean;
  /** The feed and the broadcast of one more process. */
  join(): {
    readonly feed: Feed;
    readonly broadcast: Broadcast;
    readonly stopped: AbortSignal;
    loseNews(): void;
  };
}

export function network(): Network {
  const listeners = new Set<(text: string) => void>();
  const sent: string[] = [];
  const joined: Network = {
    sent,
    lossy: false,
    join() {
      const own = new Set<(text: string) => void>();
      const losses = new Set<() => void>();
      return {
        feed: {
          onTask: () => () => undefined,
          onJob: () => () => undefined,
          onLost: (listener) => {
            losses.add(listener);
            return () => undefined;
          },
        },
        loseNews: () => {
          for (const lost of losses) lost();
        },
        broadcast: {
          send(text) {
            sent.push(text);
            if (!joined.lossy) for (const listener of listeners) if (!own.has(listener)) listener(text);
          },
          onText(listener) {
            listeners.add(listener);
            own.add(listener);
            return () => void listeners.delete(listener);
          },
        },
        stopped: new AbortController().signal,
      };
    },
  };
  return joined;
}

/** The text that a watcher shows: it drops it on a new attempt and on a gap. */
export function shownBy(reader: TextReader) {
  let [shown, attempt] = ["", -1];
  return {
    /** Takes what there is, for a watcher that has the events up to a number. */
    read(sentSeq = 2): string {
      for (const delta of reader.take(sentSeq)) {
        if (delta.attempt !== attempt) [shown, attempt] = ["", delta.attempt];
        shown = delta.offset === shown.length ? shown + delta.text : "";
      }
      return shown;
    },
    get attempt() {
      return attempt;
    },
  };
}

/** An event of the task `t`. */
export const eventAt = (seq: number, event: NewEvent): TaskEvent => ({
  taskId: "t",
  seq,
  timestamp: 0,
  ...event,
});

export const answerAt = (seq: number): TaskEvent =>
  eventAt(seq, { type: "assistant_message", payload: { content: "Done" } });
