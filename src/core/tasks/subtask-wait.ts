import type { TaskStatus } from "./task.ts";
import type { SubtaskEnd } from "./task-rows.ts";

/** Whether `all` subtasks have to end, or `any` one of them. */
export type WaitMode = "all" | "any";
/** Why a wait is over: its subtasks have ended, its time is over, or the user has sent a message. */
export type WaitReason = "ended" | "timeout" | "message";

/** A wait of a task for its subtasks. Times are Unix milliseconds. */
export interface SubtaskWait {
  readonly taskId: string;
  /** The number of the event that reports the wait, or its end when it did not have to wait. */
  readonly seq: number;
  readonly spaceId: string;
  readonly mode: WaitMode;
  readonly subtasks: readonly string[];
  /** The end of its time; null without one. */
  readonly until: number | null;
  /** Null while it is not over. */
  readonly reason: WaitReason | null;
  /** Final states of the subtasks, once the wait has ended, in the order of `subtasks`; null before. */
  readonly ends: readonly SubtaskEnd[] | null;
}

export interface EndedWait extends SubtaskWait {
  readonly reason: WaitReason;
  readonly ends: readonly SubtaskEnd[];
}

/**
 * The feed's topic when there is something to do about the subtasks of a task. It is news without a job,
 * because processes look every second anyway.
 */
export const subtasksChanged = "subtasks";

export const waitedMax = 100;
/** The most waits of a turn, so that an agent in a loop ends. */
export const waitsOfTurnMax = 500;
/** The longest time of a wait: 7 days. */
export const waitMsMax = 7 * 86_400_000;
/**
 * A waiting task is looked at after this time also without news: a process of an earlier release reports
 * neither ends of subtasks nor messages.
 */
const lookEveryMs = 60_000;

/** Whether a subtask has ended. One that waits for the user has not. */
export const hasEnded = (status: TaskStatus): boolean => status === "stopped" || status === "error";

/** The states of the waited subtasks, in their order. A deleted subtask counts as stopped. */
export function statesOf(
  { subtasks }: Pick<SubtaskWait, "subtasks">,
  found: readonly SubtaskEnd[],
): readonly SubtaskEnd[] {
  const byId = new Map(found.map((subtask) => [subtask.id, subtask]));
  return subtasks.map((id) => byId.get(id) ?? { id, title: "", status: "stopped", lastSeq: 0 });
}

/** Why a wait is over; null while it is not. A wait for no subtask is over. */
export function reasonOf(
  { mode, until }: Pick<SubtaskWait, "mode" | "until">,
  states: readonly SubtaskEnd[],
  { now, hasMessage }: { now: number; hasMessage: boolean },
): WaitReason | null {
  const ended = states.filter(({ status }) => hasEnded(status)).length;
  if (ended === states.length || (mode === "any" && ended > 0)) return "ended";
  if (hasMessage) return "message";
  return until !== null && until <= now ? "timeout" : null;
}

/** When a waiting task is looked at again without news. */
export const nextLook = ({ until }: Pick<SubtaskWait, "until">, now: number): number =>
  Math.min(until ?? Infinity, now + lookEveryMs);

export function waitBrief({ mode, subtasks: { length } }: Pick<SubtaskWait, "mode" | "subtasks">): string {
  const subtasks = length === 1 ? "a subtask" : `${length} subtasks`;
  return mode === "any" && length > 1 ? `Waits for one of ${subtasks}` : `Waits for ${subtasks}`;
}

/** Describes for users why a task continues. */
export function endBrief(reason: WaitReason, states: readonly SubtaskEnd[]): string {
  const ended = states.filter(({ status }) => hasEnded(status)).length;
  const progress = `${ended} of ${states.length} subtasks ended`;
  if (reason === "ended") return `Continues: ${progress}`;
  return reason === "message"
    ? `Continues with your message: ${progress}`
    : `Continues after the time of its wait: ${progress}`;
}

export interface WaitRows {
  insert(wait: SubtaskWait): Promise<void>;
  /** The latest wait of a task, over or not. */
  latest(taskId: string): Promise<SubtaskWait | null>;
  /** The waits of a task with a greater number that are over, oldest first. */
  endedAfter(taskId: string, seq: number): Promise<readonly EndedWait[]>;
  countAfter(taskId: string, seq: number): Promise<number>;
  end(wait: EndedWait): Promise<void>;
  deleteOfTask(taskId: string): Promise<void>;
}
