import type { ModelConfig } from "../../../config/models.ts";
import type { Clock } from "../../../core/clock.ts";
import { type Answer, callModel } from "./answer.ts";
import { ModelFault, TurnError } from "./fault.ts";
import { cacheKeyOf, type LanguageModel, type ModelCall } from "./provider.ts";
import { optionsOf } from "./step.ts";

/** What works of a model. */
export interface Probe {
  readonly text: boolean;
  readonly tools: boolean;
  readonly images: boolean;
  readonly cachedTokens: boolean;
}

const timeMs = 60_000;
/** A red square of 16 pixels. */
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg==";
const tool = {
  type: "function",
  name: "report_colour",
  description: "Reports the colour of the picture.",
  inputSchema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
} as const;
const question =
  "Call report_colour with the colour of the picture as one English word. Use `none` if you see no picture.";

interface ProbeParts {
  readonly config: ModelConfig;
  readonly model: LanguageModel;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Calls a model with a text, a tool and a picture, and without the picture when the endpoint refuses the
 * request. @throws ModelFault when the call fails.
 */
export async function probeModel(parts: ProbeParts): Promise<Probe> {
  try {
    return readAnswer(await ask(parts, true));
  } catch (thrown) {
    if (!(thrown instanceof ModelFault) || thrown.kind !== "refused") throw thrown;
    return { ...readAnswer(await ask(parts, false)), images: false };
  }
}

async function ask({ config, model, clock, signal }: ProbeParts, hasPicture: boolean): Promise<Answer> {
  const file = { type: "file", mediaType: "image/png", data: { type: "data", data: picture } } as const;
  const call: ModelCall = {
    prompt: [{ role: "user", content: [{ type: "text", text: question }, ...(hasPicture ? [file] : [])] }],
    tools: [tool],
    maxOutputTokens: config.maxOutputTokens,
    ...optionsOf(config, cacheKeyOf("test")),
  };
  const limits = {
    clock,
    signal,
    idleMs: timeMs,
    deadline: clock.monotonic() + timeMs,
    charactersMax: 100_000,
  };
  try {
    for await (const piece of callModel(model, call, limits)) if (piece.kind === "answer") return piece;
  } catch (thrown) {
    throw thrown instanceof TurnError ? new ModelFault("silent") : thrown;
  }
  throw new ModelFault("broken");
}

function readAnswer({ parts, reportsCache }: Answer): Probe {
  const calls = parts.flatMap((part) => (part.type === "call" && part.name === tool.name ? [part] : []));
  return {
    text: true,
    tools: calls.length > 0,
    images: calls.some(({ input }) => /\bred\b/i.test(input)),
    cachedTokens: reportsCache,
  };
}
