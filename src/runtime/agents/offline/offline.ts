import type { Json } from "../../../core/json.ts";
import { type Agent, messagesOf, type Outcome, type Progress, type Turn } from "../../agent.ts";
import { writeAnswer } from "./answer.ts";
import { type Directive, type DirectiveName, execute } from "./directives.ts";
import { createMemo, type Memo, type Request, readMemo } from "./memo.ts";
import { type PlanKeeper, planKeeper } from "./plan.ts";
import { describeFiles } from "./profile.ts";
import { type Directives, readDirectives, readTurn } from "./reading.ts";
import { actionIds, explain, fileMessage, fileOf, never, type RunState, showWords } from "./run.ts";
import { sampleValue } from "./sample.ts";
import { forcedSkills, namesOf } from "./skills.ts";
import { shorten } from "./text.ts";

/** Finds words also in languages without spaces between words. */
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** True when a request is too short to work on: it has fewer than three words. */
function isThin(text: string): boolean {
  const words = Iterator.from(segmenter.segment(text)).filter(({ isWordLike }) => isWordLike);
  return words.take(3).toArray().length < 3;
}

/** Asks for more details. The answer is joined with the request. */
const askForDetails = (request: Request): Outcome => ({
  kind: "ask",
  content:
    request.text === ""
      ? "What would you like me to do?"
      : `What would you like me to do with “${shorten(request.text)}”?`,
  options: ["Do your best with it"],
  memo: createMemo({ left: "", request }),
});

/**
 * The built-in default agent. It is deterministic, and needs no key and no network: the same turn gives the
 * same events. It answers from the messages, the project's instruction and the earlier messages, and executes
 * the directives in the messages.
 */
export const offlineAgent: Agent = async function* (turn) {
  const memo = readMemo(turn.memo);
  const plan = planKeeper(turn, memo?.plan);
  const read = readTurn(turn.messages, memo);
  const outcome: Outcome =
    "fault" in read
      ? { kind: "fail", errorType: "invalid_directive", content: read.fault }
      : yield* carryOut(read, turn, memo, plan);
  const events =
    outcome.kind === "finish" ? plan.close("done") : outcome.kind === "fail" ? plan.close("failed") : [];
  if (events.length > 0) yield { events };
  return outcome;
};

async function* carryOut(
  read: Directives,
  turn: Turn,
  memo: Memo | null,
  plan: PlanKeeper,
): AsyncGenerator<Progress, Outcome, void> {
  const request = requestOf(turn, read, await describeFiles(turn.attachments), memo);
  const { text, files, ordered, script, plain } = request;
  if (turn.interactive && !memo && !ordered && files === "" && isThin(text)) return askForDetails(request);
  const work: RunState = {
    turn,
    request,
    plan,
    nextActionId: actionIds(turn),
    value: memo?.value,
    events: 0,
    confirmed: 0,
    waited: 0,
    loss: { events: never, bytes: never, atEnd: false },
  };
  for await (const progress of forcedSkills(turn, work.nextActionId)) {
    work.events += progress.events.length;
    yield progress;
  }
  const content = writeAnswer(turn, request, plain ? "" : namesOf(turn.skills));
  // Skills are ignored here: they may change between runs of a turn, whose events must be the same.
  const closing = script ? findClosing(read.directives) : null;
  const outcome =
    (yield* execute(closing?.before ?? read.directives, work)) ??
    (closing?.isStreamed && (await showWords(closing.content, work)));
  if (work.loss.atEnd) return { kind: "abandon" };
  if (outcome) return outcome;
  if (!ordered) yield* workThrough(turn.attachments.length, plan);
  const result = closing
    ? { content: closing.content, files: closing.files }
    : { content: content || "Done." };
  return { kind: "finish", ...result, ...outputOf(work, read.prose) };
}

/**
 * Directives with which a turn ends in another way, or does not end; and those that wait for a decision, or
 * for subtasks.
 */
const otherEndings: readonly DirectiveName[] = ["ask", "fail", "forever"];
const deciding: readonly DirectiveName[] = ["confirm", "schedule", "wait"];

/**
 * The result of a script (spec/decisions.md 52), which is written only at the end, except when a `confirm`,
 * `schedule` or `wait` follows it: then it is also written before. Null without a `say`, `stream` or `file`,
 * or when the turn does not finish. The same directives give the same result in every run of a turn.
 */
function findClosing(directives: readonly Directive[]) {
  const names = directives.map(({ name }) => name);
  const spoken = names.findLastIndex((name) => name === "say" || name === "stream");
  const at = spoken === -1 ? names.lastIndexOf("file") : spoken;
  const { name, parts: [text = ""] = [] } = directives[at] ?? {};
  if (name === undefined || names.some((each) => otherEndings.includes(each))) return null;
  return {
    content: name === "file" ? fileMessage(text) : text,
    /** All files of the turn, in order. */
    files: directives.flatMap(({ name, parts }) => (name === "file" ? [fileOf(parts)] : [])),
    /** Watchers see its text word by word. */
    isStreamed: name === "stream",
    /** The directives to execute before it. */
    before:
      at < names.findLastIndex((each) => deciding.includes(each)) ? directives : directives.toSpliced(at, 1),
  };
}

/**
 * The request to answer: the messages of this turn, joined with those before the question that it answers.
 */
function requestOf(
  { earlier }: Turn,
  { directives, prose }: Directives,
  newFiles: string,
  memo: Memo | null,
): Request {
  const before = memo?.request ?? {
    text: "",
    files: "",
    previous: proseOf(earlier).at(-1) ?? "",
    ordered: false,
  };
  const [text, files] = [joinLines([before.text, prose]), joinLines([before.files, newFiles])];
  const ordered = before.ordered || directives.length > 0;
  const script = before.script || (ordered && text === "" && files === "");
  return {
    text,
    files,
    previous: before.previous,
    ordered,
    script,
    plain: before.plain || directives.some(({ name }) => name === "plain"),
  };
}

const joinLines = (texts: readonly string[]): string => texts.filter(Boolean).join("\n");

/** The user's earlier messages, without their directives; empty where one is invalid. */
const proseOf = (earlier: Turn["earlier"]): readonly string[] =>
  messagesOf(earlier).flatMap(({ role, content }) => {
    const read = readDirectives(content);
    return role === "user" ? ["fault" in read ? "" : read.prose] : [];
  });

/** The value of a directive, or else a sample for the requested output schema, from the full conversation. */
function outputOf({ turn: { outputSchema, earlier }, value }: RunState, prose: string): { output?: Json } {
  if (value !== undefined) return { output: value };
  if (outputSchema === null) return {};
  return { output: sampleValue(outputSchema, joinLines([...proseOf(earlier), prose])) };
}

/** The work without directives: a plan, with an explanation for each step. */
function* workThrough(files: number, plan: PlanKeeper): Generator<Progress, void, void> {
  const steps = ["Read the request", ...(files > 0 ? ["Look into the files"] : []), "Write the answer"];
  plan.replace(steps);
  for (const step of steps)
    yield { events: [...plan.next(), ...explain(`${step}, without a model.`).events] };
}
