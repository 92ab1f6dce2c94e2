import { createHash } from "node:crypto";
import { shortIdFrom } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { currentName } from "../../../core/permissions/tool-names.ts";
import type { PlanStep } from "../../../core/tasks/event.ts";
import type {
  CallPart,
  NewTranscriptRow,
  ResultPart,
  TranscriptPart,
  TranscriptRole,
} from "../../../core/tasks/transcript.ts";
import { planEvents, planTool } from "./plan.ts";
import { askUserName } from "./tools/ask.ts";
import { waitName } from "./tools/subtasks.ts";

export type Row = NewTranscriptRow;
type Part<T extends TranscriptPart["type"]> = Extract<TranscriptPart, { readonly type: T }>;

/** Members of a new row other than its parts. */
export type RowMembers = Partial<
  Pick<Row, "seq" | "model" | "inputTokens" | "cachedTokens" | "outputTokens" | "image">
>;

/**
 * The transcript of a task while its turn runs. The rows decide all that the agent does next, so a run that
 * continues does what the lost one would have done.
 */
export interface Transcript {
  /** All rows, also those that are not written so far. */
  readonly rows: readonly Row[];
  add(role: TranscriptRole, parts: readonly TranscriptPart[], members?: RowMembers): void;
  /** Returns the rows that were added since the last call, to be written. */
  take(): readonly Row[];
  /** Takes the last row of the user back, with those after it that are not written: it was not answered. */
  drop(): void;
}

/** What a turn has taken so far. */
export type Taken = Pick<Row, "activeMs" | "credits">;

/** What earlier runs of a turn have taken. */
export const takenBy = (rows: readonly Row[], turn: number): Taken => {
  const last = rows.findLast((row) => row.turn === turn);
  return { activeMs: last?.activeMs ?? 0, credits: last?.credits ?? 0 };
};

/** @param turn the number of the turn that adds rows. */
export function openTranscript(
  stored: readonly Row[],
  turn: number,
  { now, taken: takenSoFar }: { now: () => number; taken: () => Taken },
): Transcript {
  const rows: Row[] = [...stored];
  let taken = rows.length;
  const none = { model: null, inputTokens: null, cachedTokens: null, outputTokens: null };
  return {
    rows,
    add(role, parts, members = {}) {
      rows.push({
        ...none,
        ...members,
        ...takenSoFar(),
        position: rows.length,
        turn,
        role,
        parts,
        createdAt: now(),
      });
    },
    take() {
      const added = rows.slice(taken);
      // The run has the bytes of the images that it sends.
      rows.splice(taken, added.length, ...added.map(({ image: _, ...row }) => row));
      taken = rows.length;
      return added;
    },
    drop() {
      rows.splice(
        Math.max(
          taken,
          rows.findLastIndex(({ role }) => role === "user"),
        ),
      );
    },
  };
}

/** The parts of a type, in order. */
export const partsOf = <T extends TranscriptPart["type"]>(
  rows: readonly Pick<Row, "parts">[],
  type: T,
): readonly Part<T>[] =>
  rows.flatMap(({ parts }) => parts.filter((part): part is Part<T> => part.type === type));

/**
 * The id of the nth call of a task for the model: nine letters and digits, which every API accepts (some
 * accept no longer ids).
 */
export const callIdOf = (rows: readonly Row[], more: number): string =>
  `c${String(partsOf(rows, "tool-call").length + more + 1).padStart(8, "0")}`;

/**
 * The id of a call in events, and for tools: unique among all tasks, and the same each time the turn resumes.
 */
export const actionIdOf = (taskId: string, { toolCallId, actionId }: CallPart): string =>
  actionId ?? shortIdFrom(createHash("sha256").update(`${taskId} ${toolCallId}`).digest());

/** The calls of the last answer without a result, in order. */
export function openCalls(rows: readonly Row[]): readonly CallPart[] {
  const last = rows.slice(
    Math.max(
      0,
      rows.findLastIndex(({ role }) => role === "assistant"),
    ),
  );
  const answered = new Set(partsOf(last, "tool-result").map(({ toolCallId }) => toolCallId));
  return partsOf(last, "tool-call").filter(({ toolCallId }) => !answered.has(toolCallId));
}

/** True when the effect of a call may have started: it has begun, and has not asked since. */
export function hasBegun(rows: readonly Row[], { toolCallId }: CallPart): boolean {
  const states = rows.flatMap(({ role, parts }) => (role === "state" ? parts : []));
  return states.findLast((part) => "toolCallId" in part && part.toolCallId === toolCallId)?.type === "begun";
}

/**
 * The calls that ended runs of a turn for an approval or a wait, in order: the nth one gets the nth decision,
 * or the nth wait.
 */
export const askedIn = (rows: readonly Row[], turn: number, by: "confirm" | "wait"): readonly string[] =>
  partsOf(ofTurn(rows, turn), "asked").flatMap((part) => (part.by === by ? [part.toolCallId] : []));

const ofTurn = (rows: readonly Row[], turn: number): readonly Row[] =>
  rows.filter((row) => row.turn === turn);

/** The steps of the model in a turn, and the tokens that they and its summaries took. */
export function usedBy(
  rows: readonly Row[],
  turn: number,
): { readonly steps: number; readonly tokens: number } {
  const own = ofTurn(rows, turn);
  return {
    steps: own.filter(({ role }) => role === "assistant").length,
    tokens: own.reduce((sum, row) => sum + (row.inputTokens ?? 0) + (row.outputTokens ?? 0), 0),
  };
}

/**
 * The number of results at the end of a turn that are equal, of equal calls. A wait is over for another
 * reason each time.
 *
 * @param next a result that is about to be added.
 */
export function countEqual(rows: readonly Row[], turn: number, next?: ResultPart): number {
  const own = ofTurn(rows, turn);
  const inputs = new Map(partsOf(own, "tool-call").map(({ toolCallId, input }) => [toolCallId, input]));
  const results = [...partsOf(own, "tool-result"), ...(next ? [next] : [])];
  if (results.at(-1)?.toolName === waitName) return 0;
  const keys = results.map(({ toolCallId, toolName, output, whole = output }) =>
    JSON.stringify([toolName, inputs.get(toolCallId), whole]),
  );
  return keys.length - 1 - keys.findLastIndex((key) => key !== keys.at(-1));
}

/** From these numbers of equal results on, the model is reminded, and its turn ends. */
export const equalMax = { remind: 3, end: 5 } as const;

/** The facts that the model was given last, by their names. */
export const knownFacts = (rows: readonly Pick<Row, "parts">[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...partsOf(rows, "environment").map(({ values }) => values));

/** The plan that the user sees: a turn begins without one, unless it answers a question. */
export function planOf(rows: readonly Row[]): readonly PlanStep[] {
  let plan: readonly PlanStep[] = [];
  let result: ResultPart | undefined;
  const calls = new Map<string, JsonObject>();
  let current: number | undefined;
  for (const { role, parts, createdAt, turn } of rows) {
    if (role === "user") {
      if (turn !== current && result?.toolName !== askUserName) plan = [];
      current = turn;
    }
    for (const part of parts) {
      if (part.type === "tool-call" && currentName(part.toolName) === planTool.name)
        calls.set(part.toolCallId, part.input);
      if (part.type !== "tool-result") continue;
      result = part;
      const input = part.end === "done" ? calls.get(part.toolCallId) : undefined;
      for (const event of input ? planEvents(input, plan, createdAt) : [])
        if (event.type === "plan_update") plan = event.payload.steps;
    }
  }
  return plan;
}
