import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect } from "vitest";
import { type Checkout, freePort, sharedCheckout } from "../commands/checkout.ts";
import { lacks, need } from "../support/needs.ts";
import { openOtlpReceiver } from "../support/otlp-receiver.ts";
import { sampledTest } from "../support/sampled.ts";
import { root } from "../support/server-process.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/operate/monitoring.md");
const [start = "", scrapes = "", guarded = "", withToken = "", processes = "", checks = "", traces = ""] =
  blocksIn(page, "sh");

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

test("docs/operate/monitoring.md starts a server with metrics, scrapes it, and gives it a token", async () => {
  need("curl", "openssl", "jq");
  const admin = `${await freePort()}`;
  const here = (lines: string) => lines.replaceAll("9464", admin);
  const env = { DATA_DIR: "data", PORT: `${await freePort()}`, BASE_URL: "http://127.0.0.1:8080" };
  const run = (lines: string) => checkout.command(["bash", "-ec", here(lines)], env);
  const started = async (lines: string) => {
    const server = run(lines);
    await server.says(/"msg":"ready"/);
    return async () => {
      server.child.kill("SIGTERM");
      await server.ended;
    };
  };

  const stopOpen = await started(start);
  const { code, out } = await run(scrapes).ended;
  expect(code).toBe(0);
  expect(out.match(/^# TYPE atp_commits_total counter$/gm)).toHaveLength(1);
  expect(out.match(/^# TYPE atp_commits counter$/gm)).toHaveLength(1);
  expect(out.endsWith("# EOF\n")).toBe(true);
  await stopOpen();

  const [makeToken = "", restart = ""] = guarded.trim().split("\n");
  expect((await run(makeToken).ended).code).toBe(0);
  const stopGuarded = await started(restart);
  expect((await run(withToken).ended).out).toContain("atp_build_info");
  expect((await run(processes).ended).out).toMatch(/^all\t/m);
  expect((await run("curl -s http://127.0.0.1:9464/metrics").ended).out).not.toContain("atp_build_info");
  await stopGuarded();
});

test("docs/operate/monitoring.md sends traces to a collector", async () => {
  await using collector = await openOtlpReceiver();
  const port = `${await freePort()}`;
  const env = { DATA_DIR: "data", PORT: port, BASE_URL: "http://127.0.0.1:8080" };
  const server = checkout.command(
    ["bash", "-ec", traces.replace("http://127.0.0.1:4318", collector.url)],
    env,
  );
  await server.says(/"msg":"ready"/);
  await fetch(`http://127.0.0.1:${port}/v2/project.list`);
  server.child.kill("SIGTERM");
  await server.ended;
  expect(collector.spans.map(({ name }) => name)).toContain("project.list");
});

test.skipIf(lacks("promtool"))("docs/operate/monitoring.md checks the files for Prometheus", () => {
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", checks], { cwd: root, encoding: "utf8" });
  expect([status, stdout + stderr]).toEqual([0, expect.stringContaining("SUCCESS")]);
});
