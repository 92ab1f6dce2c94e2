import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { extractReasoningMiddleware, wrapLanguageModel } from "ai";
import { Agent, type RequestInit, fetch as request } from "undici";
import type { ModelConfig } from "../../../config/models.ts";

/** A language model as the AI SDK has it: one call, no loop, no retries. */
export type LanguageModel = ReturnType<typeof wrapLanguageModel>;
type CallOptions = Parameters<LanguageModel["doStream"]>[0];
/** The messages of a call. */
export type Prompt = CallOptions["prompt"];
/** What a call may be asked for. */
export type ModelCall = Omit<CallOptions, "abortSignal">;

const connectMs = 10_000;
/** No answer is larger; what comes beyond is a fault of the endpoint. */
const answerBytesMax = 64 * 1024 * 1024;

/**
 * A model of the operator's. Its address passes no guard (contract/decisions.md 39). How long an answer may take is for
 * the caller to say, so nothing here waits by a clock of its own but for the connection. A redirect is a fault: it would
 * take the key elsewhere.
 */
export function languageModel(config: ModelConfig): LanguageModel {
  const { reasoningTag } = config;
  const middleware = reasoningTag === null ? [] : [extractReasoningMiddleware({ tagName: reasoningTag })];
  return wrapLanguageModel({ model: providerModel(config), middleware });
}

function providerModel({ api, baseUrl: baseURL, model, apiKey, headers, structuredOutputs }: ModelConfig) {
  const shared = { baseURL, headers: { ...headers }, fetch: fetcher() };
  // The SDK looks for a key of its own in the environment when it is given none.
  if (api === "anthropic") return createAnthropic({ ...shared, apiKey: apiKey ?? "none" }).languageModel(model);
  const name = providerName;
  const provider = createOpenAICompatible({
    ...shared,
    ...{ name, includeUsage: true, supportsStructuredOutputs: structuredOutputs },
    ...(apiKey === null ? {} : { apiKey }),
  });
  return provider.languageModel(model);
}

/** Options under this name go into the body of a request to an OpenAI-compatible endpoint. */
export const providerName = "endpoint";

function fetcher(): typeof fetch {
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs } });
  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await request(url, { ...init, dispatcher, redirect: "error" });
    const { status, statusText } = response;
    // The types of undici and of Node describe the same thing twice.
    const headers = new Headers([...response.headers]);
    const body = response.body as ReadableStream<Uint8Array> | null;
    return new Response(body?.pipeThrough(upTo(answerBytesMax)) ?? null, { status, statusText, headers });
  };
  // The SDK calls it with a text and the members of a request, nothing else.
  return send as unknown as typeof fetch;
}

/** Passes so many bytes on, and breaks at the next. */
function upTo(max: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > max) controller.error(new Error("the answer is too large"));
      else controller.enqueue(chunk);
    },
  });
}
