import type { TaskEvent } from "./event.ts";
import { type LiveRelayParts, liveRelay } from "./live-relay.ts";
import { append, type LiveTask, type LiveText, newLiveTask, newText, show } from "./live-task.ts";
import { endsTurn, liveTypes, type TextDelta, type TextHead, wholeLength } from "./live-text.ts";
import { type TextReader, textReader } from "./text-reader.ts";
import { type TextWriter, textWriter, type WritingRun } from "./text-writer.ts";

/** Texts of running tasks while they are written. None is stored (spec/decisions.md 89). */
export interface LiveTexts {
  writer(run: WritingRun): TextWriter;
  reader(taskId: string): TextReader;
  /** True while a process has a watcher of the task. */
  isWatched(taskId: string): boolean;
  /**
   * Shows a part that a worker has sent to this process. Returns the offset from which the watchers lack the
   * text.
   */
  forward(delta: TextDelta): number;
  /** A watcher has received an event: the texts that it replaces are no longer shown. */
  replace(event: TaskEvent): void;
}

/** Parts of a text are shown and sent at most this often. */
const batchMs = 50;

export function liveTexts(parts: LiveRelayParts): LiveTexts {
  const { clock } = parts;
  /** The tasks that this process watches or writes. */
  const tasks = new Map<string, LiveTask>();

  function taskOf(taskId: string): LiveTask {
    const task = tasks.get(taskId) ?? newLiveTask(taskId);
    tasks.set(taskId, task);
    return task;
  }

  function forgetIdle(task: LiveTask): void {
    if (task.wakers.size === 0 && !task.text?.isOwn) tasks.delete(task.taskId);
  }

  const hasMore = (text: LiveText): boolean => wholeLength(text.value) > text.shown || text.isRequested;

  /** Shows and sends what was written: at once, or at the end of the batch. */
  async function batch(task: LiveTask, text: LiveText): Promise<void> {
    if (text.isWaiting) return;
    text.isWaiting = true;
    while (task.text === text && hasMore(text)) {
      show(task, text, wholeLength(text.value));
      relay.send(text);
      await clock.sleep(batchMs);
    }
    text.isWaiting = false;
  }

  const relay = liveRelay(
    tasks,
    (task, text) => {
      text.isRequested = true;
      void batch(task, text);
    },
    parts,
  );

  function open(head: TextHead): LiveText {
    const task = taskOf(head.taskId);
    const text = newText(head, true);
    [task.text, task.missed] = [text, -1];
    return text;
  }

  function add(text: LiveText, more: string): void {
    const task = tasks.get(text.taskId);
    if (task?.text === text && append(text, more)) void batch(task, text);
  }

  function drop(text: LiveText): void {
    const task = tasks.get(text.taskId);
    if (task?.text !== text) return;
    task.text = null;
    forgetIdle(task);
  }

  return {
    writer: (run) => textWriter({ open, add, drop }, run),
    reader(taskId) {
      const task = taskOf(taskId);
      const reader = textReader(task, () => forgetIdle(task));
      if (task.wakers.size === 1 && !task.text) relay.ask(task);
      return reader;
    },
    isWatched: (taskId) => (tasks.get(taskId)?.wakers.size ?? 0) > 0 || relay.isWatched(taskId),
    forward: relay.forward,
    replace(event) {
      const task = tasks.get(event.taskId);
      if (!task) return;
      const { endedSeq, text } = task;
      for (const type of liveTypes)
        if (event.type === type || endsTurn(event)) endedSeq[type] = Math.max(endedSeq[type], event.seq);
      if (text && !text.isOwn && text.afterSeq < endedSeq[text.type]) task.text = null;
    },
  };
}
