import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { watcher } from "../support/watcher.ts";

const callsOf = ({ logged }: Service) => logged.filter(({ text }) => text === "call");

/** The fields of the lines that a call writes; its line follows its answer. */
async function linesOf(service: Service, count: number, act: () => Promise<unknown>) {
  const before = callsOf(service).length;
  await act();
  while (callsOf(service).length < before + count) await new Promise(setImmediate);
  return callsOf(service)
    .slice(before)
    .map(({ fields }) => fields);
}

describeOnOne("the line of a call", (database) => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({ database, idle: true });
    ann = await service.person();
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  test("has ids, operation, wire, outcome, time, account, space and kind of credential", async () => {
    let requestId: unknown;
    const [line, ...more] = await linesOf(service, 1, async () => {
      requestId = (await ann.v2("project.create", { name: "zeppelin" })).body["request_id"];
    });
    expect(more).toEqual([]);
    expect(line).toEqual({
      ...{ requestId, operation: "project.create", wire: "v2", outcome: "ok", ms: expect.any(Number) },
      ...{ account: ann.accountId, space: ann.spaceId, credential: "key" },
    });
  });

  test.each([
    "connect-json",
    "connect-binary",
    "grpc",
    "grpc-web",
  ] as const)("is written once over %s, for answers and refusals", async (wire) => {
    const client = ann.client(ProjectService, wire);
    const name = wire.startsWith("connect") ? "connect" : wire;
    const lines = await linesOf(service, 2, async () => {
      await client.listProjects({});
      await client.getProject({ projectId: "none" }).catch(() => undefined);
    });
    expect(lines).toMatchObject([
      { operation: "project.list", wire: name, outcome: "ok", account: ann.accountId },
      { operation: "project.detail", wire: name, outcome: "not_found", account: ann.accountId },
    ]);
  });

  test("of a session has its kind, and of a caller without credential no account", async () => {
    const session = await ann.session();
    const [line] = await linesOf(service, 1, () => session.client(ProjectService).listProjects({}));
    expect(line).toMatchObject({ wire: "connect", credential: "session", account: ann.accountId });
    const [refused] = await linesOf(service, 1, () => fetch(`${service.url}/v2/project.list`));
    expect(refused).toMatchObject({ operation: "project.list", outcome: "unauthenticated" });
    expect(Object.keys(refused ?? {})).not.toContain("account");
  });

  test("of a client that left before its answer is cancelled", async () => {
    const { body } = await ann.v2("task.create", { message: { content: "Wait." } });
    const [line] = await linesOf(service, 1, async () => {
      const watch = watcher(service.url, ann, "sse", { taskId: body["task_id"] });
      await watch.until(1);
      watch.close();
    });
    expect(line).toMatchObject({ outcome: "cancelled" });
  });

  test("has the caller's request id next to ours if it is a short token, and answers have ours", async () => {
    const send = (id: string) =>
      fetch(`${service.url}/v2/project.list`, { headers: { ...ann.headers, "x-request-id": id } });
    for (const id of ["req-7", "a".repeat(128), "4f1c:trace/9=="]) {
      let answered: string | null = null;
      const [line] = await linesOf(service, 1, async () => {
        answered = (await send(id)).headers.get("x-request-id");
      });
      expect(line).toMatchObject({ callerRequestId: id, requestId: answered });
      expect(answered).not.toBe(id);
    }
    for (const id of ["a b", "a".repeat(129), '{"level":50}', "é", ""]) {
      const [line] = await linesOf(service, 1, () => send(id));
      expect(line).not.toHaveProperty("callerRequestId");
    }
  });

  test("is not written for probes, health, pages, documentation and static files", async () => {
    const lines = await linesOf(service, 1, async () => {
      for (const path of ["/livez", "/readyz", "/sign-in", "/llms.txt", "/favicon.ico"])
        await fetch(`${service.url}${path}`);
      await ann.v2("project.list");
    });
    expect(lines.map(({ operation }) => operation).filter((operation) => operation !== "unknown")).toEqual([
      "project.list",
    ]);
  });
});

describe("CALL_LOG", () => {
  const outcomes = async (CALL_LOG: string) => {
    await using service = await openService({ idle: true, env: { CALL_LOG } });
    const ann = await service.person();
    for (let n = 0; n < 8; n += 1) await ann.v2("project.list");
    await fetch(`${service.url}/v2/project.list`);
    // The last call's line follows its answer; after a drain there are no more.
    await service.drain();
    return callsOf(service).map(({ fields }) => fields["outcome"]);
  };

  test.each([
    ["all", 8, 1],
    ["25%", 2, 1],
    ["0.5%", 0, 1],
    ["errors", 0, 1],
    ["off", 0, 0],
  ])("%s writes %i of 8 successful calls, and %i of 1 refused", async (setting, successful, refused) => {
    const lines = await outcomes(setting);
    expect([
      lines.filter((each) => each === "ok").length,
      lines.filter((each) => each !== "ok").length,
    ]).toEqual([successful, refused]);
  });

  test("is all by default, and stops the start with another value", () => {
    expect(loadConfig({}).callLog).toEqual({ successful: 1, others: true });
    for (const CALL_LOG of ["on", "101%", "-1%", "5", "5 %"])
      expect(() => loadConfig({ CALL_LOG })).toThrow(/CALL_LOG/);
  });
});
