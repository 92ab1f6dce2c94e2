import type { Clock } from "../clock.ts";
import type { Broadcast, Feed } from "../store.ts";
import { deltaMessages, helloMessage, namedMax, parseLive, watchedMessage } from "./live-messages.ts";
import { append, headOf, type LiveTask, type LiveText, newText, show } from "./live-task.ts";
import type { TextDelta } from "./live-text.ts";

/** Live texts between the processes of a database. */
export interface LiveRelay {
  /** Sends what another process wants and does not have of a text of this process. */
  send(text: LiveText): void;
  /** This process begins to watch a task: requests its text so far. */
  ask(task: LiveTask): void;
}

/** The dependencies of texts between processes. */
export interface LiveRelayParts {
  readonly clock: Clock;
  readonly feed: Feed;
  /** Null when there are no other processes. */
  readonly broadcast: Broadcast | null;
  /** Aborted when the process stops. */
  readonly stopped: AbortSignal;
}

/** A process that begins to watch waits this long for the text so far. */
const answerMs = 500;
/** A process names its watched tasks this often, and others send their texts to it for the longer time. */
const renewMs = 10_000;
const watchedMs = 30_000;
/** Tasks whose watchers in other processes are remembered. */
const remoteMax = 50_000;

/** @param request is called when another process asks for all of a text of this one. */
export function liveRelay(
  tasks: ReadonlyMap<string, LiveTask>,
  request: (task: LiveTask, text: LiveText) => void,
  { clock, feed, broadcast, stopped }: LiveRelayParts,
): LiveRelay {
  /** The monotonic time until which other processes want the texts of a task. */
  const remote = new Map<string, number>();

  function ask(task: LiveTask): void {
    task.askedUntil = clock.monotonic() + answerMs;
    broadcast?.send(watchedMessage([task.taskId], true));
  }

  /** A part without the parts before it: requests them once for each text. */
  function recordMissed(task: LiveTask, { attempt }: TextDelta): void {
    if (task.missed === attempt) return;
    const isAskedAlready = task.text === null && task.missed < 0 && task.askedUntil > 0;
    [task.text, task.missed] = [null, attempt];
    if (!isAskedAlready) ask(task);
  }

  /** A part that another process has sent. */
  function receive(delta: TextDelta, again: boolean): void {
    const task = tasks.get(delta.taskId);
    if (!task || task.wakers.size === 0 || task.text?.isOwn) return;
    const { attempt, offset } = delta;
    if (delta.afterSeq < task.endedSeq[delta.type] || attempt < Math.max(task.text?.attempt ?? 0, task.missed)) return;
    // An answer that is too late would show a text long after its beginning.
    const isTooLate = again && clock.monotonic() > task.askedUntil;
    if (task.text?.attempt !== attempt && offset === 0 && !isTooLate)
      [task.text, task.missed, task.askedUntil] = [newText(delta, false), -1, 0];
    const { text } = task;
    if (text?.attempt !== attempt || offset > text.value.length) recordMissed(task, delta);
    else if (append(text, delta.text.slice(text.value.length - offset))) show(task, text, text.value.length);
  }

  function nameWatched(): void {
    const taskIds = [...tasks.values()].flatMap(({ taskId, wakers }) => (wakers.size > 0 ? [taskId] : []));
    for (let first = 0; first < taskIds.length; first += namedMax)
      broadcast?.send(watchedMessage(taskIds.slice(first, first + namedMax), false));
  }

  function forgetOld(): void {
    for (const [taskId, until] of remote) if (until <= clock.monotonic()) remote.delete(taskId);
  }

  function recordRemote(taskIds: readonly string[], isAsked: boolean): void {
    if (remote.size > remoteMax) return;
    for (const taskId of taskIds) {
      remote.set(taskId, clock.monotonic() + watchedMs);
      const task = tasks.get(taskId);
      if (isAsked && task?.text?.isOwn) request(task, task.text);
    }
  }

  function receiveMessage(message: string): void {
    const received = parseLive(message);
    if (received?.kind === "hello") nameWatched();
    if (received?.kind === "watched") recordRemote(received.taskIds, received.ask);
    if (received?.kind === "delta") receive(received.delta, received.again);
  }

  /** Neither side knows what the other one watches: at the start, and after a loss of the connection. */
  function greet(): void {
    broadcast?.send(helloMessage);
    nameWatched();
  }

  async function renew(): Promise<void> {
    for (;;) {
      await clock.sleep(renewMs, stopped);
      nameWatched();
      forgetOld();
    }
  }

  if (broadcast) {
    const stops = [broadcast.onText(receiveMessage), feed.onLost(greet)];
    stopped.addEventListener("abort", () => stops.forEach((stop) => void stop()), { once: true });
    greet();
    // Rejects only when the process stops.
    renew().catch(() => undefined);
  }

  return {
    ask,
    send(text) {
      const again = text.isRequested;
      const from = again ? 0 : text.sent;
      [text.sent, text.isRequested] = [text.shown, false];
      if ((remote.get(text.taskId) ?? 0) <= clock.monotonic() || text.shown === from) return;
      const delta = { ...headOf(text), offset: from, text: text.value.slice(from, text.shown) };
      for (const message of deltaMessages(delta, again)) broadcast?.send(message);
    },
  };
}
