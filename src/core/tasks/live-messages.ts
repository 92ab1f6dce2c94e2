import { Buffer } from "node:buffer";
import { isText, parseJson } from "../json.ts";
import { liveTypes, type TextDelta, wholeLength } from "./live-text.ts";

/** A message between processes about live texts. */
export type LiveMessage =
  /** Tasks that a process watches; `ask` requests the text of one from its beginning. */
  | { readonly kind: "watched"; readonly taskIds: readonly string[]; readonly ask: boolean }
  /** Asks all processes for the tasks that they watch. */
  | { readonly kind: "hello" }
  /** A part of a text; `again` when it answers a request. */
  | { readonly kind: "delta"; readonly delta: TextDelta; readonly again: boolean };

/** The most bytes of a message between processes. */
export const messageBytesMax = 4_096;
export const namedMax = 50;
/** Characters with which the division of a delta begins; each has at most 6 bytes in JSON. */
const partLength = 3_000;

const write = ({ taskId, key, attempt, type, afterSeq, offset, text }: TextDelta, again: boolean): string =>
  JSON.stringify(["delta", taskId, key, attempt, type, afterSeq, offset, text, again]);

/** Divides a delta into messages of at most 4 KiB, none of which ends within a character. */
export function deltaMessages(delta: TextDelta, again: boolean): string[] {
  const messages: string[] = [];
  for (let from = 0; from < delta.text.length; ) {
    for (let length = partLength; ; length >>= 1) {
      const part = delta.text.slice(from, from + length);
      const text = part.slice(0, wholeLength(part));
      const message = write({ ...delta, offset: delta.offset + from, text }, again);
      if (Buffer.byteLength(message) > messageBytesMax) continue;
      if (text === "") return messages;
      messages.push(message);
      from += text.length;
      break;
    }
  }
  return messages;
}

export const watchedMessage = (taskIds: readonly string[], ask: boolean): string =>
  JSON.stringify(["watched", taskIds, ask]);

export const helloMessage = JSON.stringify(["hello"]);

/** Reads a message; null for one of another release. */
export function parseLive(message: string): LiveMessage | null {
  const parsed = parseArray(message);
  const [kind, first] = parsed;
  if (kind === "hello") return { kind };
  if (kind === "watched" && Array.isArray(first) && first.every(isText))
    return { kind, taskIds: first, ask: parsed[2] === true };
  if (kind !== "delta") return null;
  const [, taskId, key, attempt, type, afterSeq, offset, text, again] = parsed;
  const liveType = liveTypes.find((each) => each === type);
  if (!isText(taskId) || !isText(key) || !isText(text) || liveType === undefined) return null;
  if (!isCount(attempt) || !isCount(afterSeq) || !isCount(offset)) return null;
  return {
    kind,
    delta: { taskId, key, attempt, type: liveType, afterSeq, offset, text },
    again: again === true,
  };
}

function parseArray(message: string): readonly unknown[] {
  const parsed = parseJson(message);
  return Array.isArray(parsed) ? parsed : [];
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
