import { type LiveTask, partsFrom } from "./live-task.ts";
import type { TextDelta } from "./live-text.ts";

/** What one watcher has received of a task's texts. */
export interface TextReader {
  /** The parts that the watcher does not have, once it has received the events up to a number. */
  take(sentSeq: number): readonly TextDelta[];
  /** Resolves when there may be more. */
  next(): Promise<void>;
  /** A second call does nothing. */
  close(): void;
}

/** @param onClose called when the watcher has left. */
export function textReader(task: LiveTask, onClose: () => void): TextReader {
  let attempt = -1;
  let offset = 0;
  let isAwake = true;
  let resolveNext = (): void => undefined;
  const wake = () => {
    isAwake = true;
    resolveNext();
  };
  const reset = () => {
    isAwake = false;
  };
  task.wakers.add(wake);
  return {
    take(sentSeq) {
      const { text } = task;
      if (!text || text.afterSeq > sentSeq) return [];
      if (text.attempt !== attempt) [attempt, offset] = [text.attempt, 0];
      const from = offset;
      offset = Math.max(from, text.shown);
      return from < text.shown ? partsFrom(text, from) : [];
    },
    next() {
      const awake = isAwake ? Promise.resolve() : new Promise<void>((resolve) => (resolveNext = resolve));
      return awake.then(reset);
    },
    close() {
      task.wakers.delete(wake);
      onClose();
    },
  };
}
