import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { variableGroups } from "../../src/config/variables.ts";
import { createMetrics } from "../../src/observability/metrics/metrics.ts";
import { readPage } from "./page.ts";

const page = readPage("docs/operate/troubleshooting.md");
const spans = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = ""]) => text);
const source = globSync("src/**/*.ts", { exclude: (name) => name.startsWith("src/gen") })
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

test("docs/operate/troubleshooting.md names metrics and settings that exist", async () => {
  const metrics = createMetrics(loadConfig({}), { version: "0", commit: "" });
  const served = await metrics.text("prometheus", null);
  metrics.stop();
  const named = spans.flatMap((text) => /^(?:atp|db|http|nodejs|gen_ai)_\w+/.exec(text)?.[0] ?? []);
  expect(named.filter((name) => !served.includes(`# TYPE ${name} `))).toEqual([]);
  const settings = Object.values(variableGroups).flatMap((group) => Object.keys(group));
  const others = ["SQLITE_FULL", "ENOSPC", "SIGKILL", "ECONNREFUSED", "EXPLAIN", "NAME"];
  const variables = spans.flatMap((text) => /^[A-Z][A-Z0-9_]{3,}(?=$|=)/.exec(text)?.[0] ?? []);
  expect(variables.filter((name) => !settings.includes(name) && !others.includes(name))).toEqual([]);
});

test.each([
  "no worker has called for profile",
  "wait for more than a minute",
  "deliveries to a webhook fail",
  "a webhook was switched off: its deliveries failed",
  "runs of a lost process were taken over",
  "the disk of the data folder is nearly full",
  "the clocks of this process and of the database differ",
  "a statement took more than",
  "were not exported",
  "too many wait",
  "not ready: the database takes no writes",
  "a call of the model failed",
  "peers considered this process dead",
  "another process runs on this database, and neither could read the other's files",
  "ENCRYPTION_KEY is not the key that this database was created with",
])("docs/operate/troubleshooting.md quotes a line that the server writes: %s", (line) => {
  expect(page).toContain(line);
  expect(source).toContain(line);
});
