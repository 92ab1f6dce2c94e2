import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import type { Log } from "../../src/core/log.ts";
import { openTelemetry } from "../../src/modules/observing.ts";
import { openMeasured, sumOf } from "../metrics/metrics-rig.ts";
import { openOtlpReceiver } from "../support/otlp-receiver.ts";
import { openService } from "../support/service.ts";

const calls = { idle: true } as const;

test("lines of the log are exported with their level, their fields and the trace of the call", async () => {
  await using receiver = await openOtlpReceiver();
  let traceId: unknown;
  {
    await using service = await openService({
      ...calls,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${receiver.url}/`,
        OTEL_LOGS_EXPORTER: "otlp",
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20c0llector",
      },
    });
    await (await service.person()).v2("project.list");
    await service.drain();
    traceId = service.logged.find(({ text }) => text === "call")?.fields["traceId"];
  }
  expect(receiver.lines.find(({ text }) => text === "call")).toEqual({
    ...{ text: "call", severity: "info", traceId },
    attributes: expect.objectContaining({
      operation: "project.list",
      wire: "v2",
      outcome: "ok",
      ms: expect.any(Number),
    }),
  });
  expect(new Set(receiver.requests.map(({ url }) => url))).toEqual(new Set(["/v1/traces", "/v1/logs"]));
  for (const { headers } of receiver.requests)
    expect(headers).toMatchObject({ authorization: "Bearer c0llector" });
});

test("lines are not exported unless the settings say so", async () => {
  await using receiver = await openOtlpReceiver();
  {
    await using service = await openService({ ...calls, env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
    await (await service.person()).v2("project.list");
  }
  expect(receiver.lines).toEqual([]);
  expect(receiver.spans.length).toBeGreaterThan(0);
});

test("a collector that refuses delays no call, and what it did not take is counted and logged without its answer", async () => {
  await using receiver = await openOtlpReceiver();
  receiver.answer = 401;
  const { service, scrape, ...measured } = await openMeasured({
    ...calls,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
  });
  try {
    const ann = await service.person();
    await ann.v2("project.list");
    await expect
      .poll(async () => sumOf(await scrape(), "atp_telemetry_dropped_total", { signal: "traces" }))
      .toBeGreaterThan(0);
    expect(service.problems).toContainEqual({
      level: "warn",
      text: "traces were not exported: 401",
      fields: {},
    });
  } finally {
    await measured[Symbol.asyncDispose]();
  }
});

test("a collector that does not answer holds at most 2,048 spans; further ones are dropped at once", async () => {
  await using receiver = await openOtlpReceiver();
  receiver.answer = "hang";
  const dropped: string[] = [];
  const log: Log = (_, text) => void dropped.push(text);
  const telemetry = await openTelemetry(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }), {
    log,
    metrics: undefined,
  });
  const began = performance.now();
  for (let n = 0; n < 3_000; n += 1) telemetry?.tracing.begin({ name: "call" }, null)?.end();
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(dropped).toEqual(
    Array.from({ length: 3_000 - 2_048 }, () => "traces were not exported: too many wait"),
  );
});

test("exported lines need the address of a collector", () => {
  expect(() => loadConfig({ OTEL_LOGS_EXPORTER: "otlp" })).toThrow(
    /^OTEL_LOGS_EXPORTER must be none without OTEL_EXPORTER_OTLP_ENDPOINT/,
  );
});
