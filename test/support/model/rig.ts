import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ModelApi, ModelServer } from "./server.ts";

/** A file of models, and the environment that names it. */
export interface ModelsFile extends Disposable {
  readonly env: Readonly<Record<string, string>>;
}

/** Describes one model behind a scripted server, for every profile. */
export function modelsFile(
  api: ModelApi,
  server: Pick<ModelServer, "baseUrl">,
  more: JsonObject = {},
): ModelsFile {
  const folder = mkdtempSync(join(tmpdir(), "models-"));
  const path = join(folder, "models.json");
  const model = {
    api,
    base_url: server.baseUrl,
    model: "scripted",
    api_key_env: "SCRIPTED_KEY",
    context_tokens: 32_000,
    max_output_tokens: 1_000,
    // Tests of the fetch policy set another; `default` leaves the member out.
    fetch: "allow",
  };
  const { fetch, ...entry } = { ...model, ...more };
  writeFileSync(path, JSON.stringify({ scripted: { ...entry, ...(fetch === "default" ? {} : { fetch }) } }));
  return {
    env: {
      MODELS_FILE: path,
      SCRIPTED_KEY: "sk-scripted",
      AGENT_PROFILES: "manus-1.6=model:scripted,manus-1.6-lite=model:scripted,manus-1.6-max=model:scripted",
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
