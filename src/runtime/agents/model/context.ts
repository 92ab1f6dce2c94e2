import type { Json } from "../../../core/json.ts";
import { head } from "./bounded.ts";
import type { Step, Used } from "./conversation.ts";
import { Ended } from "./ended.ts";
import type { Conversation } from "./prompt.ts";

/** Texts up to here are not worth cutting. */
const shortMax = 400;
const outlineMax = 200;
/** What a message costs beside its text. */
const messageTokens = 8;

/** How many tokens a text takes at most, or little more: a token is seldom shorter than three bytes. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3);

const jsonTokens = (value: Json): number => tokensOf(JSON.stringify(value));

/** How many tokens a conversation takes at most. */
export function conversationTokens({ system, earlier, recalled, asked, steps, tail }: Conversation): number {
  const said = [...earlier, ...tail].map(({ content }) => tokensOf(content) + messageTokens);
  const used = [{ text: "", uses: recalled }, ...steps].flatMap(({ text, uses }) => [tokensOf(text), ...uses.map(useTokens)]);
  return [tokensOf(system), tokensOf(asked), ...said, ...used].reduce((sum, tokens) => sum + tokens, 0);
}

const useTokens = ({ input, result }: Used): number => jsonTokens(input) + jsonTokens(result) + 4 * messageTokens;

/** A conversation with one thing less in it; undefined when that saves nothing. */
type Cut = (conversation: Conversation) => Conversation | undefined;

/**
 * Makes a conversation fit, by outlines in place of what is oldest: results of tools first, then what they were given,
 * what the agent said, and what it said in earlier turns; what the last step found comes last. The instruction and the
 * messages of users are never cut.
 *
 * @throws Ended `context_limit` when even then it does not fit.
 */
export function fitted(conversation: Conversation, room: number): Conversation {
  let fits = conversation;
  let tokens = conversationTokens(fits);
  for (const cut of cutsOf(conversation)) {
    if (tokens <= room) return fits;
    const less = cut(fits);
    if (!less) continue;
    fits = less;
    tokens = conversationTokens(fits);
  }
  if (tokens <= room) return fits;
  throw new Ended("context_limit", "The conversation is longer than the model can take. Begin a new task with what still matters.");
}

function* cutsOf({ earlier, recalled, steps }: Conversation): Generator<Cut, void, void> {
  const older = steps.slice(0, -1).flatMap(({ uses }, step) => uses.map((_, use) => [step, use] as const));
  for (const use of recalled.keys()) yield (all) => withRecalled(all, use);
  for (const [step, use] of older) yield (all) => withUse(all, step, use, outlinedResult);
  for (const [step, use] of older) yield (all) => withUse(all, step, use, outlinedInput);
  for (const step of steps.keys()) yield (all) => withText(all, step);
  for (const at of earlier.keys()) yield (all) => withEarlier(all, at);
  const last = steps.length - 1;
  for (const use of (steps[last]?.uses ?? []).keys()) yield (all) => withUse(all, last, use, outlinedResult);
  for (const use of (steps[last]?.uses ?? []).keys()) yield (all) => withUse(all, last, use, outlinedInput);
}

function withUse(all: Conversation, step: number, use: number, outlined: (used: Used) => Used | undefined): Conversation | undefined {
  const found = all.steps[step];
  const less = found?.uses[use] && outlined(found.uses[use]);
  return found && less ? { ...all, steps: all.steps.with(step, { ...found, uses: found.uses.with(use, less) }) } : undefined;
}

function withRecalled(all: Conversation, use: number): Conversation | undefined {
  const found = all.recalled[use];
  const less = found && outlinedResult(found);
  return less && { ...all, recalled: all.recalled.with(use, less) };
}

function withText(all: Conversation, at: number): Conversation | undefined {
  const step: Step | undefined = all.steps[at];
  if (!step || step.text.length <= shortMax) return undefined;
  return { ...all, steps: all.steps.with(at, { ...step, text: `${head(step.text, outlineMax)} …` }) };
}

function withEarlier(all: Conversation, at: number): Conversation | undefined {
  const said = all.earlier[at];
  if (said?.role !== "assistant" || said.content.length <= shortMax) return undefined;
  return { ...all, earlier: all.earlier.with(at, { ...said, content: `${head(said.content, outlineMax)} …` }) };
}

function outlinedResult(used: Used): Used | undefined {
  const text = typeof used.result === "string" ? used.result : JSON.stringify(used.result);
  if (text.length <= shortMax) return undefined;
  return {
    ...used,
    result: { outline: head(text, outlineMax), characters: text.length, note: "Left out to save room. Use the tool again if you need it." },
  };
}

function outlinedInput(used: Used): Used | undefined {
  const text = JSON.stringify(used.input);
  return text.length <= shortMax ? undefined : { ...used, input: { outline: head(text, outlineMax) } };
}
