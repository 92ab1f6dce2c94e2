import type { Clock } from "../../../core/clock.ts";
import { Ended, overTime } from "./ended.ts";
import { faultOf, ModelFault } from "./fault.ts";
import type { LanguageModel, ModelCall } from "./provider.ts";

/** A use of a tool that the model asks for. */
export interface Call {
  readonly name: string;
  /** As the model wrote it: JSON, if all is well. */
  readonly input: string;
}

/** What one call of the model came to. */
export interface Answer {
  readonly kind: "answer";
  readonly text: string;
  readonly calls: readonly Call[];
  /** `length`: it was cut at the most tokens of an answer. */
  readonly finish: "stop" | "length" | "filtered";
  /** Null where the endpoint does not say. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** A piece of an answer that is on its way. */
export interface Piece {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

/** How long to wait for an answer. */
export interface Patience {
  readonly clock: Clock;
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** An endpoint that is silent for so long has hung up. */
  readonly idleMs: number;
  /** On the monotonic clock. */
  readonly deadline: number;
  /** Characters of an answer, thoughts and inputs of tools among them. */
  readonly charactersMax: number;
}

type Part = Awaited<ReturnType<LanguageModel["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

/**
 * One call of the model, piece by piece, the whole of it last.
 *
 * @throws ModelFault when it came to nothing, Ended `timeout` at the deadline, the signal's reason once it is aborted.
 */
export async function* askModel(model: LanguageModel, call: ModelCall, patience: Patience): AsyncGenerator<Piece | Answer, void, void> {
  const { clock, signal } = patience;
  const over = new AbortController();
  const heard = listen(patience, over);
  const answer: Gathered = { text: "", block: "", characters: 0, calls: [], end: undefined };
  try {
    const { stream } = await model.doStream({ ...call, abortSignal: AbortSignal.any([signal, over.signal]) });
    for await (const part of stream) {
      heard();
      const piece = take(answer, part, patience.charactersMax);
      if (piece) yield piece;
      if (part.type === "finish") break;
    }
    yield whole(answer);
  } catch (thrown) {
    signal.throwIfAborted();
    // Whatever the SDK makes of our own abort, its reason says what happened.
    const cause = over.signal.aborted ? over.signal.reason : thrown;
    if (cause instanceof Ended) throw cause;
    const fault = faultOf(cause, clock.now());
    fault.answered = answer.characters > 0 || answer.calls.length > 0;
    throw fault;
  } finally {
    over.abort();
  }
}

/** Gives the call up when the endpoint is silent, or the time is over; the answer says that something was heard. */
function listen({ clock, idleMs, deadline }: Patience, over: AbortController): () => void {
  let last = clock.monotonic();
  const wait = async (): Promise<void> => {
    for (;;) {
      const now = clock.monotonic();
      if (now >= deadline) return over.abort(overTime());
      if (now - last >= idleMs) return over.abort(new ModelFault("silent"));
      await clock.sleep(Math.min(last + idleMs, deadline) - now, over.signal);
    }
  };
  // It ends by the abort.
  wait().catch(() => undefined);
  return () => {
    last = clock.monotonic();
  };
}

/** An answer as far as it has come. */
interface Gathered {
  text: string;
  /** The block of text that is open. */
  block: string;
  characters: number;
  readonly calls: Call[];
  end: Extract<Part, { type: "finish" }> | undefined;
}

/** Takes a part in; the piece of the answer that it is, if it is one. @throws ModelFault `endless`, and what an error part holds. */
function take(answer: Gathered, part: Part, charactersMax: number): Piece | undefined {
  if ("delta" in part) answer.characters += part.delta.length;
  if (answer.characters > charactersMax) throw new ModelFault("endless");
  switch (part.type) {
    case "error":
      throw part.error;
    case "text-delta": {
      // A second block of text is a paragraph of its own.
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

/** @throws ModelFault `broken` for an answer without an end, `empty` for one that says nothing. */
function whole({ text, calls, end }: Gathered): Answer {
  const reason = end?.finishReason.unified;
  if (!end || reason === "interrupted" || reason === "error") throw new ModelFault("broken");
  const filtered = reason === "content-filter";
  if (text.trim() === "" && calls.length === 0 && !filtered) throw new ModelFault("empty");
  const { inputTokens, outputTokens } = end.usage;
  const finish = filtered ? "filtered" : reason === "length" ? "length" : "stop";
  return { kind: "answer", text, calls, finish, inputTokens: inputTokens.total ?? null, outputTokens: outputTokens.total ?? null };
}
