import type { EventType } from "./event.ts";
import type { LiveText } from "./live-task.ts";
import { attemptOf, type LiveType, type TextHead, textBytesMax } from "./live-text.ts";

/** Shows the text of one run's messages while its agent writes them. */
export interface TextWriter {
  /** Begins a text. A text that was begun and has no event yet is dropped. */
  begin(type: LiveType): void;
  /** Adds to the text. Nothing is shown before `begin`, and nothing beyond 1 MiB. */
  write(text: string): void;
  /**
   * The agent has made events of these types, which are not written yet: the next text is shown after them. A
   * text of one of these types has ended.
   */
  pause(types: readonly EventType[]): void;
  /** All events of the agent are written. */
  resume(lastSeq: number): void;
  close(): void;
}

export interface WritingRun {
  readonly taskId: string;
  readonly fence: number;
  /** Undefined while a resumed turn repeats written events: then nothing is shown before `resume`. */
  readonly lastSeq: number | undefined;
}

/** Where a run's texts are shown. */
export interface TextPlace {
  open(head: TextHead): LiveText;
  add(text: LiveText, more: string): void;
  drop(text: LiveText): void;
}

export function textWriter(
  { open, add, drop }: TextPlace,
  { taskId, fence, lastSeq }: WritingRun,
): TextWriter {
  let inRun = 0;
  let seq = lastSeq;
  /** A text that began before the events before it were written. */
  let held: { type: LiveType; text: string } | null = null;
  let text: LiveText | null = null;
  let isClosed = false;

  function end(): void {
    if (text) drop(text);
    [text, held] = [null, null];
  }
  function start(type: LiveType, afterSeq: number): void {
    inRun += 1;
    const key = `${type === "explanation" ? "t" : "m"}${afterSeq}`;
    text = open({ taskId, key, attempt: attemptOf(fence, inRun), type, afterSeq });
  }

  return {
    begin(type) {
      end();
      if (isClosed) return;
      if (seq === undefined) held = { type, text: "" };
      else start(type, seq);
    },
    write(more) {
      if (held && held.text.length + more.length <= textBytesMax) held.text += more;
      if (text) add(text, more);
    },
    pause(types) {
      if (types.some((type) => type === (text ?? held)?.type)) end();
      seq = undefined;
    },
    resume(lastSeq) {
      seq = lastSeq;
      if (!held) return;
      const { type, text: waiting } = held;
      held = null;
      start(type, lastSeq);
      if (text) add(text, waiting);
    },
    close() {
      isClosed = true;
      end();
    },
  };
}
