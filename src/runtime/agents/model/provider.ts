import { createHash } from "node:crypto";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { extractReasoningMiddleware, wrapLanguageModel } from "ai";
import { Agent, type Dispatcher, fetch as request } from "undici";
import { loadOptional } from "../../../async/optional-packages.ts";
import type { ModelConfig } from "../../../config/models.ts";
import { traceHeaders } from "../../../core/trace.ts";

/** A language model of the AI SDK: one call, no loop, no retries. */
export type LanguageModel = ReturnType<typeof wrapLanguageModel>;
type CallOptions = Parameters<LanguageModel["doStream"]>[0];
export type Prompt = CallOptions["prompt"];
export type ModelCall = Omit<CallOptions, "abortSignal">;

const connectMs = 10_000;
/** The largest answer, in bytes. A larger one is a fault of the endpoint. */
const answerBytesMax = 64 * 1024 * 1024;

/**
 * A model that the operator has configured. The egress guard does not check an address of MODELS_FILE
 * (spec/decisions.md 39); for others the caller gives connections that do. The caller limits the time of an
 * answer, so only the connection has a timeout here. A redirect is a fault: it would send the key to another
 * address.
 *
 * @param dataDir the folder of optional packages: a call fails with MissingPackage without its package.
 */
export function languageModel(config: ModelConfig, dataDir: string, connections?: Dispatcher): LanguageModel {
  const { reasoningTag } = config;
  const middleware = reasoningTag === null ? [] : [extractReasoningMiddleware({ tagName: reasoningTag })];
  return wrapLanguageModel({ model: providerModel(config, dataDir, connections), middleware });
}

function providerModel(
  { api, baseUrl: baseURL, model, apiKey, headers, structuredOutputs }: ModelConfig,
  dataDir: string,
  connections: Dispatcher | undefined,
): LanguageModel {
  const shared = { baseURL, headers: { ...headers }, fetch: fetcher(connections) };
  if (api === "openai-responses")
    return loadedModel(model, () => {
      const { createOpenAI } = loadOptional<typeof import("@ai-sdk/openai")>("@ai-sdk/openai", dataDir);
      return createOpenAI({ ...shared, apiKey: apiKey ?? "none" }).responses(model);
    });
  // Without a key the SDK would read one from the environment.
  if (api === "anthropic")
    return createAnthropic({ ...shared, apiKey: apiKey ?? "none" }).languageModel(model);
  const name = providerName;
  const provider = createOpenAICompatible({
    ...shared,
    name,
    includeUsage: true,
    supportsStructuredOutputs: structuredOutputs,
    ...(apiKey === null ? {} : { apiKey }),
  });
  return provider.languageModel(model);
}

/** A model whose package is loaded at its first call: the package is found without a restart. */
const loadedModel = (modelId: string, load: () => LanguageModel): LanguageModel => ({
  specificationVersion: "v4",
  provider: providerName,
  modelId,
  supportedUrls: {},
  doGenerate: async (options) => await load().doGenerate(options),
  doStream: async (options) => await load().doStream(options),
});

/** The key under which the cache of a service keeps a task. It does not show the task's id. */
export const cacheKeyOf = (taskId: string): string =>
  createHash("sha256").update(`cache ${taskId}`).digest("base64url");

/** Options under this name go into the body of a request to an OpenAI-compatible endpoint. */
export const providerName = "endpoint";

function fetcher(connections?: Dispatcher): typeof fetch {
  const dispatcher =
    connections ?? new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: connectMs } });
  return async (url, { method = "GET", headers: sent, body = null, signal = null } = {}) => {
    if (typeof url !== "string" || (body !== null && typeof body !== "string"))
      throw new TypeError("the SDK sends text to a URL");
    const headers = { ...Object.fromEntries(new Headers(sent)), ...traceHeaders() };
    const response = await request(url, { method, headers, body, signal, dispatcher, redirect: "error" });
    const { status, statusText } = response;
    // undici and Node declare separate types for the same stream.
    const bytes = response.body as ReadableStream<Uint8Array> | null;
    return new Response(bytes?.pipeThrough(limitBytes(answerBytesMax)) ?? null, {
      status,
      statusText,
      headers: [...response.headers],
    });
  };
}

/** Passes at most `max` bytes on, and fails at the next. */
function limitBytes(max: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > max) controller.error(new Error("the answer is too large"));
      else controller.enqueue(chunk);
    },
  });
}
