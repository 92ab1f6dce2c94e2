import { expect } from "vitest";
import { runOn } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { explained, serve, sharedCheckout } from "./checkout.ts";

const test = sampledTest(3);

test("atp status shows one screen, and exits with 1 once a task has waited for a worker for more than a minute", async () => {
  using checkout = sharedCheckout();
  const env = { AGENT_PROFILES: "manus-1.6-max=remote", RATE_LIMITS: "off" };
  await using serving = await serve(checkout, "watched", env);
  // Without AGENT_PROFILES: the servers know the agents.
  const status = (...words: string[]) =>
    checkout.atp("status", words, { DATA_DIR: checkout.path("watched") }).ended;
  const idle = await status();
  expect(idle).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Platform {4}\d+\.\d+\.\d+\S*(?: \([0-9a-f]{8}\))?, sqlite, /),
  });
  expect(idle.out).toContain("Queue       none");
  expect(idle.out).toMatch(
    /^Processes {3}\w+: all, \d\S+, \S+, pid \d+, up \d+ s, heartbeat \d+ s ago, 0 runs, \d+\.\d MB$/m,
  );
  const made = await checkout.atp("key", ["--name", "status"], { DATA_DIR: checkout.path("watched") }).ended;
  const headers = { "x-service-api-key": made.out.trim() };
  const body = JSON.stringify({ message: { content: "Hello" }, agent_profile: "max" });
  expect((await fetch(`${serving.url}/v2/task.create`, { method: "POST", headers, body })).status).toBe(200);
  await runOn(
    `file:${checkout.path("watched/platform.db")}`,
    "UPDATE task SET queued_at = queued_at - 90000",
  );
  const waiting = await status();
  expect(waiting.code).toBe(1);
  expect(waiting.out).toMatch(/WARN queue: (9\d|1\d\d) s since the oldest waiting task was queued/);
  expect(waiting.out).toContain("manus-1.6-max (remote): 1 wait");
  expect(waiting.out).toContain("WARN workers: 1 tasks wait for a worker that is not there");
  const json = await status("--json");
  expect(json.code).toBe(1);
  const processes = [
    { role: "all", version: expect.stringMatching(/^\d/), pid: expect.any(Number), running: 0 },
  ];
  expect(JSON.parse(json.out)).toMatchObject({
    processes,
    profiles: [{ profile: "manus-1.6-max", queued: 1 }],
    storage: { kind: "local" },
  });
});

test("atp status explains itself with exit code 2 for wrong arguments", async () => {
  using checkout = sharedCheckout();
  const { code, out, err } = await checkout.atp("status", ["--json", "--watch"], { DATA_DIR: "usage" }).ended;
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(explained);
});
