import { afterAll, beforeAll, expect, test } from "vitest";
import { scrapeReader } from "../../src/observability/metrics/installation.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { openDirect, runDirectly } from "../support/direct.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { putWebhook } from "../support/webhooks.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { type MeasuredService, openMeasured, sumOf } from "./metrics-rig.ts";

const env = { AGENT_PROFILES: "manus-1.6=offline,manus-1.6-max=remote", WEBHOOK_ALLOW: "loopback" };

describeOnOne("gauges of an installation where nothing runs", (kind) => {
  let clock: StillClock;
  let database: TestStore;
  let rig: MeasuredService;
  const statements: string[] = [];
  beforeAll(async () => {
    clock = stillClock();
    database = await openTestStore(kind, { clock, onStatement: (text) => void statements.push(text) });
    rig = await openMeasured({ over: database, clock, idle: true, env });
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  test("show the queue, deliveries, webhooks, workers and jobs with their ages", async () => {
    const ann = await rig.service.person();
    const create = (more = {}) => ann.v2("task.create", { message: { content: "Say hello." }, ...more });
    for (const status of ["active", "inactive"] as const)
      await putWebhook(rig.service.store, { ...ann, status });
    await create();
    await create();
    const { body } = await create({ agent_profile: "manus-1.6-max" });
    await createWorker(rig.service, ann, ["manus-1.6-max"]);
    const other = await create();
    await runDirectly(
      database,
      `UPDATE task SET agent_profile = 'forgotten' WHERE id = '${other.body["task_id"]}'`,
    );
    await runDirectly(database, `UPDATE task SET node_id = 'n' WHERE id = '${body["task_id"]}'`);
    clock.step(70_000);
    const scrape = await rig.scrape();
    const values = (name: string, label: string, of: readonly string[]) =>
      of.map((value) => sumOf(scrape, name, { [label]: value }));
    const profiles = ["manus-1.6", "manus-1.6-max", "other"];
    expect(values("atp_tasks_queued", "profile", profiles)).toEqual([2, 0, 1]);
    expect(values("atp_tasks_queue_age_seconds", "profile", profiles)).toEqual([70, 0, 70]);
    expect(values("atp_tasks_running", "profile", profiles)).toEqual([0, 1, 0]);
    expect(values("atp_deliveries", "state", ["due", "scheduled"])).toEqual([4, 0]);
    expect(values("atp_delivery_age_seconds", "state", ["due", "scheduled"])).toEqual([70, 0]);
    expect(values("atp_webhooks", "state", ["healthy", "failing", "disabled"])).toEqual([1, 0, 1]);
    expect(values("atp_workers", "state", ["all", "present"])).toEqual([1, 0]);
    expect(sumOf(scrape, "atp_worker_runs")).toBe(0);
    expect(scrape.has('atp_jobs_due{kind="deliver"}')).toBe(true);
    // On PostgreSQL jobs have the database's time, which no test moves.
    if (kind === "sqlite")
      expect(values("atp_jobs_due", "kind", ["run", "deliver"]), "runs have no job").toEqual([0, 4]);
    if (kind === "sqlite")
      expect(values("atp_jobs_age_seconds", "kind", ["run", "deliver"])).toEqual([0, 70]);
  });

  test("share one reading of the database for five seconds, and none that failed", async () => {
    let now = 0;
    const { installation } = database.store;
    let fails = false;
    let readings = 0;
    const profiles = async (...asked: Parameters<typeof installation.profiles>) => {
      readings += 1;
      if (fails) throw new Error("gone");
      return installation.profiles(...asked);
    };
    const read = scrapeReader(
      { installation: { ...installation, profiles } },
      { now: clock.now, monotonic: () => now },
    );
    await Promise.all(Array.from({ length: 20 }, read));
    now = 4_999;
    await read();
    expect(readings).toBe(1);
    now = 5_000;
    fails = true;
    await expect(read()).rejects.toThrow("gone");
    fails = false;
    await read();
    expect(readings).toBe(3);
  });

  test("read through indexes what grows with the work", async () => {
    statements.length = 0;
    await scrapeReader(database.store, clock)();
    const read = statements.filter((statement) => statement.startsWith("\n") || statement.includes("SELECT"));
    expect(read).toHaveLength(5);
    await using direct = await openDirect(database);
    // The planner would read so few rows at once, with any indexes.
    if (kind === "postgresql") await direct.query("SET enable_seqscan = off");
    const plans = await Promise.all(
      read.map((text) =>
        direct.query(
          `EXPLAIN ${kind === "sqlite" ? "QUERY PLAN " : ""}${text.replaceAll(/\?|\$\d+/g, "100000")}`,
        ),
      ),
    );
    const lines = plans.flat().map((row) => String(row["detail"] ?? row["QUERY PLAN"]));
    const scanned = lines.flatMap((line) => /(?:SCAN (?!.* USING )|Seq Scan on )(\w+)/.exec(line)?.[1] ?? []);
    expect(scanned.filter((table) => ["task", "delivery"].includes(table))).toEqual([]);
    for (const table of ["task", "delivery"])
      expect(lines.join("\n")).toMatch(
        new RegExp(`(USING (COVERING )?INDEX|Index (Only )?Scan using|Bitmap Index Scan on) ${table}`),
      );
  });
});
