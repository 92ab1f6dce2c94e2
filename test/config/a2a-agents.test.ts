import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError, loadConfig } from "../../src/config/config.ts";

const folder = mkdtempSync(join(tmpdir(), "a2a-agents-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a file of agents; returns the environment that names it. */
function written(agents: unknown): { readonly A2A_AGENTS_FILE: string } {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(path, typeof agents === "string" ? agents : JSON.stringify(agents));
  return { A2A_AGENTS_FILE: path };
}

function refusalOf(env: Readonly<Record<string, string>>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

const url = "https://agent.example.com/a2a";

test("a profile with an agent of another system has the rate limits of the hosted API by default", () => {
  const env = { ...written({ other: { url } }), AGENT_PROFILES: "manus-1.6=offline,other=a2a:other" };
  expect(loadConfig(env).rateFactor).toBe(1);
  expect(loadConfig({ ...env, AGENT_PROFILES: "manus-1.6=offline" }).rateFactor).toBe(null);
});

test("A2A_AGENTS_FILE describes an agent with its address; the rest has defaults", () => {
  const env = {
    ...written({ other: { url }, near: { url, allow: "loopback", minutes: 5 } }),
    AGENT_PROFILES: "other=a2a:other",
  };
  const { a2aAgents, agentProfiles } = loadConfig(env);
  expect(agentProfiles).toEqual({ other: "a2a:other" });
  expect(a2aAgents["other"]).toEqual({
    url,
    tenant: "",
    headers: {},
    allow: [],
    idleSeconds: 120,
    minutes: 60,
  });
  expect(a2aAgents["near"]).toMatchObject({ allow: [{ kind: "loopback" }], minutes: 5 });
  expect(loadConfig({}).a2aAgents).toEqual({});
});

test.each<[unknown, string]>([
  ["{", "is not JSON"],
  [[], "it: "],
  [{ "My Agent": { url } }, "My Agent"],
  [{ other: {} }, "other.url: must be an http or https URL"],
  [{ other: { url: "ftp://a" } }, "other.url: must be an http or https URL"],
  [{ other: { url: "https://me:sesame@a" } }, "other.url: must be an http or https URL"],
  [{ other: { url, headers: { "a b": "c" } } }, "other.headers"],
  [{ other: { url, headers: { a: "sesame\n" } } }, "other.headers.a: must be printable ASCII"],
  [{ other: { url, minutes: 0 } }, "other.minutes: must be a whole number from 1 to 1440"],
  [{ other: { url, key: "sesame" } }, "other"],
])("A2A_AGENTS_FILE with %j is refused, without its values", (agents, problem) => {
  const refusal = refusalOf(written(agents));
  expect(refusal).toContain(problem);
  expect(refusal).not.toContain("sesame");
});

test("a file that cannot be read, and a profile whose agent it does not have, are refused", () => {
  expect(refusalOf({ A2A_AGENTS_FILE: join(folder, "none.json") })).toContain("cannot be read");
  const env = { ...written({ other: { url } }), AGENT_PROFILES: "a=a2a:another" };
  expect(refusalOf(env)).toContain("AGENT_PROFILES names a2a:another, which A2A_AGENTS_FILE does not have");
});
