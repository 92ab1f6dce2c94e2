import type { Json } from "../../../core/json.ts";
import { sampleValue } from "../../../core/structured-output/sample.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import { type Agent, messagesOf, type Outcome, type Progress, type Turn, type TurnSkill } from "../../agent.ts";
import { planSteps, writeAnswer } from "./answer.ts";
import { createRunState, execute, explanation, findClosing, type RunState, showWords } from "./execute.ts";
import { createMemo, type Memo, type Request, readMemo } from "./memo.ts";
import { type PlanKeeper, planKeeper } from "./plan.ts";
import { describeFiles } from "./profile.ts";
import { readTurn, type TurnDirectives, textWithoutDirectives } from "./reading.ts";
import { shorten } from "./text.ts";

/**
 * Invokes forced skills, with one event each. A resumed turn repeats the written invocations. When it has written other
 * events, it invokes no more, so that its events stay the same even if its skills have changed.
 */
async function* invokeForced(
  { skills, written }: Pick<Turn, "skills" | "written">,
  nextActionId: () => string,
): AsyncGenerator<Progress, void, void> {
  const invocations = written.slice(0, invocationsIn(written));
  for (const event of invocations) {
    nextActionId();
    yield { events: [event] };
  }
  if (invocations.length < written.length) return;
  const used = new Set(invocations.map(skillIn));
  for (const skill of skills) if (skill.forced && !used.has(skill.id)) yield { events: [await skillEvent(skill, nextActionId())] };
}

/** The skill that an event invokes; undefined for other events, also those of a directive. */
const skillIn = (event: NewEvent): string | undefined => {
  const skill = event.type === "tool_used" && event.payload.tool === "use_skill" ? event.payload.params?.["skill"] : undefined;
  return typeof skill === "string" ? skill : undefined;
};

/** The number of invocations at the start of a turn. */
function invocationsIn(written: readonly NewEvent[]): number {
  const other = written.findIndex((event) => skillIn(event) === undefined);
  return other < 0 ? written.length : other;
}

async function skillEvent(skill: TurnSkill, actionId: string): Promise<Progress["events"][number]> {
  const { id, name } = skill;
  // A skill whose bytes are gone is a failed use, and the turn continues.
  const files = await skill.list().catch(() => null);
  return {
    type: "tool_used",
    payload: {
      ...{ tool: "use_skill", actionId, status: files === null ? "error" : "success", brief: `Using the skill ${name}` },
      message: { action: "Using", param: name },
      params: { skill: id },
      result: files === null ? "The skill is gone." : { name, files: files.map(({ path }) => path).slice(0, 50) },
    },
  };
}

/** The line of an answer with the available skills; empty without any. */
function namesOf(skills: readonly TurnSkill[]): string {
  if (skills.length === 0) return "";
  const names = skills.slice(0, 20).map(({ name, forced }) => (forced ? `${name} (used)` : name));
  return `Available skills: ${names.join(", ")}${skills.length > 20 ? " and more" : ""}.`;
}

/** A request with fewer words is too short to work on. */
const wordsMin = 3;
/** Finds words also in languages without spaces between words. */
const words = new Intl.Segmenter("en", { granularity: "word" });

/** True when a request is too short to work on. */
function isThin(text: string): boolean {
  let count = 0;
  for (const { isWordLike } of words.segment(text)) {
    if (isWordLike) count += 1;
    if (count === wordsMin) return false;
  }
  return true;
}

/** Asks for more details. The answer is joined with the request. */
const askForDetails = (request: Request): Outcome => ({
  kind: "ask",
  content: request.text === "" ? "What would you like me to do?" : `What would you like me to do with “${shorten(request.text)}”?`,
  options: ["Do your best with it"],
  memo: createMemo({ remaining: "", request }),
});

/**
 * The built-in default agent. It is deterministic, and needs no key and no network: the same turn gives the same events.
 * It answers from the messages, the project's instruction and the earlier messages, and executes the directives in the
 * messages.
 */
export const offlineAgent: Agent = async function* (turn) {
  const memo = readMemo(turn.memo);
  const plan = planKeeper(turn, memo?.plan);
  const orders = readTurn(turn.messages, memo);
  const outcome = "fault" in orders ? invalidDirective(orders.fault) : yield* carryOut(orders, turn, memo, plan);
  if (outcome.kind === "finish") yield* closePlan(plan, "done");
  if (outcome.kind === "fail") yield* closePlan(plan, "failed");
  return outcome;
};

const invalidDirective = (content: string): Outcome => ({ kind: "fail", errorType: "invalid_directive", content });

async function* carryOut(orders: TurnDirectives, turn: Turn, memo: Memo | null, plan: PlanKeeper): AsyncGenerator<Progress, Outcome, void> {
  const request = requestOf(turn, orders, await describeFiles(turn.attachments), memo);
  const { text, files, hasDirectives: ordered } = request;
  if (turn.interactive && !memo && !ordered && files === "" && isThin(text)) return askForDetails(request);
  const work = createRunState(turn, request, plan, memo?.value);
  for await (const progress of invokeForced(turn, work.nextActionId)) {
    work.eventCount += progress.events.length;
    yield progress;
  }
  const content = writeAnswer({ ...turn, ...request, skills: namesOf(turn.skills), connectors: turn.connectors.map(({ name }) => name) });
  // Skills are ignored here: they may change between runs of a turn, whose events must be the same.
  const closing = text === "" && files === "" ? findClosing(orders.directives) : null;
  const outcome = yield* execute(closing?.before ?? orders.directives, work);
  if (outcome) return outcome;
  if (closing?.isStreamed) await showWords(closing.content, work);
  if (!ordered) yield* workThrough(text, turn.attachments.length, plan);
  const result = closing ? { content: closing.content, files: closing.files } : { content: content || "Done." };
  return { kind: "finish", ...result, ...outputOf(work, orders.prose) };
}

/** The request to answer: the messages of this turn, joined with those before the question that it answers. */
function requestOf(turn: Turn, { directives, prose }: TurnDirectives, files: string, memo: Memo | null): Request {
  const ordered = directives.length > 0;
  if (!memo) return { text: prose, files, previous: previousOf(turn), hasDirectives: ordered };
  const { text, files: first, previous, hasDirectives: before } = memo.request;
  const join = (...texts: readonly string[]) => texts.filter(Boolean).join("\n");
  return { text: join(text, prose), files: join(first, files), previous, hasDirectives: ordered || before };
}

const previousOf = ({ earlier }: Turn): string =>
  textWithoutDirectives(messagesOf(earlier).findLast(({ role }) => role === "user")?.content ?? "");

/** The value of a directive, or else a sample for an armed schema, from the full conversation. */
function outputOf({ turn: { outputSchema, earlier }, value }: RunState, prose: string): { readonly output?: Json } {
  if (value !== undefined) return { output: value };
  if (outputSchema === null) return {};
  const before = messagesOf(earlier)
    .filter(({ role }) => role === "user")
    .map(({ content }) => textWithoutDirectives(content));
  return { output: sampleValue(outputSchema, [...before, prose].filter(Boolean).join("\n")) };
}

/** The work without directives: a plan of two to four steps, with an explanation for each. */
function* workThrough(text: string, files: number, plan: PlanKeeper): Generator<Progress, void, void> {
  const steps = planSteps(text, files);
  plan.replace(steps.map(({ title }) => title));
  for (const { thought } of steps) yield { events: [...plan.next(), explanation(thought)] };
}

/** Ends the plan's current step with the turn. */
function* closePlan(plan: PlanKeeper, status: "done" | "failed"): Generator<Progress, void, void> {
  const events = plan.close(status);
  if (events.length > 0) yield { events };
}
