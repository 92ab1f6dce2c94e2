import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { PlanStep } from "../../../core/tasks/event.ts";
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
}

/** The version of the memo's form. Raise it when the form changes. */
const form = "offline 2";
/** The most characters stored of each text: more than an answer shows. */
const textMax = 20_000;

/** The stored form of a memo. */
export function createMemo({ remaining: left, request, plan, value }: Memo): Json {
  const { text, files, previous, hasDirectives: ordered } = request;
  return {
    form,
    left,
    request: { text: truncate(text), files: truncate(files), previous: truncate(previous), ordered },
    ...(plan ? { plan: { steps: plan.steps.map((step) => ({ ...step })), begun: plan.begun } } : {}),
    ...(value === undefined ? {} : { value }),
  };
}

/** Reads a stored memo; null without one, and for a memo of another agent or release. */
export function readMemo(kept: Json): Memo | null {
  if (!isObject(kept) || kept["form"] !== form) return null;
  const { left, request, plan, value } = kept;
  const storedRequest = isObject(request) ? requestIn(request) : null;
  return typeof left === "string" && storedRequest ? { remaining: left, request: storedRequest, plan: planIn(plan), value } : null;
}

function requestIn({ text, files, previous, ordered }: JsonObject): Request | null {
  const isRequest = typeof text === "string" && typeof files === "string" && typeof previous === "string" && typeof ordered === "boolean";
  return isRequest ? { text, files, previous, hasDirectives: ordered } : null;
}

function planIn(plan: Json | undefined): Plan | undefined {
  const { steps, begun } = isObject(plan) ? plan : {};
  return Array.isArray(steps) && typeof begun === "number" ? { steps: steps.flatMap(stepIn), begun } : undefined;
}

function stepIn(step: Json): PlanStep[] {
  const { status: word, title, startedAt, endAt } = isObject(step) ? step : {};
  const status = statuses.find((known) => known === word);
  if (status === undefined || typeof title !== "string") return [];
  return [{ status, title, ...(typeof startedAt === "number" ? { startedAt } : {}), ...(typeof endAt === "number" ? { endAt } : {}) }];
}

const statuses = ["todo", "doing", "done", "failed"] as const;

const truncate = (text: string): string => text.slice(0, textMax).toWellFormed();
