import type { EventType, TaskEvent } from "./event.ts";

/** Types of events whose text is shown while it is written. */
export const liveTypes = ["assistant_message", "explanation"] as const satisfies EventType[];
export type LiveType = (typeof liveTypes)[number];

/** A text that an agent begins, before the event that will have it. */
export interface TextHead {
  readonly taskId: string;
  /** The message within its task: the same when another run writes it again. */
  readonly key: string;
  /** Rises with every text that an agent of the task begins, this one again or another one. */
  readonly attempt: number;
  readonly type: LiveType;
  /** The task's last event when the text began: the text is replaced by a later event of its type. */
  readonly afterSeq: number;
}

/** A part of a text. `offset` counts UTF-16 units. */
export interface TextDelta extends TextHead {
  readonly offset: number;
  readonly text: string;
}

/** The most bytes of a text in UTF-8 that are shown; its event has all of it. */
export const textBytesMax = 1024 * 1024;

const attemptsMax = 2 ** 20;

/** The number of a text among all of its task: runs of a later fence come after those of earlier ones. */
export const attemptOf = (fence: number, inRun: number): number =>
  fence * attemptsMax + Math.min(inRun, attemptsMax - 1);

/** True for events after which the agent writes nothing until the next turn. */
export const endsTurn = ({ type, payload }: Pick<TaskEvent, "type" | "payload">): boolean =>
  type === "error_message" ||
  type === "user_stop" ||
  (type === "status_update" && "agentStatus" in payload && payload.agentStatus !== "running");

/** The length of a text without half a character at its end. */
export const wholeLength = (text: string): number =>
  isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
