import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { type OtlpReceiver, openOtlpReceiver, type ReceivedSpan } from "../support/otlp-receiver.ts";
import { openService, type Person, type Service, type ServiceOptions } from "../support/service.ts";
import { until } from "../support/until.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const traceparent = (flags = "01") => `00-${trace}-${parent}-${flags}`;

/** Runs a story on a service with a collector. The spans are all there when it has stopped. */
async function spansOf(
  story: (service: Service, ann: Person) => Promise<unknown>,
  { env = {}, ...options }: ServiceOptions = {},
): Promise<readonly ReceivedSpan[]> {
  await using receiver = await openOtlpReceiver();
  {
    await using service = await openService({ ...options, env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } });
    await story(service, await service.person());
  }
  return receiver.spans;
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);

describeOnOne("a task", (database) => {
  let receiver: OtlpReceiver;
  let taskId: string;
  let ann: Person;
  beforeAll(async () => {
    receiver = await openOtlpReceiver();
    await using service = await openService({
      database,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, TRACE_TRUST: "loopback", OTEL_SERVICE_NAME: "platform-7" },
    });
    ann = await service.person();
    const { body } = await ann.v2("task.create", { message: { content: "Say hello." } }, { headers: { traceparent: traceparent() } });
    taskId = String(body["task_id"]);
    await until(service.store, taskId, ({ status }) => status === "stopped");
  });
  afterAll(() => receiver?.[Symbol.asyncDispose]());

  test("is one trace: the caller's, the call, its change, the run and the run's changes", () => {
    const inTrace = receiver.spans.filter(({ traceId }) => traceId === trace);
    const [call] = named(inTrace, "task.create");
    const [run] = named(inTrace, "run");
    expect(call).toMatchObject({ parentSpanId: parent, kind: 2, status: 0 });
    expect(run).toMatchObject({ parentSpanId: call?.spanId, kind: 5 });
    const changesOf = (span: ReceivedSpan | undefined) =>
      named(inTrace, "change").filter(({ parentSpanId }) => parentSpanId === span?.spanId);
    expect(changesOf(call)).toHaveLength(1);
    expect(changesOf(run).length).toBeGreaterThan(0);
    expect(named(inTrace, "change").length).toBe(changesOf(call).length + changesOf(run).length);
  });

  test("has spans with ids, names and numbers", () => {
    expect(named(receiver.spans, "task.create")[0]?.attributes).toEqual({
      ...{ "atp.operation": "task.create", "atp.wire": "v2", "atp.outcome": "ok", "atp.credential": "key" },
      ...{ "atp.account.id": ann.accountId, "atp.space.id": ann.spaceId, "atp.request.id": expect.stringMatching(/^req_/) },
    });
    expect(named(receiver.spans, "run")[0]?.attributes).toEqual({
      ...{ "gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": taskId, "atp.task.id": taskId },
      ...{ "atp.account.id": ann.accountId, "atp.space.id": ann.spaceId, "atp.profile": "manus-1.6" },
      ...{ "atp.run.claim": 1, "atp.run.ending": "finished" },
    });
    expect(receiver.resource).toMatchObject({ "service.name": "platform-7", "service.version": expect.stringMatching(/^\d/) });
  });
});
