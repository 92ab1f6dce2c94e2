import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import type { Reader } from "./reader.ts";
import { baseUrl } from "./values.ts";
import { variable } from "./variable.ts";

/** A model that agents think with, and what one run may take of it. */
export interface ModelConfig {
  /** What its endpoint speaks: chat completions, as OpenAI's and most local servers do, or Anthropic's messages. */
  readonly api: "openai" | "anthropic";
  /** What the paths of the API are put behind, `https://api.openai.com/v1` for instance; no slash at its end. */
  readonly baseUrl: string;
  /** Its id there. */
  readonly model: string;
  /** Null: the endpoint asks for none. */
  readonly apiKey: string | null;
  /** What goes with each request; may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Tokens of prompt and answer together. */
  readonly contextTokens: number;
  /** Tokens of one answer. */
  readonly maxOutputTokens: number;
  /** Null: the endpoint's own. */
  readonly temperature: number | null;
  /** The endpoint takes a JSON schema for its answer; else it is only asked for JSON. */
  readonly structuredOutputs: boolean;
  /** The tag that the model puts its thoughts in, `think` for instance; null where the endpoint tells them apart. */
  readonly reasoningTag: string | null;
  /** Further members of each request, by the endpoint's documentation; `openai` only. */
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** An endpoint that is silent for so long has hung up. */
  readonly idleSeconds: number;
  readonly limits: RunLimits;
  /** Tools that its agents do not have. */
  readonly withoutTools: readonly (typeof toolNames)[number][];
}

/** What one run may take at most. */
export interface RunLimits {
  /** Calls of the model. */
  readonly steps: number;
  readonly minutes: number;
  /** Tokens of all prompts and answers. */
  readonly tokens: number;
  /** Null: what the budgets have. */
  readonly credits: number | null;
}

/** Tools that a model may be without: those of `runtime/agents/model/tools`. */
export const toolNames = [
  ...(["start_subtask", "list_subtasks", "read_subtask", "use_skill"] as const),
  ...(["browser_open", "browser_read", "browser_click", "browser_type", "browser_screenshot"] as const),
  ...(["list_files", "read_file", "write_file", "delete_file", "attach_result", "read_attachment", "save_site", "fetch_url"] as const),
  ...(["ask_user", "request_confirmation", "browse_task", "run_command"] as const),
] as const;

/** Models. */
export const models = {
  MODELS_FILE: variable({
    type: "JSON file",
    fallback: null,
    unset: "no model",
    rule: "the path of a JSON file that describes models by name, as docs/models.md has it",
    example: "/etc/agent-task-platform/models.json",
    description: "The models that AGENT_PROFILES can name as `model:NAME`. [docs/models.md](models.md) has the members and examples.",
    schema: z
      .string()
      .refine((text) => !text.includes("\0"))
      .transform((text) => resolve(text)),
  }),
};

/** What a part of the file has to be, in words. */
const must = (rule: string) => ({ error: `must be ${rule}` });
const whole = (min: number, max: number) =>
  z
    .int(must(`a whole number from ${min} to ${max}`))
    .min(min)
    .max(max);
const words = (max: number) => z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${max}}$`), must("printable ASCII without blanks"));
const headerName = z.string().regex(/^[A-Za-z0-9-]{1,64}$/, must("the name of a header"));
const headerValue = z.string().regex(/^[\x20-\x7e]{0,4096}$/, must("printable ASCII"));

const limits = z.strictObject({
  steps: whole(1, 1_000).default(100),
  minutes: whole(1, 1_440).default(60),
  tokens: whole(1_000, 1_000_000_000).default(5_000_000),
  credits: whole(1, 1_000_000_000).nullable().default(null),
});

const described = z.strictObject({
  api: z.enum(["openai", "anthropic"], must("openai or anthropic")),
  base_url: z.string(must("an http or https URL")).pipe(baseUrl),
  model: words(200),
  api_key_env: z
    .string()
    .regex(/^[A-Z_][A-Z0-9_]{0,99}$/, must("the name of an environment variable"))
    .optional(),
  api_key_file: z.string().min(1).optional(),
  headers: z.record(headerName, headerValue).default({}),
  context_tokens: whole(2_000, 10_000_000),
  max_output_tokens: whole(100, 1_000_000).default(4_096),
  temperature: z.number(must("a number from 0 to 2")).min(0).max(2).nullable().default(null),
  structured_outputs: z.boolean().default(false),
  reasoning_tag: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, must("the name of a tag"))
    .nullable()
    .default(null),
  extra_body: z.record(z.string(), z.json()).default({}),
  idle_seconds: whole(1, 3_600).default(120),
  limits: limits.prefault({}),
  without_tools: z.array(z.enum(toolNames, must(`one of ${toolNames.join(", ")}`))).default([]),
});
type Described = z.infer<typeof described>;

const file = z.record(z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, must("a name of lower-case letters, digits and hyphens")), described);

/**
 * The models of MODELS_FILE by name; each problem is noted with the place in the file. A value is never shown: a key
 * may have been put where it does not belong.
 */
export function readModels(reader: Reader): Readonly<Record<string, ModelConfig>> {
  const path = reader.read("MODELS_FILE", models.MODELS_FILE);
  if (path === null) return {};
  const problem = (text: string) => reader.note("MODELS_FILE", `MODELS_FILE ${path}: ${text}`);
  const parsed = file.safeParse(jsonIn(path, problem) ?? {});
  for (const issue of parsed.error?.issues ?? []) problem(`${issue.path.join(".") || "it"}: ${issue.message}`);
  const found = Object.entries(parsed.data ?? {}).map(([name, model]) => {
    checkModel(model, (text) => problem(`${name}.${text}`));
    return [
      name,
      modelOf(
        model,
        keyOf(model, reader, (text) => problem(`${name}.${text}`)),
      ),
    ] as const;
  });
  return Object.fromEntries(found);
}

type Tell = (text: string) => void;

/** Rules that join members. */
function checkModel(model: Described, tell: Tell): void {
  if (model.max_output_tokens > model.context_tokens / 2) tell("max_output_tokens: must be at most half of context_tokens");
  if (model.api_key_env !== undefined && model.api_key_file !== undefined) tell("api_key_file: must not stand beside api_key_env");
  if (model.api === "anthropic" && Object.keys(model.extra_body).length > 0) tell("extra_body: must not stand with api anthropic");
}

function jsonIn(path: string, tell: Tell): unknown {
  const text = textIn(path);
  if (text === undefined) return void tell("cannot be read");
  try {
    return JSON.parse(text);
  } catch {
    return void tell("is not JSON");
  }
}

function keyOf(model: Described, reader: Reader, tell: Tell): string | null {
  const { api_key_env: name, api_key_file: path } = model;
  if (name === undefined && path === undefined) return null;
  const key = (name === undefined ? textIn(path ?? "") : reader.raw(name))?.trim();
  if (key !== undefined && /^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  tell(
    name === undefined ? "api_key_file: must be a file that holds a key" : `api_key_env: must name a variable that holds a key (${name})`,
  );
  return null;
}

function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const modelOf = (model: Described, apiKey: string | null): ModelConfig => ({
  api: model.api,
  baseUrl: model.base_url,
  model: model.model,
  apiKey,
  headers: model.headers,
  contextTokens: model.context_tokens,
  maxOutputTokens: model.max_output_tokens,
  temperature: model.temperature,
  structuredOutputs: model.structured_outputs,
  reasoningTag: model.reasoning_tag,
  extraBody: model.extra_body,
  idleSeconds: model.idle_seconds,
  limits: model.limits,
  withoutTools: model.without_tools,
});
