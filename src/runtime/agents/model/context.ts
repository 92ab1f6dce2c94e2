import type { Json } from "../../../core/json.ts";
import type { EarlierPart, FinishedUse, Step } from "./conversation.ts";
import { TurnError } from "./fault.ts";
import type { Conversation } from "./prompt.ts";
import { head } from "./tool.ts";

/** Texts of at most this many characters are not shortened. */
const shortMax = 400;
const outlineMax = 200;
/** The tokens of a message in addition to its text. */
const messageTokens = 8;

/** Estimates the most tokens of a text: a token is rarely shorter than three bytes. */
export const countTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

const jsonTokens = (value: Json): number => countTokens(JSON.stringify(value));

export function conversationTokens({
  system,
  earlier,
  recalled,
  request,
  steps,
  tail,
}: Conversation): number {
  const messages = [...earlier, ...tail].map(partTokens);
  const used = [{ text: "", uses: recalled }, ...steps].flatMap(({ text, uses }) => [
    countTokens(text),
    ...uses.map(useTokens),
  ]);
  return [countTokens(system), countTokens(request), ...messages, ...used].reduce(
    (sum, tokens) => sum + tokens,
    0,
  );
}

const partTokens = (part: EarlierPart): number =>
  part.role === "tool" ? useTokens(part) : countTokens(part.content) + messageTokens;

const useTokens = ({ input, result }: FinishedUse): number =>
  jsonTokens(input) + jsonTokens(result) + 4 * messageTokens;

/** Shortens one part of a conversation; undefined when that saves nothing. */
type Cut = (conversation: Conversation) => Conversation | undefined;

/**
 * Shortens a conversation until it fits. The uses of tools in earlier turns are left out first, the oldest
 * first. Then outlines replace the oldest parts: results of tools, their inputs, the agent's texts, and its
 * texts in earlier turns. The results of the last step are shortened last. The instruction and the messages
 * of users are never shortened.
 *
 * @param tokensMax the tokens that the conversation may have.
 * @throws TurnError `context_limit` when it still does not fit.
 */
export function fitConversation(conversation: Conversation, tokensMax: number): Conversation {
  let shortened = conversation;
  let tokens = conversationTokens(shortened);
  for (const cut of listCuts(conversation)) {
    if (tokens <= tokensMax) return shortened;
    const shorter = cut(shortened);
    if (!shorter) continue;
    shortened = shorter;
    tokens = conversationTokens(shortened);
  }
  if (tokens <= tokensMax) return shortened;
  throw new TurnError(
    "context_limit",
    "The conversation is longer than the model accepts. Begin a new task with the parts that still matter.",
  );
}

function* listCuts({ earlier, recalled, steps }: Conversation): Generator<Cut, void, void> {
  const older = steps.slice(0, -1).flatMap(({ uses }, step) => uses.map((_, use) => [step, use] as const));
  const messages = earlier.filter(({ role }) => role !== "tool");
  for (let left = messages.length; left < earlier.length; left += 1) yield withoutOldestUse;
  for (const use of recalled.keys()) yield (all) => withRecalled(all, use);
  for (const [step, use] of older) yield (all) => withUse(all, step, use, outlineResult);
  for (const [step, use] of older) yield (all) => withUse(all, step, use, outlineInput);
  for (const step of steps.keys()) yield (all) => withText(all, step);
  for (const at of messages.keys()) yield (all) => withEarlier(all, at);
  const last = steps.length - 1;
  for (const use of (steps[last]?.uses ?? []).keys()) yield (all) => withUse(all, last, use, outlineResult);
  for (const use of (steps[last]?.uses ?? []).keys()) yield (all) => withUse(all, last, use, outlineInput);
}

function withUse(
  all: Conversation,
  step: number,
  use: number,
  outline: (used: FinishedUse) => FinishedUse | undefined,
): Conversation | undefined {
  const original = all.steps[step];
  const shorter = original?.uses[use] && outline(original.uses[use]);
  return original && shorter
    ? { ...all, steps: all.steps.with(step, { ...original, uses: original.uses.with(use, shorter) }) }
    : undefined;
}

/** Without the oldest use of a tool in earlier turns. */
const withoutOldestUse: Cut = (all) => ({
  ...all,
  earlier: all.earlier.toSpliced(
    all.earlier.findIndex(({ role }) => role === "tool"),
    1,
  ),
});

function withRecalled(all: Conversation, use: number): Conversation | undefined {
  const original = all.recalled[use];
  const shorter = original && outlineResult(original);
  return shorter && { ...all, recalled: all.recalled.with(use, shorter) };
}

function withText(all: Conversation, at: number): Conversation | undefined {
  const step: Step | undefined = all.steps[at];
  if (!step || step.text.length <= shortMax) return undefined;
  return { ...all, steps: all.steps.with(at, { ...step, text: `${head(step.text, outlineMax)} …` }) };
}

/** With an outline of a message of earlier turns, when their uses of tools are left out. */
function withEarlier(all: Conversation, at: number): Conversation | undefined {
  const said = all.earlier[at];
  if (said?.role !== "assistant" || said.content.length <= shortMax) return undefined;
  return {
    ...all,
    earlier: all.earlier.with(at, { ...said, content: `${head(said.content, outlineMax)} …` }),
  };
}

/** A use with outlines instead of a long input and a long result. */
export function outlineUse(used: FinishedUse): FinishedUse {
  const shorter = outlineInput(used) ?? used;
  return outlineResult(shorter) ?? shorter;
}

function outlineResult(used: FinishedUse): FinishedUse | undefined {
  const text = typeof used.result === "string" ? used.result : JSON.stringify(used.result);
  if (text.length <= shortMax) return undefined;
  return {
    ...used,
    result: {
      outline: head(text, outlineMax),
      characters: text.length,
      note: "Left out to save space. Use the tool again if you need it.",
    },
  };
}

function outlineInput(used: FinishedUse): FinishedUse | undefined {
  const text = JSON.stringify(used.input);
  return text.length <= shortMax ? undefined : { ...used, input: { outline: head(text, outlineMax) } };
}
