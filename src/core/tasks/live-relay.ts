import type { Clock } from "../clock.ts";
import type { Broadcast, Feed } from "../store.ts";
import { deltaMessages, helloMessage, namedMax, parseLive, watchedMessage } from "./live-messages.ts";
import { append, headOf, isFull, type LiveTask, type LiveText, newText, show } from "./live-task.ts";
import type { TextDelta } from "./live-text.ts";

/** Live texts between the processes of a database. */
export interface LiveRelay {
  /** Sends what another process wants and does not have of a text of this process. */
  send(text: LiveText): void;
  /** This process begins to watch a task: requests its text so far. */
  ask(task: LiveTask): void;
  /** True while another process watches a task. */
  isWatched(taskId: string): boolean;
  /**
   * Shows a part that a worker has sent to this process. Returns the offset from which the watchers lack the
   * text.
   */
  forward(delta: TextDelta): number;
}

/** What other processes want of a task's texts. */
interface Interest {
  /** Monotonic time. */
  readonly until: number;
  /** True when one of them has requested the text from its beginning. */
  isAsked: boolean;
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
  const remote = new Map<string, Interest>();

  function interestIn(taskId: string): Interest | undefined {
    const interest = remote.get(taskId);
    return interest && interest.until > clock.monotonic() ? interest : undefined;
  }

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
    // An answer that is too late would show a text long after its beginning.
    const isTooLate = again && clock.monotonic() > (task?.askedUntil ?? 0);
    if (task && isCurrent(task, delta) && !addPart(task, delta, isTooLate)) recordMissed(task, delta);
  }

  /**
   * A part that a worker has sent: its process keeps no text, so the worker sends it again when a watcher
   * lacks it.
   */
  function forward(delta: TextDelta): number {
    const [task, interest] = [tasks.get(delta.taskId), interestIn(delta.taskId)];
    const isMissing = task !== undefined && isCurrent(task, delta) && !addPart(task, delta, false);
    const isAsked = interest?.isAsked === true && delta.offset > 0;
    if (interest) {
      interest.isAsked = false;
      if (!isAsked) sendParts(delta, false);
    }
    if (isAsked) return 0;
    return isMissing ? lengthOf(task, delta) : delta.offset + delta.text.length;
  }

  function sendParts(delta: TextDelta, again: boolean): void {
    for (const message of deltaMessages(delta, again)) broadcast?.send(message);
  }

  function nameWatched(): void {
    const taskIds = [...tasks.values()].flatMap(({ taskId, wakers }) => (wakers.size > 0 ? [taskId] : []));
    for (let first = 0; first < taskIds.length; first += namedMax)
      broadcast?.send(watchedMessage(taskIds.slice(first, first + namedMax), false));
  }

  function forgetOld(): void {
    for (const [taskId, { until }] of remote) if (until <= clock.monotonic()) remote.delete(taskId);
  }

  function recordRemote(taskIds: readonly string[], isAsked: boolean): void {
    if (remote.size > remoteMax) return;
    for (const taskId of taskIds) {
      remote.set(taskId, {
        until: clock.monotonic() + watchedMs,
        isAsked: isAsked || interestIn(taskId)?.isAsked === true,
      });
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
    isWatched: (taskId) => interestIn(taskId) !== undefined,
    forward,
    send(text) {
      const again = text.isRequested;
      const from = again ? 0 : text.sent;
      [text.sent, text.isRequested] = [text.shown, false];
      if (!interestIn(text.taskId) || text.shown === from) return;
      sendParts({ ...headOf(text), offset: from, text: text.value.slice(from, text.shown) }, again);
    },
  };
}

/** True when watchers of this process may see a part, which another process or a worker has sent. */
const isCurrent = (
  { wakers, text, endedSeq, missed }: LiveTask,
  { attempt, afterSeq, type }: TextDelta,
): boolean =>
  wakers.size > 0 &&
  !text?.isOwn &&
  afterSeq >= endedSeq[type] &&
  attempt >= Math.max(text?.attempt ?? 0, missed);

/** The length of what this process has of a part's text. */
const lengthOf = ({ text }: LiveTask, { attempt }: TextDelta): number =>
  text?.attempt === attempt ? text.value.length : 0;

/** Adds a part to the text of a task. Returns false when the parts before it are missing. */
function addPart(task: LiveTask, delta: TextDelta, isTooLate: boolean): boolean {
  const { attempt, offset } = delta;
  if (task.text?.attempt !== attempt && offset === 0 && !isTooLate)
    [task.text, task.missed, task.askedUntil] = [newText(delta, false), -1, 0];
  const { text } = task;
  if (text?.attempt !== attempt) return false;
  if (isFull(text)) return true;
  if (offset > text.value.length) return false;
  if (append(text, delta.text.slice(text.value.length - offset))) show(task, text, text.value.length);
  return true;
}
