import { Buffer } from "node:buffer";
import { type LiveType, type TextDelta, type TextHead, textBytesMax, wholeLength } from "./live-text.ts";

/** What a process knows about the texts of one task. */
export interface LiveTask {
  readonly taskId: string;
  /** The present text; null without one. */
  text: LiveText | null;
  readonly wakers: Set<() => void>;
  /** The last event that ended texts, by their type. */
  readonly endedSeq: Record<LiveType, number>;
  /** Monotonic time until which an answer to the request for the text is accepted; 0 without a request. */
  askedUntil: number;
  /** The attempt whose beginning did not arrive so far; -1 without one. */
  missed: number;
}

export const newLiveTask = (taskId: string): LiveTask => ({
  taskId,
  text: null,
  askedUntil: 0,
  missed: -1,
  wakers: new Set(),
  endedSeq: { assistant_message: 0, explanation: 0 },
});

export interface LiveText extends TextHead {
  value: string;
  bytes: number;
  /** The length that watchers may see. */
  shown: number;
  /** The length that other processes were sent. */
  sent: number;
  /** True when it is written by this process. */
  readonly isOwn: boolean;
  /** True while its parts wait for the end of a batch. */
  isWaiting: boolean;
  /** True when another process has requested all of it. */
  isRequested: boolean;
  /** The parts from a place to the present end, which all watchers at this place share. */
  parts: Map<number, readonly TextDelta[]>;
}

export const headOf = ({ taskId, key, attempt, type, afterSeq }: TextHead): TextHead => ({
  taskId,
  key,
  attempt,
  type,
  afterSeq,
});

export const newText = (head: TextHead, isOwn: boolean): LiveText => ({
  ...headOf(head),
  value: "",
  bytes: 0,
  shown: 0,
  sent: 0,
  isOwn,
  isWaiting: false,
  isRequested: false,
  parts: new Map(),
});

/** True when a text has more than 1 MiB: its watchers see no more of it. */
export const isFull = ({ bytes }: LiveText): boolean => bytes > textBytesMax;

/** Adds to a text. Returns false when it would have more than 1 MiB. */
export function append(text: LiveText, more: string): boolean {
  text.bytes += Buffer.byteLength(more);
  if (isFull(text)) return false;
  text.value += more;
  return true;
}

/** Lets watchers see a text up to a place. */
export function show({ wakers }: LiveTask, text: LiveText, end: number): void {
  if (end <= text.shown) return;
  [text.shown, text.parts] = [end, new Map()];
  for (const wake of wakers) wake();
}

/** The most UTF-16 units of a delta that watchers receive. */
const deltaLength = 65_536;

export function partsFrom(text: LiveText, from: number): readonly TextDelta[] {
  const known = text.parts.get(from);
  if (known) return known;
  const parts: TextDelta[] = [];
  for (let offset = from; offset < text.shown; ) {
    const part = text.value.slice(offset, Math.min(offset + deltaLength, text.shown));
    const whole = part.slice(0, wholeLength(part));
    parts.push({ ...headOf(text), offset, text: whole });
    offset += whole.length;
  }
  text.parts.set(from, parts);
  return parts;
}
