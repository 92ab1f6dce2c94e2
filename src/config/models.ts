import { readFileSync } from "node:fs";
import { z } from "zod";
import type { JsonObject } from "../core/json.ts";
import { formerNames, toolNames } from "../core/permissions/tool-names.ts";
import { type FetchMode, fetchModes, hostPattern, hostRule, hostsMax } from "../core/tasks/fetch-policy.ts";
import { baseUrl, filePath } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

/** A model for agents, with the limits of one run. */
export interface ModelConfig {
  /**
   * The API of its endpoint: `openai` is chat completions, as OpenAI and most local servers offer;
   * `openai-responses` is OpenAI's Responses; `anthropic` is Anthropic's messages.
   */
  readonly api: (typeof modelApis)[number];
  /** The URL before the paths of the API, `https://api.openai.com/v1` for instance; no trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
  /** Null: the endpoint needs no key. */
  readonly apiKey: string | null;
  /** Sent with each request; values may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sum of prompt and answer in tokens. */
  readonly contextTokens: number;
  /** The longest answer in tokens. */
  readonly maxOutputTokens: number;
  /** Null: the endpoint's default. */
  readonly temperature: number | null;
  /** The endpoint accepts a JSON schema for its answer; if false, requests only ask for JSON. */
  readonly structuredOutputs: boolean;
  /** The model takes images. */
  readonly images: boolean;
  /**
   * The tag around the model's reasoning, `think` for instance; null: the endpoint separates reasoning from
   * the answer.
   */
  readonly reasoningTag: string | null;
  /**
   * More members of each request, as the endpoint documents them; `openai` only. A text `{task}` is replaced
   * by the key of the task's cache.
   */
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** A request fails when the endpoint sends nothing for this many seconds. */
  readonly idleSeconds: number;
  readonly limits: RunLimits;
  /** As the file names them: names of earlier releases too. */
  readonly withoutTools: readonly string[];
  /** The requests that its agents may send; null: the default of the installation. */
  readonly fetch: FetchMode | null;
  /** Patterns of hosts to which they need no approval. */
  readonly fetchHosts: readonly string[];
  /** How much the model thinks; null: as the endpoint decides. */
  readonly effort: (typeof efforts)[number] | null;
  /** The most tokens of its thoughts before an answer; null: as the endpoint decides. `anthropic` only. */
  readonly thinkingTokens: number | null;
  /** Names of models that are called in order when this one is not available. */
  readonly fallback: readonly string[];
  /** Its entry, with the defaults, and without key and headers. */
  readonly entry: JsonObject;
  /** True when an operator has set it by a call: its address is checked as one from a user. */
  readonly isGuarded: boolean;
}

const modelApis = ["openai", "openai-responses", "anthropic"] as const;
const efforts = ["low", "medium", "high"] as const;

/** The limits of one run. */
export interface RunLimits {
  /** Calls of the model. */
  readonly steps: number;
  readonly minutes: number;
  readonly tokens: number;
  /** Null: limited by budgets only. */
  readonly credits: number | null;
}

export const models = {
  MODELS_FILE: defineVariable({
    type: "JSON file",
    fallback: null,
    unset: "no model",
    rule: "the path of a JSON file that describes models by name, as documented in docs/guides/models.md",
    example: "/etc/agent-task-platform/models.json",
    description:
      "The models that AGENT_PROFILES can name as `model:NAME`. [docs/guides/models.md](../guides/models.md) documents the file and has examples.",
    schema: filePath,
  }),
};

const must = (rule: string) => ({ error: `must be ${rule}` });
const wholeNumber = (min: number, max: number) =>
  z
    .int(must(`a whole number from ${min} to ${max}`))
    .min(min)
    .max(max);
const printableText = (max: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${max}}$`), must("printable ASCII without spaces"));
const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, must("the name of a header"));
const headerValue = z.string().regex(/^[\x20-\x7e]{0,4096}$/, must("printable ASCII"));

const limits = z.strictObject({
  steps: wholeNumber(1, 1_000).default(100),
  minutes: wholeNumber(1, 1_440).default(60),
  tokens: wholeNumber(1_000, 1_000_000_000).default(5_000_000),
  credits: wholeNumber(1, 1_000_000_000).nullable().default(null),
});

const modelName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, must("a name of lower-case letters, digits and hyphens"));

const modelSchema = z.strictObject({
  api: z.enum(modelApis, must(`one of ${modelApis.join(", ")}`)),
  base_url: z.string(must("an http or https URL")).pipe(baseUrl),
  model: printableText(200),
  api_key_env: z
    .string()
    .regex(/^[A-Z_][A-Z0-9_]{0,99}$/, must("the name of an environment variable"))
    .optional(),
  api_key_file: z.string().min(1).optional(),
  headers: z.record(headerName, headerValue).default({}),
  context_tokens: wholeNumber(2_000, 10_000_000),
  max_output_tokens: wholeNumber(100, 1_000_000).default(4_096),
  temperature: z.number(must("a number from 0 to 2")).min(0).max(2).nullable().default(null),
  structured_outputs: z.boolean().default(false),
  images: z.boolean().default(false),
  reasoning_tag: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, must("the name of a tag"))
    .nullable()
    .default(null),
  extra_body: z.record(z.string(), z.json()).default({}),
  idle_seconds: wholeNumber(1, 3_600).default(120),
  limits: limits.prefault({}),
  without_tools: z
    .array(z.enum([...toolNames, ...formerNames], must(`one of ${toolNames.join(", ")}`)))
    .default([]),
  fetch: z.enum(fetchModes, must(`one of ${fetchModes.join(", ")}`)).optional(),
  fetch_hosts: z
    .array(
      z
        .string()
        .transform(hostPattern)
        .refine((pattern) => pattern !== null, must(hostRule))
        .transform((pattern) => pattern ?? ""),
    )
    .max(hostsMax, must(`at most ${hostsMax} hosts`))
    .default([]),
  effort: z.enum(efforts, must("low, medium or high")).nullable().default(null),
  thinking_tokens: wholeNumber(1_024, 500_000).nullable().default(null),
  fallback: z.array(modelName).max(5, must("at most 5 names")).default([]),
});
type ModelEntry = z.infer<typeof modelSchema>;

const fileSchema = z.record(modelName, modelSchema);

/**
 * Reads the entry of a model that an operator sets by a call. Its agents ask before a request where it has no
 * `fetch`.
 *
 * @throws what `refuse` throws, with the path in the entry and the rule.
 */
export function readEntry(
  value: unknown,
  apiKey: string | null,
  refuse: (path: string, rule: string) => Error,
): ModelConfig {
  const parsed = modelSchema
    .omit({ api_key_env: true, api_key_file: true })
    .extend({ fetch: modelSchema.shape.fetch.default("ask") })
    .safeParse(value);
  const [issue] = parsed.error?.issues ?? [];
  if (issue || !parsed.data) throw refuse(issue?.path.join(".") ?? "", ruleOf(issue?.message));
  checkModel(parsed.data, (text) => {
    const [path = "", rule] = text.split(": ");
    throw refuse(path, ruleOf(rule));
  });
  return { ...toConfig(parsed.data, apiKey), isGuarded: true };
}

const ruleOf = (message = "must be an entry of a model"): string =>
  message.startsWith("must ") ? message : `must follow its rule: ${message}`;

/**
 * Reads the models of MODELS_FILE by name. Each problem is noted with its path in the file. Values are not
 * shown: a key may be in the wrong member.
 */
export function readModels(reader: Reader): Readonly<Record<string, ModelConfig>> {
  const { MODELS_FILE } = reader.read(models);
  if (MODELS_FILE === null) return {};
  const noteProblem = (text: string) =>
    reader.noteProblem("MODELS_FILE", `MODELS_FILE ${MODELS_FILE}: ${text}`);
  const parsed = fileSchema.safeParse(readJson(MODELS_FILE, noteProblem) ?? {});
  for (const issue of parsed.error?.issues ?? [])
    noteProblem(`${issue.path.join(".") || "it"}: ${issue.message}`);
  const entries = Object.entries(parsed.data ?? {}).map(([name, model]) => {
    checkModel(model, (text) => noteProblem(`${name}.${text}`));
    return [
      name,
      toConfig(
        model,
        readKey(model, reader, (text) => noteProblem(`${name}.${text}`)),
      ),
    ] as const;
  });
  return Object.fromEntries(entries);
}

type Note = (text: string) => void;

/** Checks rules that involve several members. */
function checkModel(model: ModelEntry, note: Note): void {
  const { thinking_tokens: thinkingTokens } = model;
  if (model.max_output_tokens + (thinkingTokens ?? 0) > model.context_tokens / 2)
    note("max_output_tokens: must be at most half of context_tokens, together with thinking_tokens");
  if (model.api_key_env !== undefined && model.api_key_file !== undefined)
    note("api_key_file: must not be set together with api_key_env");
  if (model.api !== "openai" && Object.keys(model.extra_body).length > 0)
    note(`extra_body: must not be set when api is ${model.api}`);
  if (model.api !== "anthropic" && thinkingTokens !== null)
    note(`thinking_tokens: must not be set when api is ${model.api}`);
}

function readJson(path: string, note: Note): unknown {
  const text = readText(path);
  if (text === undefined) return void note("cannot be read");
  try {
    return JSON.parse(text);
  } catch {
    return void note("is not JSON");
  }
}

function readKey(model: ModelEntry, reader: Reader, note: Note): string | null {
  const { api_key_env: apiKeyEnv, api_key_file: apiKeyFile } = model;
  if (apiKeyEnv === undefined && apiKeyFile === undefined) return null;
  const key = (apiKeyEnv === undefined ? readText(apiKeyFile ?? "") : reader.readRaw(apiKeyEnv))?.trim();
  if (key !== undefined && /^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  note(
    apiKeyEnv === undefined
      ? "api_key_file: must be a file that holds a key"
      : `api_key_env: must name a variable that holds a key (${apiKeyEnv})`,
  );
  return null;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const toConfig = (model: ModelEntry, apiKey: string | null): ModelConfig => ({
  api: model.api,
  baseUrl: model.base_url,
  model: model.model,
  apiKey,
  headers: model.headers,
  contextTokens: model.context_tokens,
  maxOutputTokens: model.max_output_tokens,
  temperature: model.temperature,
  structuredOutputs: model.structured_outputs,
  images: model.images,
  reasoningTag: model.reasoning_tag,
  extraBody: model.extra_body,
  idleSeconds: model.idle_seconds,
  limits: model.limits,
  withoutTools: model.without_tools,
  fetch: model.fetch ?? null,
  fetchHosts: model.fetch_hosts,
  effort: model.effort,
  thinkingTokens: model.thinking_tokens,
  fallback: model.fallback,
  entry: shownEntry(model),
  isGuarded: false,
});

/** An entry without secrets, and without the places of its key. */
function shownEntry({
  headers: _,
  api_key_env: __,
  api_key_file: ___,
  fetch,
  ...entry
}: ModelEntry): JsonObject {
  return { ...entry, ...(fetch && { fetch }) };
}
