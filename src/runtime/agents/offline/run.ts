import { createHash } from "node:crypto";
import { idsFrom } from "../../../core/ids.ts";
import type { Json } from "../../../core/json.ts";
import type { EventPayloads } from "../../../core/tasks/event.ts";
import { messagesOf, type NewFile, type Outcome, type Progress, type Turn } from "../../agent.ts";
import type { Request } from "./memo.ts";
import type { PlanKeeper } from "./plan.ts";

/** A turn, and the progress of this run. */
export interface RunState {
  readonly turn: Turn;
  readonly request: Request;
  readonly plan: PlanKeeper;
  readonly nextActionId: () => string;
  value: Json | undefined;
  /** The number of events written. */
  events: number;
  /** The numbers of decided confirmations and of ended waits that were passed. */
  confirmed: number;
  waited: number;
  /**
   * Where a `fault` loses the run: after that many events, after more bytes of streamed texts, or instead of
   * its end.
   */
  loss: { events: number; bytes: number; atEnd: boolean };
}

export const never = Number.POSITIVE_INFINITY;

/**
 * Ids for the tool uses of a turn. They differ from those of other turns, and are the same when the turn
 * resumes.
 */
export function actionIds({ taskId, earlier, messages }: Turn): () => string {
  let used = 0;
  return () => {
    used += 1;
    const seed = JSON.stringify([taskId, messagesOf(earlier), messages, used]);
    return idsFrom(() => createHash("sha256").update(seed).digest()).short();
  };
}

export const message = (payload: EventPayloads["assistant_message"]): Progress => ({
  events: [{ type: "assistant_message", payload }],
});

/** An explanation, which only verbose lists show. */
export const explain = (content: string): Progress => ({
  events: [{ type: "explanation", payload: { content } }],
});

export const toolUse = (payload: EventPayloads["tool_used"]): Progress => ({
  events: [{ type: "tool_used", payload }],
});

export const fileMessage = (filename: string): string => `Here is ${filename}.`;

export const fileOf = ([filename = "", content = ""]: readonly string[]): NewFile => ({
  filename,
  content: [Buffer.from(content)],
});

/** The pause after each word of a streamed text. */
const wordMs = 100;

/**
 * Shows a text to watchers word by word, unless an earlier run has shown it. Returns an outcome where a fault
 * loses the run.
 */
export async function showWords(text: string, work: RunState): Promise<Outcome | undefined> {
  const { live, clock, signal } = work.turn;
  const isShown = live && !isOver(work);
  if (isShown) live.begin("assistant_message");
  for (const word of text.match(/\s*\S+/g) ?? []) {
    work.loss.bytes -= Buffer.byteLength(word);
    if (work.loss.bytes < 0) return { kind: "abandon" };
    if (!isShown) continue;
    live.write(word);
    await clock.sleep(wordMs, signal);
  }
  return undefined;
}

export async function sleep(seconds: number, work: RunState): Promise<undefined> {
  const { clock, signal } = work.turn;
  if (seconds > 0 && !isOver(work)) await (clock.pause ?? clock.sleep)(seconds * 1000, signal, "run");
}

/** True while an earlier run was further than this one: its sleeps are not repeated. */
const isOver = ({ turn, events, confirmed, waited }: RunState): boolean =>
  events < turn.written.length || confirmed < turn.decisions.length || waited < (turn.waits?.length ?? 0);
