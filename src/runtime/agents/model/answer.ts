import type { Clock } from "../../../core/clock.ts";
import { Ended } from "./ended.ts";
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
  const answer = gather(patience.charactersMax);
  try {
    const { stream } = await model.doStream({ ...call, abortSignal: AbortSignal.any([signal, over.signal]) });
    for await (const part of stream) {
      heard();
      const piece = answer.take(part);
      if (piece) yield piece;
      if (part.type === "finish") break;
    }
    yield answer.whole();
  } catch (thrown) {
    signal.throwIfAborted();
    // Whatever the SDK makes of our own abort, its reason says what happened.
    const cause = over.signal.aborted ? over.signal.reason : thrown;
    if (cause instanceof Ended) throw cause;
    const fault = faultOf(cause, clock.now());
    fault.answered = answer.hasBegun();
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
      if (now >= deadline) return over.abort(new Ended("timeout", "The run took longer than it may."));
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

/** Puts an answer together. */
function gather(charactersMax: number) {
  let text = "";
  let characters = 0;
  let open = "";
  const calls: Call[] = [];
  let end: Extract<Part, { type: "finish" }> | undefined;

  function count(delta: string): void {
    characters += delta.length;
    if (characters > charactersMax) throw new ModelFault("endless");
  }

  function take(part: Part): Piece | undefined {
    switch (part.type) {
      case "error":
        throw part.error;
      case "text-delta": {
        count(part.delta);
        // A second block of text is a paragraph of its own.
        const delta = text !== "" && part.id !== open ? `\n\n${part.delta}` : part.delta;
        open = part.id;
        text += delta;
        return { kind: "text", text: delta };
      }
      case "reasoning-delta":
        count(part.delta);
        return { kind: "reasoning", text: part.delta };
      case "tool-input-delta":
        return void count(part.delta);
      case "tool-call":
        return void calls.push({ name: part.toolName, input: part.input });
      case "finish":
        end = part;
        return undefined;
      default:
        return undefined;
    }
  }

  /** @throws ModelFault `broken` for an answer without an end, `empty` for one that says nothing. */
  function whole(): Answer {
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

  return { take, whole, hasBegun: () => characters > 0 || calls.length > 0 };
}
