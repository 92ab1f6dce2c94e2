import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { openReceiver } from "../egress/receiver.ts";
import { describeOnOne } from "../support/database.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { type OtlpReceiver, openOtlpReceiver, type ReceivedSpan } from "../support/otlp-receiver.ts";
import { openService, type Person, type Service, type ServiceOptions } from "../support/service.ts";
import { until } from "../support/until.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const sampled = `00-${trace}-${caller}-01`;
const unsampled = `00-${trace}-${caller}-00`;

/** Runs a story on a service with a collector. The spans are all there when it has stopped. */
async function spansOf(
  story: (service: Service, ann: Person) => Promise<unknown>,
  { env = {}, ...options }: ServiceOptions = {},
): Promise<readonly ReceivedSpan[]> {
  await using receiver = await openOtlpReceiver();
  {
    await using service = await openService({
      ...options,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env },
    });
    await story(service, await service.person());
  }
  return receiver.spans;
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);
const listProjects = (ann: Person, traceparent: string) =>
  ann.v2("project.list", {}, { headers: { traceparent } });

// spec/api.md 8.98, spec/decisions.md 118
describeOnOne("a task", (database) => {
  let receiver: OtlpReceiver;
  let taskId: string;
  let ann: Person;
  beforeAll(async () => {
    receiver = await openOtlpReceiver();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      TRACE_TRUST: "loopback",
      OTEL_SERVICE_NAME: "platform-7",
    };
    await using service = await openService({ database, env });
    ann = await service.person();
    const { body } = await ann.v2(
      "task.create",
      { message: { content: "Say hello." } },
      { headers: { traceparent: sampled } },
    );
    taskId = String(body["task_id"]);
    await until(service.store, taskId, ({ status }) => status === "stopped");
  });
  afterAll(() => receiver?.[Symbol.asyncDispose]());

  test("is one trace: the caller's, the call, its change, the run and the run's changes", () => {
    const inTrace = receiver.spans.filter(({ traceId }) => traceId === trace);
    const [call] = named(inTrace, "task.create");
    const [run] = named(inTrace, "run");
    expect(call).toMatchObject({ parentSpanId: caller, kind: 2, status: 0 });
    expect(run).toMatchObject({ parentSpanId: call?.spanId, kind: 5 });
    const changesOf = (span: ReceivedSpan | undefined) =>
      named(inTrace, "change").filter(({ parentSpanId }) => parentSpanId === span?.spanId);
    expect(changesOf(call)).toHaveLength(1);
    expect(changesOf(run).length).toBeGreaterThan(0);
    expect(named(inTrace, "change").length).toBe(changesOf(call).length + changesOf(run).length);
  });

  test("has spans with ids, names and numbers, and no other attributes", () => {
    expect(named(receiver.spans, "task.create")[0]?.attributes).toEqual({
      ...{ "atp.operation": "task.create", "atp.wire": "v2", "atp.outcome": "ok", "atp.credential": "key" },
      ...{
        "atp.account.id": ann.accountId,
        "atp.space.id": ann.spaceId,
        "atp.request.id": expect.stringMatching(/^req_/),
      },
    });
    expect(named(receiver.spans, "run")[0]?.attributes).toEqual({
      ...{ "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": taskId, "atp.task.id": taskId },
      ...{ "atp.account.id": ann.accountId, "atp.space.id": ann.spaceId, "atp.profile": "manus-1.6" },
      ...{ "atp.run.claim": 1, "atp.run.ending": "finished" },
    });
    expect(named(receiver.spans, "change")[0]?.attributes).toEqual({ "db.system.name": database });
    expect(receiver.resource).toMatchObject({
      "service.name": "platform-7",
      "service.version": expect.stringMatching(/^\d/),
    });
  });
});

describe("the trace of a caller", () => {
  test("continues over every wire, and the line of the call has its id", async () => {
    const wires = ["connect-json", "connect-binary", "grpc", "grpc-web"] as const;
    let lines: unknown[] = [];
    const spans = await spansOf(
      async (service, ann) => {
        const traced = { ...ann.headers, traceparent: sampled };
        const session = (wire: (typeof wires)[number]) => ann.client(ProjectService, wire);
        for (const wire of wires) await session(wire).listProjects({}, { headers: { traceparent: sampled } });
        await listProjects(ann, sampled);
        await fetch(`${service.url}/v1/tasks`, { headers: traced });
        await fetch(`${service.url}/v1/responses/none`, { headers: traced });
        await fetch(`${service.url}/oauth/token`, {
          method: "POST",
          headers: { traceparent: sampled },
          body: new URLSearchParams(),
        });
        await fetch(`${service.url}/scim/v2/Users`, { headers: traced });
        await service.drain();
        lines = service.logged.filter(({ text }) => text === "call").map(({ fields }) => fields["traceId"]);
      },
      { idle: true, env: { TRACE_TRUST: "127.0.0.1" } },
    );
    const calls = spans.filter(
      ({ kind, parentSpanId, traceId }) => kind === 2 && parentSpanId === caller && traceId === trace,
    );
    expect(calls.map(({ attributes }) => attributes["atp.wire"])).toEqual([
      ...["connect", "connect", "grpc", "grpc-web", "v2", "v1", "responses", "oauth", "scim"],
    ]);
    expect(lines).toEqual(calls.map(() => trace));
  });

  test("is ignored when its header is invalid", async () => {
    const invalid = [
      "",
      "00",
      sampled.toUpperCase(),
      `${sampled}-00`,
      `ff${sampled.slice(2)}`,
      `00-${"0".repeat(32)}-${caller}-01`,
    ];
    invalid.push(
      `00-${trace}-${"0".repeat(16)}-01`,
      `00-${trace}-${caller}-1`,
      `00-${trace}-${caller}-01`.padEnd(600, "0"),
    );
    const spans = await spansOf(
      async (_, ann) => {
        for (const header of invalid) await listProjects(ann, header);
        await listProjects(ann, `cc${sampled.slice(2)}-what-the-future-brings`);
      },
      { idle: true, env: { TRACE_TRUST: "loopback" } },
    );
    const calls = named(spans, "project.list");
    expect(calls.map(({ parentSpanId }) => parentSpanId)).toEqual([...invalid.map(() => ""), caller]);
    expect(new Set(calls.map(({ traceId }) => traceId)).size).toBe(calls.length);
  });

  test.each([
    ["loopback", sampled, "always_off", 1],
    ["loopback", unsampled, "always_on", 0],
    ["10.0.0.0/8,::1", sampled, "always_off", 0],
    ["10.0.0.0/8,::1", unsampled, "always_on", 1],
    ["", sampled, "traceidratio", 0],
  ])("trusted from %s as %s below parentbased_%s has %i spans", async (TRACE_TRUST, header, sampler, count) => {
    const env = { TRACE_TRUST, OTEL_TRACES_SAMPLER: `parentbased_${sampler}`, OTEL_TRACES_SAMPLER_ARG: "0" };
    const spans = await spansOf((_, ann) => listProjects(ann, header), { idle: true, env });
    expect(named(spans, "project.list").map(({ traceId }) => traceId)).toEqual(count === 0 ? [] : [trace]);
  });

  test("is trusted by the address that the proxy sends", async () => {
    const from = (address: string) => ({ headers: { traceparent: sampled, "x-forwarded-for": address } });
    const env = {
      TRACE_TRUST: "192.0.2.0/24",
      TRUST_PROXY: "x-forwarded-for",
      OTEL_TRACES_SAMPLER: "parentbased_always_off",
    };
    const spans = await spansOf(
      async (_, ann) => {
        await ann.v2("project.list", {}, from("203.0.113.9"));
        await ann.v2("project.list", {}, from("192.0.2.9"));
      },
      { idle: true, env },
    );
    expect(named(spans, "project.list")).toHaveLength(1);
  });

  test("cannot choose a trace id that the share of untrusted callers always has", async () => {
    const chosen = `00-${"0".repeat(31)}1-${caller}-01`;
    const env = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.000000001" };
    const spans = await spansOf((_, ann) => listProjects(ann, chosen), { idle: true, env });
    expect(spans).toEqual([]);
  });
});

describe("without a collector", () => {
  test("the trace of a caller goes to the worker, and counts as sampled only from a trusted address", async () => {
    for (const [TRACE_TRUST, passed] of [
      ["loopback", sampled],
      ["", unsampled],
    ] as const) {
      await using service = await openService({ env: { ...remoteEnv, TRACE_TRUST } });
      const ann = await service.person();
      const worker = await createWorker(service, ann);
      await ann.v2("task.create", { message: { content: "Hello" } }, { headers: { traceparent: sampled } });
      const run = await worker.pollUntilRun();
      expect(run.traceparent).toBe(passed);
      await ann.v2("task.sendMessage", { task_id: run.taskId, message: { content: "More" } });
      const { run: next } = (await worker.finish(run, { finish: { content: "Done" } })).body;
      expect(next).not.toHaveProperty("traceparent");
    }
  });
});

test("a run's calls of models, tools, connectors and webhooks are spans of its trace, and each server gets the trace", async () => {
  const delivered: (string | undefined)[] = [];
  await using hook = await openReceiver(async (request, response) => {
    for await (const _ of request);
    delivered.push(String(request.headers["traceparent"]));
    response.writeHead(200).end();
  });
  await using mcp = await openMcpServer();
  await using model = await openModelServer("openai");
  using file = modelsFile("openai", model);
  const env = {
    ...file.env,
    TRACE_TRUST: "loopback",
    CONNECTOR_ALLOW: "loopback",
    WEBHOOK_ALLOW: "loopback",
  };
  let taskId = "";
  const spans = await spansOf(
    async (service, ann) => {
      const client = (await ann.session()).client(ConnectorService);
      const { connector } = await client.installConnector({
        name: "Our garden",
        server: { case: "http", value: { url: mcp.url } },
      });
      await client.setConnectorPolicy({
        id: connector?.id ?? "",
        policies: [{ tool: "water", policy: "allow" }],
      });
      await ann.v2("webhook.create", { url: hook.url });
      mcp.traces.length = 0;
      model.play([
        { calls: [{ name: "our_garden_water", input: { bed: "roses" } }], usage: { input: 7, output: 3 } },
        { text: "Done", usage: { input: 11, output: 5 } },
      ]);
      const message = { content: "Water the secret bed", connectors: [connector?.uid] };
      const { body } = await ann.v2("task.create", { message }, { headers: { traceparent: sampled } });
      taskId = String(body["task_id"]);
      await until(service.store, taskId, ({ status }) => status === "stopped");
      await expect.poll(() => delivered.filter((header) => header?.includes(trace)).length).toBe(2);
    },
    { env },
  );
  const inTrace = spans.filter(({ traceId }) => traceId === trace);
  const [run] = named(inTrace, "run");
  const chats = named(inTrace, "chat scripted");
  const [tool] = inTrace.filter(({ name }) => name.startsWith("execute_tool"));
  expect(chats.map(({ attributes }) => attributes)).toEqual(
    [
      [7, 3],
      [11, 5],
    ].map(([input, output]) => ({
      ...{
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
      },
      ...{ "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output },
    })),
  );
  for (const span of [...chats, tool]) expect(span?.parentSpanId).toBe(run?.spanId);
  expect(tool).toMatchObject({
    name: "execute_tool our_garden_water",
    attributes: { "gen_ai.tool.name": "our_garden_water" },
  });
  const header = (span: ReceivedSpan | undefined) => `00-${trace}-${span?.spanId}-01`;
  expect(model.requests.map(({ headers }) => headers["traceparent"])).toEqual(chats.map(header));
  expect(new Set(mcp.traces)).toEqual(new Set([header(tool)]));
  const deliveries = named(inTrace, "webhook.deliver");
  expect(delivered.filter((sent) => sent?.includes(trace)).toSorted()).toEqual(
    deliveries.map(header).toSorted(),
  );
  expect(deliveries[0]?.attributes).toMatchObject({
    "atp.task.id": taskId,
    "http.response.status_code": 200,
    "atp.attempt": 1,
  });
  expect(JSON.stringify(spans)).not.toMatch(/roses|secret|127\.0\.0\.1|garden_water"\}/);
});
