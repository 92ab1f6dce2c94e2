import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { currentBuild } from "../../src/config/version.ts";
import { systemClock } from "../../src/core/clock.ts";
import { createMetrics } from "../../src/observability/metrics/metrics.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { openTestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { lacks } from "../support/needs.ts";
import { openService } from "../support/service.ts";
import { type MeasuredService, namesIn, openMeasured, sumOf, valuesOf } from "./metrics-rig.ts";

const noRows = { count: 0, due: 0, oldestDueAt: null };
const idle = {
  deliveries: noRows,
  webhooks: { active: 0, failing: 0, inactive: 0 },
  workers: { credentials: 0, present: 0, runs: 0 },
  jobs: [],
};
const profiles = Array.from({ length: 3_000 }, (_, n) => `profile-${n}`);

/** Metrics to which everything happened that has a label, with more values than any metric may have. */
async function crowded() {
  const metrics = createMetrics(
    { agentProfiles: Object.fromEntries(profiles.map((name) => [name, "offline"])) },
    { version: "1.0.0", commit: "" },
  );
  const { observe } = metrics;
  const outcomes = ["ok", ...Array.from({ length: 20 }, (_, n) => `reason-${n}`)];
  for (const operation of [...operationTable().all.map(({ rpc }) => rpc), ...profiles])
    for (const outcome of outcomes)
      observe.callEnded({
        operation,
        wire: `wire-${operation.length}`,
        outcome,
        seconds: 1,
        isAdmitted: true,
      });
  for (const name of profiles) {
    observe.callBegan(name);
    observe.runEnded(name, "finished");
    observe.modelCalled({ model: name, outcome: "ok", seconds: 1 });
    observe.tokensUsed(name, { inputTokens: 3, cachedInputTokens: 1, cacheWriteTokens: 1, outputTokens: 1 });
    observe.prefixChanged(name);
    observe.uploaded(name, 1);
    observe.watchers(name, () => 1);
    observe.jobsRun(name, "done", 1);
    observe.pool(name, () => ({ used: 1, idle: 1, max: 1, waiting: 1 }));
  }
  const rows = profiles.map((profile) => ({ profile, queued: 1, oldestAt: 0, running: 1, failed: 0 }));
  const jobs = profiles.map((kind) => ({ ...noRows, kind }));
  const scrape = valuesOf(await metrics.text("prometheus", { ...idle, at: 1_000, profiles: rows, jobs }));
  metrics.stop();
  return { scrape, seriesMax: metrics.seriesMax };
}

describe("the series of a process", () => {
  test("are at most 2,000, with thousands of profiles, operations, models and reasons", async () => {
    const { scrape, seriesMax } = await crowded();
    expect(scrape.size).toBeGreaterThan(1_000);
    expect(scrape.size).toBeLessThanOrEqual(seriesMax);
    expect(seriesMax).toBeLessThanOrEqual(2_000);
  });

  test("beyond the bound are summed as other, and no value is lost", async () => {
    const { scrape } = await crowded();
    const calls = (operationTable().all.length + profiles.length) * 21;
    expect(sumOf(scrape, "atp_calls_total")).toBe(calls);
    expect(sumOf(scrape, "atp_tasks_queued")).toBe(profiles.length);
    expect(sumOf(scrape, "atp_tasks_queued", { profile: "other" })).toBeGreaterThan(2_900);
    expect(sumOf(scrape, "atp_tasks_queue_age_seconds", { profile: "other" })).toBe(1);
  });

  test("of successful calls are not displaced by refusals", async () => {
    const metrics = createMetrics({ agentProfiles: {} }, { version: "1.0.0", commit: "" });
    const call = (operation: string, outcome: string) =>
      metrics.observe.callEnded({ operation, wire: "v2", outcome, seconds: 1, isAdmitted: outcome === "ok" });
    for (const name of profiles) call(name, "unauthenticated");
    call("task.create", "ok");
    const scrape = valuesOf(await metrics.text("prometheus", null));
    metrics.stop();
    expect(sumOf(scrape, "atp_calls_total", { operation: "task.create", outcome: "ok" })).toBe(1);
    expect(sumOf(scrape, "http_server_request_duration_seconds_count", { operation: "task.create" })).toBe(1);
  });
});

test("a run counts for the agent that its profile has now", async () => {
  const metrics = createMetrics({ agentProfiles: {} }, { version: "1.0.0", commit: "" });
  const served: Record<string, string> = {};
  metrics.observe.servedBy(served);
  metrics.observe.runEnded("manus-1.6", "finished");
  served["manus-1.6"] = "model:mine";
  metrics.observe.runEnded("manus-1.6", "finished");
  const scrape = valuesOf(await metrics.text("prometheus", null));
  metrics.stop();
  for (const agent of ["offline", "model"])
    expect(sumOf(scrape, "atp_runs_total", { agent, ending: "finished" }), agent).toBe(1);
});

describe("/metrics", () => {
  let rig: MeasuredService;
  beforeAll(async () => {
    rig = await openMeasured();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test.skipIf(lacks("promtool"))("passes promtool check metrics", async () => {
    const ann = await rig.service.person();
    await ann.v2("task.create", { message: { content: "Say hello." } });
    const { status, stderr } = spawnSync("promtool", ["check", "metrics"], {
      input: await rig.text(),
      encoding: "utf8",
    });
    expect([stderr, status]).toEqual(["", 0]);
  });

  test("is OpenMetrics for a request that accepts it, and Prometheus's text for any other, with the same values", async () => {
    const text = await fetch(`${rig.admin}/metrics`);
    expect(text.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const names = namesIn(await text.text());
    const accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
    const open = await fetch(`${rig.admin}/metrics`, { headers: { accept } });
    expect(open.headers.get("content-type")).toBe(
      "application/openmetrics-text; version=1.0.0; charset=utf-8",
    );
    const openText = await open.text();
    expect(openText.endsWith("\n# EOF\n")).toBe(true);
    expect(openText).not.toMatch(/\n\n/);
    // OpenMetrics names the family of a counter without the suffix of its series.
    expect(namesIn(openText)).toEqual(names.map((name) => name.replace(/_total$/, "")));
    expect(openText).toMatch(/^atp_commits_total \d+$/m);
    expect(namesIn(await rig.text())).toEqual(names);
  });

  test("has a help for each metric", async () => {
    const text = await rig.text();
    for (const name of namesIn(text))
      expect(text, name).toMatch(new RegExp(`^# HELP ${name} [A-Z1].{10,}$`, "m"));
  });

  test("has the version and the commit that runs; the probes of this port have them as headers, those of the public port do not", async () => {
    const { version, commit } = await currentBuild();
    expect(sumOf(await rig.scrape(), "atp_build_info", { version, commit })).toBe(1);
    for (const path of ["/livez", "/readyz"]) {
      const [admin, open] = await Promise.all(
        [rig.admin, rig.service.url].map((url) => fetch(`${url}${path}`)),
      );
      expect([admin?.headers.get("x-atp-version"), admin?.headers.get("x-atp-commit")]).toEqual([
        version,
        commit,
      ]);
      expect([...(open?.headers.keys() ?? [])].filter((name) => name.startsWith("x-atp"))).toEqual([]);
    }
  });

  test("holds no id, key, address or text of the callers in a label", async () => {
    const ann = await rig.service.person();
    const secrets = [
      "zeppelin",
      "https://hooks.example/zeppelin",
      ann.key,
      ann.keyId,
      ann.accountId,
      ann.spaceId,
    ];
    const project = await ann.v2("project.create", { name: "zeppelin" });
    const task = await ann.v2("task.create", {
      message: { content: "Find the zeppelin." },
      project_id: project.body["project"].id,
    });
    const file = await ann.v2("file.upload", { filename: "zeppelin.txt" });
    await ann.v2(`project.zeppelin${ann.spaceId}`);
    for (const path of [
      `/zeppelin/${ann.key}`,
      `/v1/tasks/${task.body["task_id"]}?zeppelin`,
      `/v1/zeppelin`,
      `/files/zeppelin`,
    ])
      await fetch(`${rig.service.url}${path}`, {
        headers: { API_KEY: ann.key, "x-request-id": "zeppelin-1" },
      });
    const ids = [task.body["task_id"], project.body["project"].id, file.body["file"].id];
    const text = await rig.text();
    for (const secret of [...secrets, ...ids]) expect(text).not.toContain(secret);
    expect(text).toContain('operation="unknown"');
  });
});

test("/metrics keeps answering while the database does not, with the gauges of before", async () => {
  await using database = await openTestStore("sqlite");
  let fails = false;
  const store = storeWithFaults(database.store, "installation", ({ profiles }) => ({
    profiles: async (...asked) => (fails ? Promise.reject(new Error("gone")) : profiles(...asked)),
  }));
  const clock = movingMonotonic();
  await using rig = await openMeasured({ over: { store, url: database.url }, clock, idle: true });
  const ann = await rig.service.person();
  await ann.v2("task.create", { message: { content: "Say hello." } });
  expect(sumOf(await rig.scrape(), "atp_tasks_queued")).toBe(1);
  fails = true;
  clock.skip(5_000);
  const scrape = await rig.scrape();
  expect([
    sumOf(scrape, "atp_tasks_queued"),
    sumOf(scrape, "atp_calls_total", { operation: "task.create" }),
  ]).toEqual([1, 1]);
  expect(rig.service.problems).toMatchObject([{ level: "warn", text: "metrics: the database was not read" }]);
});

/** The system's clock, whose monotonic time a test moves. */
function movingMonotonic() {
  let moved = 0;
  const skip = (ms: number): void => {
    moved += ms;
  };
  return { ...systemClock, monotonic: () => systemClock.monotonic() + moved, skip };
}

describe("access to /metrics", () => {
  const token = "0123456789abcdef-token";
  const folder = mkdtempSync(join(tmpdir(), "admin-"));
  const path = join(folder, "token");
  writeFileSync(path, `${token}\n`);
  afterAll(() => rmSync(folder, { recursive: true }));
  const statusOf = async ({ admin }: MeasuredService, authorization?: string) =>
    (await fetch(`${admin}/metrics`, authorization === undefined ? {} : { headers: { authorization } }))
      .status;

  test("on an address of other machines needs a token, and the probes need none", async () => {
    await using open = await openMeasured({ idle: true, env: { ADMIN_HOST: "0.0.0.0" } });
    const refused = await fetch(`${open.admin}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("ADMIN_TOKEN_FILE"),
    ]);
    await using guarded = await openMeasured({
      idle: true,
      env: { ADMIN_HOST: "0.0.0.0", ADMIN_TOKEN_FILE: path },
    });
    expect((await fetch(`${guarded.admin}/livez`)).status).toBe(200);
    expect((await fetch(`${guarded.admin}/readyz`)).status).toBe(200);
    expect(await statusOf(guarded, `Bearer ${token}`)).toBe(200);
    expect(await statusOf(guarded, `bearer ${token}`)).toBe(200);
  });

  test("is refused with 401 without the token where one is set, also on this machine", async () => {
    await using guarded = await openMeasured({ idle: true, env: { ADMIN_TOKEN_FILE: path } });
    const wrong = [
      "",
      "Bearer",
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
      `Bearer ${token}, Bearer x`,
    ];
    for (const authorization of [undefined, ...wrong]) {
      const answer = await fetch(
        `${guarded.admin}/metrics`,
        authorization === undefined ? {} : { headers: { authorization } },
      );
      expect(answer.status, authorization).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer /);
      expect(await answer.text()).not.toContain(token);
    }
  });

  test("stops the start with a token file that is missing, too short or has blanks, without showing it", () => {
    for (const text of ["short", "two words of a token", ""]) {
      writeFileSync(join(folder, "bad"), text);
      const load = () => loadConfig({ ADMIN_PORT: "9090", ADMIN_TOKEN_FILE: join(folder, "bad") });
      expect(load).toThrow(/^ADMIN_TOKEN_FILE: /);
      if (text !== "") expect(load).not.toThrow(text);
    }
    expect(() => loadConfig({ ADMIN_PORT: "9090", ADMIN_TOKEN_FILE: join(folder, "none") })).toThrow(
      /ADMIN_TOKEN_FILE/,
    );
  });

  test("is on no other port, and nothing is loaded without ADMIN_PORT", async () => {
    await using service = await openService({ idle: true });
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    const script = `
      import { createRequire } from "node:module";
      import { loadConfig } from "./src/config/config.ts";
      import { openMetrics } from "./src/modules/observing.ts";
      const isLoaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("prom-client"));
      await openMetrics(loadConfig({}));
      const before = isLoaded();
      await openMetrics(loadConfig({ ADMIN_PORT: "9090" }));
      console.log(before, isLoaded());
      process.exit();`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect(printed).toBe("false true\n");
  });
});
