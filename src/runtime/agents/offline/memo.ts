import type { Json } from "../../../core/json.ts";
import { isObject } from "../../../core/structured-output/keywords.ts";
import type { Plan } from "./plan.ts";

/** What the agent leaves to itself when it asks: the turn that the answer begins goes on from here. */
export interface Memo {
  /** The directives after the question, as they were written. */
  readonly left: string;
  readonly request: Request;
  readonly plan?: Plan | undefined;
  /** The value in force for the finish. */
  readonly value?: Json | undefined;
}

/** What is to be answered at the finish. */
export interface Request {
  /** The messages so far, without their directives. */
  readonly text: string;
  /** What the files are that came with them; empty without any. */
  readonly files: string;
  /** What the user said last before them; empty in the first turn. */
  readonly previous: string;
  /** Directives were among them: then they, and nothing else, say what is done before the answer. */
  readonly ordered: boolean;
}

/** Raised when the form below changes. */
const form = "offline 2";
/** So much of each text is kept, which is more than an answer shows. */
const textMax = 20_000;

/** A memo as it is kept. */
export function memoOf({ left, request, plan, value }: Memo): Json {
  const { text, files, previous, ordered } = request;
  return {
    form,
    left,
    request: { text: bounded(text), files: bounded(files), previous: bounded(previous), ordered },
    ...(plan ? { plan: { steps: plan.steps.map((step) => ({ ...step })), begun: plan.begun } } : {}),
    ...(value === undefined ? {} : { value }),
  };
}

/** The memo that was kept; null for none, and for one of another agent or release. */
export function readMemo(kept: Json): Memo | null {
  if (!isObject(kept) || kept["form"] !== form) return null;
  // What bears the form is what `memoOf` made: nobody but agents writes memos.
  return kept as unknown as Memo;
}

const bounded = (text: string): string => text.slice(0, textMax).toWellFormed();
