import { Failure } from "../../../core/failure.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Hold, Progress, Said, Usage } from "../../agent.ts";
import { type Answer, askModel } from "./answer.ts";
import { conversationTokens, fitted, tokensOf } from "./context.ts";
import { Ended, endedBy, overTime } from "./ended.ts";
import { ModelFault } from "./fault.ts";
import { planTool } from "./plan.ts";
import { type Conversation, toPrompt } from "./prompt.ts";
import { type ModelCall, providerName } from "./provider.ts";
import { waitAfter } from "./retry.ts";
import type { Run } from "./run.ts";
import { telling } from "./telling.ts";

/** How the model is asked. */
export interface Asking {
  /** What is asked for besides. */
  readonly tail?: readonly Said[];
  /** A schema that the answer is to fit, or plain text; without it the model has its tools. */
  readonly format?: JsonObject | "text";
  /** Tell nothing while the answer comes: the step was begun before. */
  readonly quiet: boolean;
}

/** Characters of an answer for each token that it may have: more than any language needs. */
const charactersPerToken = 32;
/** What estimates may be wrong by. */
const margin = 0.95;
const shrinksMax = 2;

/**
 * One step of the model: its answer, after as many attempts as that takes. What it used goes with the events that come
 * next. A step that is taken again, because its answer broke off, tells only what it comes to: nothing is said twice.
 *
 * @throws Ended when there is no answer to be had, or none may be had.
 */
export async function* think(run: Run, asking: Asking): AsyncGenerator<Progress, Answer, void> {
  const { turn, limits } = run;
  limits.check(run.progress().steps.length);
  let room = roomOf(run);
  let { quiet } = asking;
  let hold: Hold | undefined;
  for (let attempt = 1, shrinks = 0; ; attempt += 1) {
    const conversation = fitted({ ...run.conversation(), tail: asking.tail ?? [] }, room);
    const atMost = { inputTokens: conversationTokens(conversation) + toolTokens(run), outputTokens: run.config.maxOutputTokens };
    hold ??= await reserve(run, { ...atMost, toolCalls: 0 });
    const tried = yield* attemptOnce(run, { conversation, asking: { ...asking, quiet }, hold });
    if ("answer" in tried) return tried.answer;
    const { fault, told, paid } = tried;
    quiet ||= told;
    // A hold that nothing was paid from is good for the next attempt.
    if (paid) hold = undefined;
    run.log("warn", "a call of the model failed", { taskId: turn.taskId, attempt, fault: fault.kind, status: fault.status });
    if (isTooLong(fault, conversation, room) && shrinks < shrinksMax) {
      shrinks += 1;
      room = Math.floor(room / 2);
      continue;
    }
    const wait = waitAfter(attempt, fault, (run.random(1)[0] ?? 0) / 255);
    if (wait === null) throw settled(run, hold, endedBy(fault));
    await turn.clock.sleep(Math.min(wait, Math.max(0, limits.deadline - turn.clock.monotonic())), turn.signal);
    if (turn.clock.monotonic() >= limits.deadline) throw settled(run, hold, overTime());
  }
}

/** Tokens that a conversation may have. */
const roomOf = (run: Run): number => Math.floor((run.config.contextTokens - run.config.maxOutputTokens - toolTokens(run)) * margin);

/** Tokens of what the tools are described by. */
const toolTokens = ({ tools }: Run): number =>
  [planTool, ...tools.values()].reduce((sum, { description, inputSchema }) => sum + tokensOf(description + JSON.stringify(inputSchema)), 0);

/** The end of a turn, its hold given back. */
function settled(run: Run, hold: Hold | undefined, ended: Ended): Ended {
  if (hold) run.spend({}, hold);
  return ended;
}

/** A long prompt that is refused without a reason we know may be too long: the endpoint's context is smaller than configured. */
const isTooLong = ({ status }: ModelFault, conversation: Conversation, room: number): boolean =>
  (status === 400 || status === 413 || status === 422) && conversationTokens(conversation) > room / 2;

/** @throws Ended `quota_limit` when a budget, or the limit of the run, has no room. */
export async function reserve(run: Run, atMost: Usage): Promise<Hold> {
  const hold = await run.turn.reserve(atMost).catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.reason === "exhausted") throw new Ended("quota_limit", "The credits are used up.");
    throw thrown;
  });
  if (!run.limits.covers(hold)) throw settled(run, hold, new Ended("quota_limit", "The run has used up the credits that it may take."));
  return hold;
}

interface Attempt {
  readonly conversation: Conversation;
  readonly asking: Asking;
  readonly hold: Hold;
}

/** What came of it; `told`: events tell of a part of it. */
type Tried = { readonly answer: Answer } | { readonly fault: ModelFault; readonly told: boolean; readonly paid: boolean };

/** One attempt, and its bill: where the endpoint does not say, or broke off, by the lengths of the texts. */
async function* attemptOnce(run: Run, { conversation, asking, hold }: Attempt): AsyncGenerator<Progress, Tried, void> {
  const growing = telling();
  let characters = 0;
  let told = false;
  const pay = (input: number | null, output: number | null) =>
    bill(run, conversation, hold, { input, output: output ?? Math.ceil(characters / 4) });
  try {
    for await (const piece of askModel(run.model, callOf(run, conversation, asking), patienceOf(run))) {
      const events = asking.quiet ? [] : piece.kind === "answer" ? growing.rest() : growing.take(piece);
      if (piece.kind !== "answer") characters += piece.text.length;
      else pay(piece.inputTokens, piece.outputTokens);
      told ||= events.length > 0;
      if (events.length > 0) yield run.tell(events);
      if (piece.kind === "answer") return { answer: piece };
    }
    return { fault: new ModelFault("broken"), told, paid: false };
  } catch (thrown) {
    if (!(thrown instanceof ModelFault || thrown instanceof Ended)) throw thrown;
    const paid = characters > 0 || (thrown instanceof ModelFault && thrown.answered);
    if (paid) pay(null, null);
    if (thrown instanceof Ended) throw paid ? thrown : settled(run, hold, thrown);
    return { fault: thrown, told, paid };
  }
}

function bill(
  run: Run,
  conversation: Conversation,
  hold: Hold,
  { input, output }: { readonly input: number | null; readonly output: number },
): void {
  const most = conversationTokens(conversation);
  const inputTokens = input ?? most;
  run.spend({ inputTokens, outputTokens: output }, hold);
  run.limits.add(inputTokens + output, most + run.config.maxOutputTokens, hold);
}

const patienceOf = ({ turn, config, limits }: Run) => ({
  clock: turn.clock,
  signal: turn.signal,
  idleMs: config.idleSeconds * 1000,
  deadline: limits.deadline,
  charactersMax: config.maxOutputTokens * charactersPerToken,
});

/** A schema goes along only where the endpoint is said to take one: others refuse the call for it. */
function callOf({ config, tools, mark }: Run, conversation: Conversation, { format }: Asking): ModelCall {
  const { api, temperature, maxOutputTokens, extraBody, structuredOutputs } = config;
  // The configuration is JSON, which is what the SDK takes here.
  const providerOptions = { [providerName]: extraBody } as NonNullable<ModelCall["providerOptions"]>;
  const described = [planTool, ...tools.values()].map(({ name, description, inputSchema }) => ({
    type: "function" as const,
    ...{ name, description, inputSchema },
  }));
  return {
    prompt: toPrompt(conversation, mark),
    maxOutputTokens,
    ...(temperature === null ? {} : { temperature }),
    // Anthropic's API wants to know the tools of the conversation in every call; others take no schema beside tools.
    ...(format === undefined || api === "anthropic" ? { tools: described } : {}),
    ...(format !== undefined && api === "anthropic" ? { toolChoice: { type: "none" } } : {}),
    ...(typeof format === "object" && structuredOutputs ? { responseFormat: { type: "json", schema: format } } : {}),
    providerOptions,
  };
}
