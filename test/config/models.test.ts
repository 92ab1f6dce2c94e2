import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/config.ts";

const folder = mkdtempSync(join(tmpdir(), "models-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file of models; returns the environment that names it. */
function written(models: unknown): { readonly MODELS_FILE: string } {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(path, typeof models === "string" ? models : JSON.stringify(models));
  return { MODELS_FILE: path };
}

const local = {
  api: "openai",
  base_url: "http://127.0.0.1:11434/v1/",
  model: "qwen3:8b",
  context_tokens: 32_000,
};

function refusalOf(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("MODELS_FILE", () => {
  test("unset means no models", () => {
    expect(loadConfig({}).models).toEqual({});
  });

  test("describes a local model with four members; the rest has defaults", () => {
    const { models, agentProfiles } = loadConfig({
      ...written({ local }),
      AGENT_PROFILES: "manus-1.6-max=model:local",
    });
    expect(agentProfiles).toEqual({ "manus-1.6-max": "model:local" });
    expect(models).toMatchObject({
      local: {
        ...{
          api: "openai",
          baseUrl: "http://127.0.0.1:11434/v1",
          model: "qwen3:8b",
          apiKey: null,
          headers: {},
          contextTokens: 32_000,
        },
        ...{
          maxOutputTokens: 4_096,
          temperature: null,
          structuredOutputs: false,
          reasoningTag: null,
          extraBody: {},
          idleSeconds: 120,
        },
        limits: { steps: 100, minutes: 60, tokens: 5_000_000, credits: null },
        withoutTools: [],
        ...{ fetch: null, fetchHosts: [], effort: null, thinkingTokens: null, fallback: [] },
      },
    });
    expect(models["local"]?.limits).toSatisfy(Object.isFrozen);
  });

  test("reads its key from a variable or a file, without the line's end", () => {
    const path = join(folder, "key");
    writeFileSync(path, "sk-from-file\n");
    const models = { a: { ...local, api_key_env: "SOME_KEY" }, b: { ...local, api_key_file: path } };
    const config = loadConfig({ ...written(models), SOME_KEY: "sk-from-env" });
    expect([config.models["a"]?.apiKey, config.models["b"]?.apiKey]).toEqual(["sk-from-env", "sk-from-file"]);
  });

  test.each<[string, unknown, string]>([
    ["is not JSON", "{", "is not JSON"],
    ["is not an object", [], "it: "],
    ["names a model badly", { "My Model": local }, "My Model"],
    [
      "leaves out a tool that there is not",
      { big: { ...local, without_tools: ["terminal"] } },
      "big.without_tools.0: must be one of read",
    ],
    ["leaves out the address", { big: { ...local, base_url: undefined } }, "big.base_url: must be"],
    ["has an address that is none", { big: { ...local, base_url: "ftp://x" } }, "big.base_url"],
    [
      "has another API",
      { big: { ...local, api: "other" } },
      "big.api: must be one of openai, openai-responses, anthropic",
    ],
    ["has an unknown member", { big: { ...local, contextTokens: 5 } }, "contextTokens"],
    [
      "leaves out the context",
      { big: { ...local, context_tokens: undefined } },
      "big.context_tokens: must be a whole number",
    ],
    [
      "answers with more than half the context",
      { big: { ...local, max_output_tokens: 16_001 } },
      "big.max_output_tokens: must be at most half",
    ],
    ["has a limit that is none", { big: { ...local, limits: { steps: 0 } } }, "big.limits.steps"],
    [
      "names a variable that is unset",
      { big: { ...local, api_key_env: "NO_SUCH_KEY" } },
      "big.api_key_env: must name a variable that holds a key (NO_SUCH_KEY)",
    ],
    [
      "names a key file that is not there",
      { big: { ...local, api_key_file: "/nowhere/key" } },
      "big.api_key_file: must be a file",
    ],
    [
      "has two keys",
      { big: { ...local, api_key_env: "A", api_key_file: "b" } },
      "big.api_key_file: must not be set together with",
    ],
  ])("that %s stops the start, with the position", (_, models, told) => {
    const env = written(models);
    expect(refusalOf(env)).toContain(`MODELS_FILE ${env.MODELS_FILE}: `);
    expect(refusalOf(env)).toContain(told);
  });

  test("that does not exist stops the start", () => {
    expect(refusalOf({ MODELS_FILE: join(folder, "none.json") })).toContain("cannot be read");
  });

  test("is never quoted, because a key may be in the wrong place", () => {
    const models = {
      big: {
        ...local,
        api_key: "sk-sesame",
        api_key_env: "sk-sesame",
        model: "sk sesame",
        headers: { "x y": "sesame\n" },
      },
    };
    expect(refusalOf(written(models))).not.toContain("sesame");
  });

  test("must contain every model that a profile names", () => {
    const profiles = { AGENT_PROFILES: "manus-1.6=model:big" };
    expect(refusalOf({ ...written({ local }), ...profiles })).toContain(
      "AGENT_PROFILES names model:big, which MODELS_FILE does not have",
    );
    expect(refusalOf(profiles)).toContain("model:big");
    expect(refusalOf({ AGENT_PROFILES: "manus-1.6=model:constructor" })).toContain("model:constructor");
  });
});
