import type { Json } from "../../../core/json.ts";
import { sampleValue } from "../../../core/structured-output/sample.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import { type Agent, messagesOf, type Outcome, type Progress, type Turn, type TurnSkill } from "../../agent.ts";
import { planSteps, writeAnswer } from "./answer.ts";
import { createRunState, execute, explain, findClosing, type RunState, showWords } from "./execute.ts";
import { createMemo, type Memo, type Request, readMemo } from "./memo.ts";
import { type PlanKeeper, planKeeper } from "./plan.ts";
import { describeFiles } from "./profile.ts";
import { readTurn, type TurnDirectives, textWithoutDirectives } from "./reading.ts";
import { shorten } from "./text.ts";

/**
 * Invokes forced skills, with one event each. A resumed turn repeats the written invocations. When it has written other
 * events, it invokes no more, so that its events stay the same even if its skills have changed.
 */
async function* invokeForced({ turn: { skills, written }, nextActionId }: RunState): AsyncGenerator<Progress, void, void> {
  const used = new Set<string>();
  for (const event of written) {
    const skill = skillIn(event);
    if (skill === undefined) return;
    used.add(skill);
    nextActionId();
    yield { events: [event] };
  }
  for (const skill of skills) if (skill.forced && !used.has(skill.id)) yield { events: [await skillEvent(skill, nextActionId())] };
}

/** The skill that an event invokes; undefined for other events, also those of a directive. */
function skillIn(event: NewEvent): string | undefined {
  const skill = event.type === "tool_used" && event.payload.tool === "use_skill" ? event.payload.params?.["skill"] : undefined;
  return typeof skill === "string" ? skill : undefined;
}

async function skillEvent(skill: TurnSkill, actionId: string): Promise<NewEvent> {
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

/** Finds words also in languages without spaces between words. */
const words = new Intl.Segmenter("en", { granularity: "word" });

/** True when a request is too short to work on: it has fewer than three words. */
const isThin = (text: string): boolean =>
  [
    ...Iterator.from(words.segment(text))
      .filter(({ isWordLike }) => isWordLike)
      .take(3),
  ].length < 3;

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
  const { text, files, hasDirectives, isPlain } = request;
  if (turn.interactive && !memo && !hasDirectives && files === "" && isThin(text)) return askForDetails(request);
  const work = createRunState(turn, request, plan, memo?.value);
  for await (const progress of invokeForced(work)) {
    work.eventCount += progress.events.length;
    yield progress;
  }
  const skills = isPlain ? "" : namesOf(turn.skills);
  const content = writeAnswer({ ...turn, ...request, skills, connectors: turn.connectors.map(({ name }) => name) });
  // Skills are ignored here: they may change between runs of a turn, whose events must be the same.
  const closing = request.isScript ? findClosing(orders.directives) : null;
  const outcome = yield* execute(closing?.before ?? orders.directives, work);
  if (outcome) return outcome;
  if (closing?.isStreamed) await showWords(closing.content, work);
  if (!hasDirectives) yield* workThrough(text, turn.attachments.length, plan);
  const result = closing ? { content: closing.content, files: closing.files } : { content: content || "Done." };
  return { kind: "finish", ...result, ...outputOf(work, orders.prose) };
}

/** The request to answer: the messages of this turn, joined with those before the question that it answers. */
function requestOf({ earlier }: Turn, { directives, prose }: TurnDirectives, files: string, memo: Memo | null): Request {
  const before = memo?.request ?? {
    text: "",
    files: "",
    previous: proseOf(earlier).at(-1) ?? "",
    hasDirectives: false,
    isScript: false,
    isPlain: false,
  };
  const [text, allFiles] = [joinLines([before.text, prose]), joinLines([before.files, files])];
  const hasDirectives = before.hasDirectives || directives.length > 0;
  return {
    ...{ text, files: allFiles, previous: before.previous, hasDirectives },
    isScript: before.isScript || (hasDirectives && text === "" && allFiles === ""),
    isPlain: before.isPlain || directives.some(({ directive }) => directive.name === "plain"),
  };
}

const joinLines = (texts: readonly string[]): string => texts.filter(Boolean).join("\n");

/** The user's earlier messages, without their directives. */
const proseOf = (earlier: Turn["earlier"]): readonly string[] =>
  messagesOf(earlier).flatMap(({ role, content }) => (role === "user" ? [textWithoutDirectives(content)] : []));

/** The value of a directive, or else a sample for the requested output schema, from the full conversation. */
function outputOf({ turn: { outputSchema, earlier }, value }: RunState, prose: string): { readonly output?: Json } {
  if (value !== undefined) return { output: value };
  if (outputSchema === null) return {};
  return { output: sampleValue(outputSchema, joinLines([...proseOf(earlier), prose])) };
}

/** The work without directives: a plan of two to four steps, with an explanation for each. */
function* workThrough(text: string, files: number, plan: PlanKeeper): Generator<Progress, void, void> {
  const steps = planSteps(text, files);
  plan.replace(steps.map(({ title }) => title));
  for (const { thought } of steps) yield { events: [...plan.next(), ...explain(thought).events] };
}

/** Ends the plan's current step with the turn. */
function* closePlan(plan: PlanKeeper, status: "done" | "failed"): Generator<Progress, void, void> {
  const events = plan.close(status);
  if (events.length > 0) yield { events };
}
