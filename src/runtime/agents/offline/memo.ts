import { isObject, type Json } from "../../../core/json.ts";
import type { Plan } from "./plan.ts";

/** The state that the agent stores with a question. The turn that the answer begins continues from it. */
export interface Memo {
  /** The directives after the question, as they were written. */
  readonly remaining: string;
  readonly request: Request;
  readonly plan?: Plan | undefined;
  /** The current value for the finish. */
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
  /** True when the messages have directives: then only the directives decide what is done before the answer. */
  readonly hasDirectives: boolean;
  /** True when the messages before any question had only directives: the answers to questions do not change that. */
  readonly isScript: boolean;
  /** True after `[[plain]]`: the answer leaves out the user's own text and the available skills. */
  readonly isPlain: boolean;
}

/** The version of the memo's form. Raise it when the form changes. */
const form = "offline 2";
/** The most characters stored of each text: more than an answer shows. */
const textMax = 20_000;

/** A memo as it is stored. */
interface StoredMemo extends Pick<Memo, "plan" | "value"> {
  readonly left: string;
  readonly request: Pick<Request, "text" | "files" | "previous"> & {
    readonly ordered: boolean;
    /** Absent in memos of release 0.1. */
    readonly script?: boolean;
    readonly plain?: boolean;
  };
}

/** The stored form of a memo. */
export function createMemo({ remaining, request: { hasDirectives, isScript, isPlain, ...texts }, plan, value }: Memo): Json {
  const [text, files, previous] = [truncate(texts.text), truncate(texts.files), truncate(texts.previous)];
  const request = { text, files, previous, ordered: hasDirectives, script: isScript, plain: isPlain };
  const stored: StoredMemo = { left: remaining, request, plan, value };
  return JSON.parse(JSON.stringify({ form, ...stored }));
}

/** Only `createMemo` writes this form. */
const isStoredMemo = (value: unknown): value is StoredMemo => isObject(value) && value["form"] === form;

/** Reads a stored memo; null without one, and for a memo of another agent or release. */
export function readMemo(stored: unknown): Memo | null {
  if (!isStoredMemo(stored)) return null;
  const { left, request, plan, value } = stored;
  const { ordered, script = false, plain = false, ...texts } = request;
  return { remaining: left, request: { ...texts, hasDirectives: ordered, isScript: script, isPlain: plain }, plan, value };
}

const truncate = (text: string): string => text.slice(0, textMax).toWellFormed();
