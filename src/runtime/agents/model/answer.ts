import type { Clock } from "../../../core/clock.ts";
import { ModelFault, TurnError, timeoutError, toModelFault } from "./fault.ts";
import type { LanguageModel, ModelCall } from "./provider.ts";

export interface RequestedCall {
  readonly name: string;
  /** The input as the model wrote it; normally JSON. */
  readonly input: string;
}

/** The result of one call of the model. */
export interface Answer {
  readonly kind: "answer";
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** `length`: the answer was cut at its token limit. */
  readonly finish: "stop" | "length" | "filtered";
  /** Null when the endpoint does not report it. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
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
  const answer: PartialAnswer = { text: "", block: "", characters: 0, calls: [], end: undefined };
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
    fault.hasAnswer = answer.characters > 0 || answer.calls.length > 0;
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
  /** The id of the current block of text. */
  block: string;
  characters: number;
  readonly calls: RequestedCall[];
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
    case "text-delta": {
      // A second block of text starts a new paragraph.
      const text = answer.text !== "" && part.id !== answer.block ? `\n\n${part.delta}` : part.delta;
      answer.block = part.id;
      answer.text += text;
      return { kind: "text", text };
    }
    case "reasoning-delta":
      return { kind: "reasoning", text: part.delta };
    case "tool-call":
      answer.calls.push({ name: part.toolName, input: part.input });
      return undefined;
    case "finish":
      answer.end = part;
      return undefined;
    default:
      return undefined;
  }
}

/**
 * Returns the full answer. @throws ModelFault `broken` for an answer without an end, `empty` for an empty
 * one.
 */
function fullAnswer({ text, calls, end }: PartialAnswer): Answer {
  const reason = end?.finishReason.unified;
  if (!end || reason === "interrupted" || reason === "error") throw new ModelFault("broken");
  const filtered = reason === "content-filter";
  if (text.trim() === "" && calls.length === 0 && !filtered) throw new ModelFault("empty");
  const { inputTokens, outputTokens } = end.usage;
  const finish = filtered ? "filtered" : reason === "length" ? "length" : "stop";
  return {
    kind: "answer",
    text,
    calls,
    finish,
    inputTokens: inputTokens.total ?? null,
    outputTokens: outputTokens.total ?? null,
  };
}
