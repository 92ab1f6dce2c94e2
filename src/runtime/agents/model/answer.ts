import type { Clock } from "../../../core/clock.ts";
import type { CallPart, ProviderOptions, ReasoningPart, TextPart } from "../../../core/tasks/transcript.ts";
import { ModelFault, TurnError, timeoutError, toModelFault } from "./fault.ts";
import type { LanguageModel, ModelCall } from "./provider.ts";

/** The result of one call of the model. */
export interface Answer {
  readonly kind: "answer";
  /** All of its text. */
  readonly text: string;
  /** Its texts, thoughts and calls in order, as the model wrote them. */
  readonly parts: readonly AnswerPart[];
  /** `length`: the answer was cut at its token limit. */
  readonly finish: "stop" | "length" | "filtered";
  /** Null when the endpoint does not report it. */
  readonly inputTokens: number | null;
  /** Those input tokens that the service had in its cache, and that it wrote into it. */
  readonly cachedTokens: number | null;
  readonly writtenTokens: number | null;
  readonly outputTokens: number | null;
  /** Whether the endpoint reports tokens of a cache, 0 for instance. */
  readonly reportsCache: boolean;
}

/** A part of an answer; the input of a call is the text that the model wrote, normally JSON. */
export type AnswerPart = TextPart | ReasoningPart | RequestedCall;

export interface RequestedCall extends Pick<CallPart, "providerOptions"> {
  readonly type: "call";
  readonly name: string;
  readonly input: string;
}

/** A piece of an answer that is still arriving. */
export interface Piece {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

export interface AnswerLimits {
  readonly clock: Clock;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** The call fails when the endpoint sends nothing for this time. */
  readonly idleMs: number;
  /** The time at which the call fails, on the monotonic clock. */
  readonly deadline: number;
  /** The most characters of an answer, including reasoning and tool inputs. */
  readonly charactersMax: number;
}

type Part =
  Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

/**
 * Calls the model once. Yields the pieces of the answer, then the full answer.
 *
 * @throws ModelFault when the call fails, Ended `timeout` at the deadline, the signal's reason once it is
 * aborted.
 */
export async function* callModel(
  model: LanguageModel,
  call: ModelCall,
  patience: AnswerLimits,
): AsyncGenerator<Piece | Answer, void, void> {
  const { clock, signal } = patience;
  const stop = new AbortController();
  const onPart = watchSilence(patience, stop);
  const answer: PartialAnswer = { text: "", parts: new Map(), characters: 0, end: undefined };
  try {
    const { stream } = await model.doStream({ ...call, abortSignal: AbortSignal.any([signal, stop.signal]) });
    for await (const part of stream) {
      onPart();
      const piece = addPart(answer, part, patience.charactersMax);
      if (piece) yield piece;
      if (part.type === "finish") break;
    }
    yield fullAnswer(answer);
  } catch (thrown) {
    signal.throwIfAborted();
    // The SDK may wrap our abort in another error. The abort's reason has the cause.
    const cause = stop.signal.aborted ? stop.signal.reason : thrown;
    if (cause instanceof TurnError) throw cause;
    const fault = toModelFault(cause, clock.now());
    fault.hasAnswer = answer.characters > 0 || answer.parts.size > 0;
    throw fault;
  } finally {
    stop.abort();
  }
}

/**
 * Aborts the call when the endpoint is silent or the time is over. Call the result for each part that
 * arrives.
 */
function watchSilence({ clock, idleMs, deadline }: AnswerLimits, stop: AbortController): () => void {
  let last = clock.monotonic();
  const wait = async (): Promise<void> => {
    for (;;) {
      const now = clock.monotonic();
      if (now >= deadline) return stop.abort(timeoutError());
      if (now - last >= idleMs) return stop.abort(new ModelFault("silent"));
      await clock.sleep(Math.min(last + idleMs, deadline) - now, stop.signal);
    }
  };
  // The abort ends this loop.
  wait().catch(() => undefined);
  return () => {
    last = clock.monotonic();
  };
}

/** The parts of an answer that have arrived so far. */
interface PartialAnswer {
  text: string;
  /** By the ids of their blocks. */
  readonly parts: Map<string, AnswerPart>;
  characters: number;
  end: Extract<Part, { type: "finish" }> | undefined;
}

/**
 * Adds a part to the answer. Returns its piece of text, if any. @throws ModelFault `endless`, and the error
 * of an error part.
 */
function addPart(answer: PartialAnswer, part: Part, charactersMax: number): Piece | undefined {
  if ("delta" in part) answer.characters += part.delta.length;
  if (answer.characters > charactersMax) throw new ModelFault("endless");
  switch (part.type) {
    case "error":
      throw part.error;
    case "text-start":
    case "text-delta":
    case "text-end":
      return addText(answer, part);
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      return addThought(answer, part);
    case "tool-call":
      answer.parts.set(`call ${answer.parts.size}`, {
        type: "call",
        name: part.toolName,
        input: part.input,
        ...optionsOf(part),
      });
      return undefined;
    case "finish":
      answer.end = part;
      return undefined;
    default:
      return undefined;
  }
}

function addText(answer: PartialAnswer, part: Extract<Part, { type: `text-${string}` }>): Piece | undefined {
  const known = answer.parts.get(`text ${part.id}`);
  const before = known?.type === "text" ? known : { text: "" };
  const delta = "delta" in part ? part.delta : "";
  answer.parts.set(`text ${part.id}`, {
    ...before,
    type: "text",
    text: before.text + delta,
    ...optionsOf(part),
  });
  if (delta === "") return undefined;
  // A second block of text starts a new paragraph.
  const text = answer.text !== "" && before.text === "" ? `\n\n${delta}` : delta;
  answer.text += text;
  return { kind: "text", text };
}

function addThought(
  { parts }: PartialAnswer,
  part: Extract<Part, { type: `reasoning-${string}` }>,
): Piece | undefined {
  if (!("id" in part)) return undefined;
  const known = parts.get(`thought ${part.id}`);
  const { text: before, providerOptions: signed } =
    known?.type === "reasoning" ? known : { text: "", providerOptions: {} };
  const text = "delta" in part ? part.delta : "";
  const providerOptions = { ...signed, ...optionsOf(part).providerOptions };
  parts.set(`thought ${part.id}`, { type: "reasoning", text: before + text, providerOptions });
  return text === "" ? undefined : { kind: "reasoning", text };
}

/** What the service wants to have back with a part; the SDK gives it as JSON. */
const optionsOf = ({
  providerMetadata,
}: {
  readonly providerMetadata?: unknown;
}): Pick<CallPart, "providerOptions"> =>
  providerMetadata ? { providerOptions: providerMetadata as ProviderOptions } : {};

/**
 * Returns the full answer. @throws ModelFault `broken` for an answer without an end, `empty` for an empty
 * one.
 */
function fullAnswer({ text, parts, end }: PartialAnswer): Answer {
  const reason = end?.finishReason.unified;
  if (!end || reason === "interrupted" || reason === "error") throw new ModelFault("broken");
  const filtered = reason === "content-filter";
  const written = [...parts.values()].filter(isSentBack);
  if (text.trim() === "" && !written.some(({ type }) => type === "call") && !filtered)
    throw new ModelFault("empty");
  const { inputTokens, outputTokens } = end.usage;
  const finish = filtered ? "filtered" : reason === "length" ? "length" : "stop";
  // A service that does not count reports nothing, or 0.
  const tokens = {
    inputTokens: inputTokens.total || null,
    cachedTokens: inputTokens.cacheRead ?? null,
    writtenTokens: inputTokens.cacheWrite ?? null,
    outputTokens: outputTokens.total || null,
  };
  const reportsCache = /"cache[^"]*tokens"/i.test(JSON.stringify(end.usage.raw ?? null));
  return { kind: "answer", text, parts: written, finish, ...tokens, reportsCache };
}

/** Services accept no blank texts, and want only those thoughts back that they have signed. */
const isSentBack = (part: AnswerPart): boolean =>
  part.type === "text"
    ? part.text.trim() !== ""
    : part.type === "call" || Object.keys(part.providerOptions).length > 0;
