import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { type FaultKind, ModelFault, toTurnError } from "../../src/runtime/agents/model/fault.ts";
import { blocksIn, readPage } from "./page.ts";

const page = readPage("docs/guides/models.md");
const folder = mkdtempSync(join(tmpdir(), "models-page-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const examples = [
  ...blocksIn(page, "json"),
  ...[...page.matchAll(/<<'END'\n([\s\S]*?)END\n/g)].map(([, json = ""]) => json),
];

test("there are examples", () => {
  expect(examples).toHaveLength(3);
});

test.each(examples)("an example is valid as printed: %s", (json) => {
  const path = join(folder, "models.json");
  writeFileSync(path, json);
  const env = { MODELS_FILE: path, OPENAI_API_KEY: "sk-a", ANTHROPIC_API_KEY: "sk-b" };
  expect(Object.keys(loadConfig(env).models)).toEqual(Object.keys(JSON.parse(json)));
});

test("every error_type of a failing model is explained", () => {
  const kinds: readonly FaultKind[] = [
    "busy",
    "down",
    "broken",
    "silent",
    "empty",
    "endless",
    "refused_key",
    "refused",
  ];
  const types = kinds.map((kind) => toTurnError(new ModelFault(kind)).errorType);
  for (const type of [...types, "context_limit", "step_limit", "timeout", "quota_limit"])
    expect(page).toContain(`\`${type}\``);
});
