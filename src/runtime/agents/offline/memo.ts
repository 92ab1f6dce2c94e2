import { isObject, type Json } from "../../../core/json.ts";
import type { Plan } from "./plan.ts";

/** The state that the agent stores with a question. The turn that the answer begins continues from it. */
export interface Memo {
  /** The directives after the question, as they were written. */
  readonly left: string;
  readonly request: Request;
  readonly plan?: Plan | undefined;
  readonly value?: Json | undefined;
}

/** The request that is answered at the finish. */
export interface Request {
  /** The messages so far, without their directives. */
  readonly text: string;
  /** A description of the attached files; empty without any. */
  readonly files: string;
  /** The user's last message before them; empty in the first turn. */
  readonly previous: string;
  /**
   * True when the messages have directives: then only the directives decide what is done before the answer.
   */
  readonly ordered: boolean;
  /**
   * True when the messages before any question had only directives: the answers to questions do not change
   * that.
   */
  readonly script?: boolean;
  /** True after `[[plain]]`: the answer leaves out the user's own text and the available skills. */
  readonly plain?: boolean;
}

/** The version of the stored form. Raise it when the form changes. */
const form = "offline 2";
/** The most characters stored of each text: more than an answer shows. */
const textMax = 20_000;

const truncate = (text: string): string => text.slice(0, textMax).toWellFormed();

export function createMemo({ request, ...memo }: Memo): Json {
  const [text, files, previous] = [
    truncate(request.text),
    truncate(request.files),
    truncate(request.previous),
  ];
  return JSON.parse(JSON.stringify({ form, ...memo, request: { ...request, text, files, previous } }));
}

/** Only `createMemo` writes this form. */
const isMemo = (stored: unknown): stored is Memo => isObject(stored) && stored["form"] === form;

/** Reads a stored memo; null without one, and for a memo of another agent or release. */
export const readMemo = (stored: unknown): Memo | null => (isMemo(stored) ? stored : null);
