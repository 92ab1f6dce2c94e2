import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../src/observability/metrics/metrics.ts";
import { lacks } from "../support/needs.ts";
import { namesIn } from "./metrics-rig.ts";

const folder = "deploy/prometheus";
const read = (path: string): string => readFileSync(path, "utf8");
const alerts: readonly { readonly alert: string; readonly expr: string }[] = parse(
  read(`${folder}/alerts.yml`),
).groups.flatMap(({ rules }: { readonly rules: [] }) => rules);
const cases: readonly {
  readonly name: string;
  readonly alert_rule_test: readonly { alertname: string; exp_alerts: readonly unknown[] }[];
}[] = parse(read(`${folder}/alerts.test.yml`)).tests;

/** The expressions of a dashboard, with a duration for Grafana's variable. */
const dashboard: readonly string[] = JSON.parse(
  read("deploy/grafana/agent-task-platform.json"),
).panels.flatMap(({ targets = [] }: { readonly targets?: readonly { readonly expr: string }[] }) =>
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m")),
);

function promtool(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" });
  return { status, text: stdout + stderr };
}

/** The names of the metrics in an expression: they begin with one of our prefixes. */
const named = (expr: string): readonly string[] =>
  [...expr.matchAll(/\b(?:atp|http_server|db_client|gen_ai|nodejs|process|v8js)_\w+/g)].map(([name]) => name);

async function served(): Promise<ReadonlySet<string>> {
  const metrics = createMetrics({ agentProfiles: {} }, { version: "1.0.0", commit: "" });
  const names = namesIn(await metrics.text("prometheus", null));
  metrics.stop();
  return new Set(
    names.flatMap((name) => [name, ...["bucket", "sum", "count"].map((end) => `${name}_${end}`)]),
  );
}

describe("the files for Prometheus and Grafana", () => {
  test("name only metrics that are served, and the dashboard shows every one", async () => {
    const known = await served();
    const used = [...alerts.map(({ expr }) => expr), ...dashboard].flatMap(named);
    expect(used.length).toBeGreaterThan(60);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
    const shown = new Set(dashboard.flatMap(named).map((name) => name.replace(/_(bucket|sum|count)$/, "")));
    expect([...known].filter((name) => !/_(bucket|sum|count)$/.test(name) && !shown.has(name))).toEqual([]);
  });

  test("test that every alert fires, and that none fires on an installation that works", () => {
    const names = alerts.map(({ alert }) => alert);
    const fires = cases.flatMap(({ alert_rule_test: rules }) =>
      rules.filter(({ exp_alerts }) => exp_alerts.length > 0),
    );
    expect(fires.map(({ alertname }) => alertname)).toEqual(names);
    const quiet = cases.flatMap(({ alert_rule_test: rules }) =>
      rules.filter(({ exp_alerts }) => exp_alerts.length === 0),
    );
    expect(quiet.map(({ alertname }) => alertname)).toEqual(names);
  });

  test("are described with what to do at each alert", () => {
    const page = read("docs/operate/monitoring.md");
    const described = [...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(described).toEqual(alerts.map(({ alert }) => alert));
  });

  describe.skipIf(lacks("promtool"))("are accepted by promtool:", () => {
    test("the configuration and the rules", () => {
      expect(promtool(["check", "config", "prometheus.yml"])).toMatchObject({ status: 0 });
    });

    test("the tests of the alerts", () => {
      expect(promtool(["test", "rules", "alerts.test.yml"])).toEqual({
        status: 0,
        text: expect.stringContaining("SUCCESS"),
      });
    });

    test("every expression of the dashboard", () => {
      const temporary = mkdtempSync(join(tmpdir(), "dashboard-"));
      const rules = dashboard.map((expr, n) => ({ record: `panel:${n}`, expr }));
      const path = join(temporary, "rules.yml");
      writeFileSync(path, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
      const checked = promtool(["check", "rules", path]);
      rmSync(temporary, { recursive: true });
      expect(checked).toEqual({
        status: 0,
        text: expect.stringContaining(`${dashboard.length} rules found`),
      });
    });
  });
});
