import { ApiError } from "./errors.ts";
import type { MessageRead, TaskEvent, TextDelta } from "./generated/v2.ts";
import { type LiveText, withPart } from "./live-text.ts";
import { backoffMs, isTransient, type Transport } from "./transport.ts";

/**
 * A part of a message that the agent writes now, with the text so far. The event that follows has the
 * complete text.
 */
export interface TextDeltaEvent {
  readonly type: "text_delta";
  readonly delta: TextDelta;
  /** The text of the message as far as it is written. */
  readonly text: string;
}

/**
 * What a watch yields: the events of the task, and with `deltas` the text that the agent writes now. `type`
 * says which.
 */
export type WatchEvent = TaskEvent | TextDeltaEvent;

/** Settings of a watch. */
export interface WatchOptions {
  /** Only events with a greater `seq`. Default: all events. */
  readonly afterSeq?: number | undefined;
  /** Ends when the task does not run and all its events have arrived. Default false. */
  readonly untilSettled?: boolean | undefined;
  /** Also yields the text of messages while the agent writes them. */
  readonly deltas?: boolean | undefined;
  /** Receives the event up to which the agent has read the user's messages: first, and after each change. */
  readonly onRead?: ((readSeq: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How often a connection is opened again without any event in between, 10 by default. */
  readonly retries?: number | undefined;
}

/** Puts deltas together. */
export class LiveTexts {
  #live: (LiveText & Pick<TextDelta, "type">) | undefined;

  /** The text with this part; undefined when the parts before it are missing. */
  add({ message_key: messageKey, attempt, offset, text, type }: TextDelta): string | undefined {
    const live = withPart(this.#live, { key: messageKey, attempt, offset, text });
    if (live) this.#live = { ...live, type };
    return live?.text || undefined;
  }

  /** The event has the complete text, or ends the turn. */
  end(event: TaskEvent): void {
    if (this.#live && (event.type === this.#live.type || event.type === "status_update"))
      this.#live = { ...this.#live, text: "" };
  }
}

/**
 * Watches a task: every event once, in order of `seq`, through lost connections and restarts of the server.
 */
export async function* watchTask(
  http: Transport,
  taskId: string,
  options: WatchOptions = {},
): AsyncGenerator<WatchEvent> {
  const { afterSeq = 0, untilSettled = false, deltas = false, onRead } = options;
  const { signal, headers = {}, retries = 10 } = options;
  let seq = afterSeq;
  let failures = 0;
  const live = new LiveTexts();
  for (;;) {
    const body = {
      task_id: taskId,
      after_seq: seq,
      until_settled: untilSettled,
      deltas,
      ...(onRead && { reads: true }),
    };
    try {
      const events = await http.events(
        { operation: "task.watch", path: "/v2/task.watch", body, isChange: false },
        { signal, headers },
      );
      // None: the task is settled, and has no event after this one.
      for await (const { event, data } of events ?? []) {
        failures = 0;
        if (event === "text_delta") {
          const delta = data as TextDelta;
          const text = live.add(delta);
          if (text !== undefined) yield { type: "text_delta", delta, text };
          continue;
        }
        if (event === "message_read") {
          onRead?.((data as MessageRead).read_seq);
          continue;
        }
        const taskEvent = data as TaskEvent;
        live.end(taskEvent);
        seq = taskEvent.seq;
        yield taskEvent;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!http.reopens || !isTransient(error) || failures >= retries) throw error;
      const after = error instanceof ApiError ? error.retryAfter : undefined;
      await http.sleep(after === undefined ? backoffMs(Math.min(failures, 4)) : after * 1000, signal);
      failures += 1;
    }
  }
}
