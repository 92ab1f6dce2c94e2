import type { ModelConfig } from "../../../config/models.ts";
import { Failure } from "../../../core/failure.ts";
import type { JsonObject } from "../../../core/json.ts";
import { secondsSince } from "../../../core/observe.ts";
import { attributes, modelSpan } from "../../../core/span-names.ts";
import type { NewEvent } from "../../../core/tasks/event.ts";
import { currentSpan, iterateInSpan, type Span } from "../../../core/trace.ts";
import type { Usage } from "../../../core/usage/price.ts";
import { tooFewCredits } from "../../../core/usage/spend.ts";
import type { Hold, Progress } from "../../agent.ts";
import { type Answer, callModel, type Piece } from "./answer.ts";
import { clearRefused, fittingCall } from "./compaction.ts";
import { ModelFault, retryDelay, TurnError, timeoutError, toTurnError } from "./fault.ts";
import { withImages } from "./images/rows.ts";
import { imagesPart } from "./prompt.ts";
import { cacheKeyOf, type ModelCall, providerName } from "./provider.ts";
import { type Measured, type Request, tokensMax } from "./request.ts";
import type { Run } from "./run.ts";

/** From this number of characters on, a text is cut at the next end of a sentence. */
const softMax = 400;
/** From this number of characters on, a text is cut at the next space. */
const hardMax = 1_600;

const sentenceEnd = /[.!?。！？:;]["”’)\]]?\s|\n/g;

/** Turns an answer that is arriving into events. */
export interface ExplanationStream {
  /** Adds a piece. Returns the events of the text that is long enough. */
  take(piece: Piece): readonly NewEvent[];
  /** Returns the rest of the reasoning. The rest of the text is part of the answer's final event. */
  rest(): readonly NewEvent[];
}

/**
 * Streams an answer as explanations: the reasoning, and a long text while it grows, by sentences instead of
 * tokens. Explanations appear in streams and verbose lists only. The full text is written once, when its role
 * is known: progress before tools are used, the result at the end.
 */
function openExplanations(): ExplanationStream {
  let open: Piece["kind"] = "text";
  let buffer = "";

  function takeEvents(): NewEvent[] {
    const events: NewEvent[] = [];
    for (let at = cutAt(buffer); at > 0; at = cutAt(buffer)) {
      events.push(...explain(buffer.slice(0, at)));
      buffer = buffer.slice(at);
    }
    return events;
  }

  const rest = (): readonly NewEvent[] => {
    const remaining = open === "reasoning" ? explain(buffer) : [];
    buffer = "";
    return remaining;
  };

  return {
    take({ kind, text }) {
      const before = kind === open ? [] : rest();
      open = kind;
      buffer += text;
      return [...before, ...takeEvents()];
    },
    rest,
  };
}

/** The position at which a text is cut; 0 while it is too short. */
function cutAt(text: string): number {
  if (text.length < softMax) return 0;
  sentenceEnd.lastIndex = softMax - 1;
  const end = sentenceEnd.exec(text);
  if (end && end.index < hardMax) return end.index + end[0].length;
  if (text.length < hardMax) return 0;
  const blank = text.indexOf(" ", hardMax - 1);
  return blank >= 0 ? blank + 1 : text.length < 2 * hardMax ? 0 : avoidSurrogates(text, 2 * hardMax);
}

/** Moves a cut before a surrogate pair that it would split. */
const avoidSurrogates = (text: string, at: number): number =>
  /[\ud800-\udbff]/.test(text[at - 1] ?? "") ? at - 1 : at;

const explain = (text: string): NewEvent[] =>
  text.trim() === "" ? [] : [{ type: "explanation", payload: { content: text.trim() } }];

export interface StepOptions {
  /** A schema for the answer, or plain text. Without a format the model may use tools. */
  readonly format?: JsonObject | "text";
  /** True when no explanations are written: the step has written some before. */
  readonly quiet: boolean;
  /**
   * The text before the answer in its message. Watchers see the answer while it arrives; absent: they do not.
   */
  readonly live?: string;
  /** The request; absent: the next one of the transcript. */
  readonly fixed?: Measured;
}

/**
 * Shows an answer to watchers while it arrives, after the text before it. The blanks at the start of a
 * message are left out.
 */
function openLive({ turn: { live } }: Run, before: string): (text: string) => void {
  let hasBegun = false;
  return (text) => {
    const shown = before === "" && !hasBegun ? text.trimStart() : text;
    if (shown === "") return;
    if (!hasBegun) {
      hasBegun = true;
      live?.begin("assistant_message");
      live?.write(before);
    }
    live?.write(shown);
  };
}

/** The most characters of an answer per allowed token: more than any language needs. */
const charactersPerToken = 32;
const shrinksMax = 2;

/**
 * Runs one step of the model, with retries. Its usage is reported with the next events. A retry after an
 * interrupted answer writes no explanations, so that no text is written twice.
 *
 * @throws TurnError when the model does not answer, or a limit is reached.
 */
export async function* runStep(run: Run, asking: StepOptions): AsyncGenerator<Progress, Answer, void> {
  const { turn, limits } = run;
  limits.check();
  let max = tokensMax(run.config);
  let { quiet } = asking;
  let hold: Hold | undefined;
  for (let attempt = 1, shrinks = 0; ; attempt += 1) {
    const call = asking.fixed ?? (yield* nextCall(run, asking, max));
    hold ??= await reserve(run, {
      inputTokens: call.tokens,
      outputTokens: run.config.maxOutputTokens,
      toolCalls: 0,
    });
    const result = yield* attemptOnce(run, { ...call, asking: { ...asking, quiet }, hold });
    if ("answer" in result) return result.answer;
    const { fault, hasWritten, paid } = result;
    quiet ||= hasWritten;
    // A hold without any payment is used for the next attempt.
    if (paid) hold = undefined;
    run.log("warn", "a call of the model failed", {
      taskId: turn.taskId,
      attempt,
      fault: fault.kind,
      status: fault.status,
    });
    if (!asking.fixed && isTooLong(fault, call.tokens, max) && shrinks < shrinksMax) {
      shrinks += 1;
      max = Math.floor(max / 2);
      continue;
    }
    const cleared = isRefused(fault) && !asking.fixed ? clearRefused(run, call) : null;
    if (cleared) {
      yield cleared;
      continue;
    }
    const wait = retryDelay(attempt, fault, (run.random(1)[0] ?? 0) / 255);
    if (wait === null) {
      if (hold) run.spend({}, hold);
      yield fallBack(run, asking, fault);
      [hold, max, attempt] = [undefined, tokensMax(run.config), 0];
      continue;
    }
    await turn.clock.sleep(
      Math.min(wait, Math.max(0, limits.deadline - turn.clock.monotonic())),
      turn.signal,
    );
    if (turn.clock.monotonic() >= limits.deadline) throw releaseHold(run, hold, timeoutError());
  }
}

/** Continues with another model, and says so. @throws TurnError without one, and for another failure. */
function fallBack(run: Run, { fixed }: StepOptions, fault: ModelFault): Progress {
  const ended = toTurnError(fault);
  const name = fixed || ended.errorType !== "model_unavailable" ? undefined : run.fallBack();
  if (name === undefined) throw ended;
  const content = `The model is not available. The agent continues with the model ${name}.`;
  return run.recordLast([{ type: "explanation", payload: { content } }]);
}

/** The next request of the transcript. It may need a summary first, which has its own call. */
function nextCall(run: Run, { format }: StepOptions, max: number) {
  const { transcript, config } = run;
  const system = transcript.rows.findLast(({ role }) => role === "system");
  // Another model gets nothing that this one has signed.
  if (system && system.model !== config.model)
    transcript.add(
      "system",
      [...system.parts.filter(({ type }) => type !== "images"), ...imagesPart(config.images)],
      { model: config.model },
    );
  return fittingCall(
    run,
    { max, extra: typeof format === "object" ? Math.ceil(JSON.stringify(format).length / 3) : 0 },
    (fixed) => runStep(run, { quiet: true, fixed }),
  );
}

/** Releases the hold of a turn that fails. Returns the error. */
function releaseHold(run: Run, hold: Hold | undefined, ended: TurnError): TurnError {
  if (hold) run.spend({}, hold);
  return ended;
}

/** A refused long prompt may be too long: the endpoint's context can be smaller than configured. */
const isTooLong = (fault: ModelFault, tokens: number, max: number): boolean =>
  isRefused(fault) && tokens > max / 2;

const isRefused = ({ status }: ModelFault): boolean =>
  status === 400 || status === 413 || status === 415 || status === 422;

/**
 * Reserves the cost of a call. @throws TurnError `quota_limit` when a budget, or the run's limit, has too
 * little left.
 */
export async function reserve(run: Run, atMost: Usage): Promise<Hold> {
  const hold = await run.turn.reserve(atMost).catch((thrown: unknown) => {
    if (thrown instanceof Failure && thrown.reason === "resource_exhausted")
      throw new TurnError("quota_limit", tooFewCredits);
    throw thrown;
  });
  if (!run.limits.covers(hold))
    throw releaseHold(run, hold, new TurnError("quota_limit", "The run has used up its credits."));
  return hold;
}

interface Attempt extends Pick<Measured, "request" | "tokens"> {
  readonly asking: StepOptions;
  readonly hold: Hold;
}

/** The result of an attempt. `hasWritten` is true when it has written explanations. */
type AttemptResult =
  | { readonly answer: Answer }
  | { readonly fault: ModelFault; readonly hasWritten: boolean; readonly paid: boolean };

/**
 * Runs one attempt and charges it. Usage is estimated from the texts' lengths when the endpoint does not
 * report it.
 */
async function* attemptOnce(
  run: Run,
  { request, tokens, asking, hold }: Attempt,
): AsyncGenerator<Progress, AttemptResult, void> {
  const explanations = openExplanations();
  const showLive = asking.live === undefined ? null : openLive(run, asking.live);
  const prompt = await withImages(run, request);
  const start = performance.now();
  const span = currentSpan()?.child(modelSpan(run.config.model, providers[run.config.api]));
  const observe = (outcome: "ok" | "failed", fault?: ModelFault | TurnError) => {
    run.observe?.modelCalled({ model: run.config.model, outcome, seconds: secondsSince(start) });
    if (outcome === "failed") span?.fail(fault instanceof ModelFault ? fault.kind : "broken");
  };
  let characters = 0;
  let hasWritten = false;
  const pay = (reported: Partial<ReportedTokens>) =>
    charge(
      { run, tokens, hold, span },
      { ...reported, outputTokens: reported.outputTokens ?? Math.ceil(characters / 4) },
    );
  try {
    for await (const piece of iterateInSpan(span, () =>
      callModel(run.model, callOf(run, { ...request, prompt }, asking), patienceOf(run)),
    )) {
      const events = asking.quiet
        ? []
        : piece.kind === "answer"
          ? explanations.rest()
          : explanations.take(piece);
      if (piece.kind === "text") showLive?.(piece.text);
      if (piece.kind !== "answer") characters += piece.text.length;
      else pay(piece);
      hasWritten ||= events.length > 0;
      if (events.length > 0) yield run.record(events);
      if (piece.kind !== "answer") continue;
      observe("ok");
      return { answer: piece };
    }
    observe("failed");
    return { fault: new ModelFault("broken"), hasWritten, paid: false };
  } catch (thrown) {
    if (!(thrown instanceof ModelFault || thrown instanceof TurnError)) throw thrown;
    observe("failed", thrown);
    const paid = characters > 0 || (thrown instanceof ModelFault && thrown.hasAnswer);
    if (paid) pay({});
    if (thrown instanceof TurnError) throw paid ? thrown : releaseHold(run, hold, thrown);
    return { fault: thrown, hasWritten, paid };
  } finally {
    span?.end();
  }
}

/** The form of the endpoint, by the names of the conventions. */
const providers = { openai: "openai", "openai-responses": "openai", anthropic: "anthropic" } as const;

interface PaidCall {
  readonly run: Run;
  /** The estimate of its input. */
  readonly tokens: number;
  readonly hold: Hold;
  readonly span: Span | undefined;
}

type ReportedTokens = Pick<Answer, "inputTokens" | "cachedTokens" | "writtenTokens" | "outputTokens">;

function charge(
  { run, tokens, hold, span }: PaidCall,
  reported: Partial<ReportedTokens> & { readonly outputTokens: number },
): void {
  const { outputTokens } = reported;
  const inputTokens = reported.inputTokens ?? tokens;
  // A service can report more cached tokens than input.
  const cachedInputTokens = Math.min(inputTokens, reported.cachedTokens ?? 0);
  const cacheWriteTokens = Math.min(inputTokens - cachedInputTokens, reported.writtenTokens ?? 0);
  const usage = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens };
  run.spend(usage, hold);
  run.observe?.tokensUsed(run.config.model, usage);
  span?.set(attributes({ inputTokens, outputTokens }));
}

const patienceOf = ({ turn, config, limits }: Run) => ({
  clock: turn.clock,
  signal: turn.signal,
  idleMs: config.idleSeconds * 1000,
  deadline: limits.deadline,
  charactersMax: config.maxOutputTokens * charactersPerToken,
});

/**
 * Builds a call. It has a schema only when the endpoint is configured to accept one: others refuse such a
 * call. The tools are the same in each call, because they are part of its beginning. Anthropic's API forgets
 * the messages when the choice of tools changes.
 */
function callOf({ config, turn }: Run, { prompt, tools }: Request, { format }: StepOptions): ModelCall {
  const { api, maxOutputTokens, structuredOutputs } = config;
  return {
    prompt,
    tools,
    maxOutputTokens,
    ...(format !== undefined && api !== "anthropic" ? { toolChoice: { type: "none" } } : {}),
    ...(typeof format === "object" && structuredOutputs
      ? { responseFormat: { type: "json", schema: format } }
      : {}),
    ...optionsOf(config, cacheKeyOf(turn.taskId)),
  };
}

/** The members of a call that depend on the model's entry, and the key of the task's cache. */
export function optionsOf(
  { api, temperature, extraBody, effort, thinkingTokens }: ModelConfig,
  cacheKey: string,
): Pick<ModelCall, "temperature" | "providerOptions"> {
  const thinking = thinkingTokens === null ? {} : { type: "enabled", budgetTokens: thinkingTokens };
  const reasoning = effort && { reasoningEffort: effort };
  const extra = Object.entries(extraBody).map(([name, value]) => [
    name,
    value === "{task}" ? cacheKey : value,
  ]);
  const options = {
    openai: { [providerName]: { ...Object.fromEntries(extra), ...reasoning } },
    // Nothing is kept by the service: thoughts come encrypted, and go back with the next request.
    "openai-responses": {
      openai: {
        store: false,
        promptCacheKey: cacheKey,
        strictJsonSchema: false,
        ...(effort && { forceReasoning: true }),
        ...reasoning,
      },
    },
    anthropic: { anthropic: { ...(effort && { effort }), ...(thinkingTokens === null ? {} : { thinking }) } },
  }[api];
  // The configuration is JSON, which is the type that the SDK accepts here.
  const providerOptions = options as NonNullable<ModelCall["providerOptions"]>;
  return { ...(temperature === null ? {} : { temperature }), providerOptions };
}
