import { request } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { constructEvent } from "../../packages/client/src/webhooks.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { armedFaults } from "../../src/modules/test-mode/armed.ts";
import { parseFault } from "../../src/modules/test-mode/fault.ts";
import { callV2, clientOf, rpcWires } from "../support/wires.ts";
import { openReceiver, type Receiver } from "./receiver.ts";
import { startTestMode, type TestModeServer } from "./rig.ts";

let server: TestModeServer;
beforeAll(async () => {
  server = await startTestMode();
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(async () => void (await server.v2("test.fault.clear")));

const ok = async (name: string, body: unknown = {}) => {
  const reply = await server.v2(name, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const withFault = (fault: string, more = {}) => ({
  headers: { ...server.headers, "x-atp-fault": fault, ...more },
});
const list = (fault: string) => callV2(server.url, "task.list", {}, withFault(fault));
interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
interface Arrived {
  readonly text: string;
  readonly isCut: boolean;
}

/**
 * The bytes of an answer that arrive, and whether its connection ended before it was complete.
 *
 * @param isEnough ends a stream that stays open.
 */
const read = (path: string, { headers, body }: Sent, isEnough = (_text: string) => false): Promise<Arrived> =>
  new Promise((resolve) => {
    let text = "";
    const cut = () => resolve({ text, isCut: true });
    const sent = request(
      `${server.url}${path}`,
      { method: "POST", headers: { connection: "close", ...headers } },
      (answer) => {
        answer.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (!isEnough(text)) return;
          resolve({ text, isCut: false });
          sent.destroy();
        });
        answer.on("end", () => resolve({ text, isCut: !answer.complete })).on("error", cut);
      },
    );
    sent.on("error", cut).end(body);
  });

describe("a status is answered in the form of each wire, with Retry-After", () => {
  test("v2", async () => {
    const { status, headers, body } = await list("status=503; retry-after=2");
    expect([status, headers.get("retry-after"), body.error?.code]).toEqual([503, "2", "unavailable"]);
  });
  test("v1 and Responses", async () => {
    const v1 = await fetch(`${server.url}/v1/tasks`, {
      headers: { API_KEY: server.key, "x-atp-fault": "status=429; retry-after=7" },
    });
    expect([v1.status, v1.headers.get("retry-after"), await v1.json()]).toEqual([
      429,
      "7",
      expect.objectContaining({ code: 8 }),
    ]);
    const openai = await fetch(`${server.url}/v1/responses/none`, {
      headers: { API_KEY: server.key, "x-atp-fault": "status=500" },
    });
    expect([openai.status, await openai.json()]).toEqual([
      500,
      expect.objectContaining({ error: expect.objectContaining({ type: "server_error" }) }),
    ]);
  });
  test.each(rpcWires)("%s", async (wire) => {
    const client = clientOf(TaskService, wire, server.url, withFault("status=429; retry-after=3").headers);
    const thrown = await client.listTasks({}).catch((error: unknown) => ConnectError.from(error));
    expect(thrown).toMatchObject({ code: Code.ResourceExhausted });
    expect((thrown as ConnectError).metadata.get("retry-after")).toBe("3");
  });
  test("addresses without a wire, and statuses that no wire has", async () => {
    const token = await fetch(`${server.url}/oauth/token`, {
      method: "POST",
      headers: { "x-atp-fault": "status=503" },
    });
    expect(token.status).toBe(503);
    expect(
      (await fetch(`${server.url}/v2/task.list`, { method: "POST", ...withFault("status=502"), body: "{}" }))
        .status,
    ).toBe(502);
    expect(
      (await fetch(`${server.url}/mcp`, { method: "POST", ...withFault("status=503"), body: "{}" })).status,
    ).toBe(503);
  });
});

test("a fault with times and skip passes before and after, and counts again for the next call", async () => {
  const statuses = [];
  for (let call = 0; call < 8; call += 1) statuses.push((await list("skip=1; status=503; times=2")).status);
  expect(statuses).toEqual([200, 503, 503, 200, 200, 503, 503, 200]);
});

test("an answer is lost after its commit, and its repeat with the same key makes nothing new", async () => {
  const { length: before } = (await ok("task.list"))["data"];
  const call = { body: JSON.stringify({ message: { content: "Once." } }) };
  const lost = await read("/v2/task.create", {
    ...call,
    ...withFault("after-commit", { "Idempotency-Key": "once" }),
  });
  expect(lost).toEqual({ text: "", isCut: true });
  const again = await server.v2(
    "task.create",
    { message: { content: "Once." } },
    { headers: { "Idempotency-Key": "once" } },
  );
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await ok("task.list"))["data"]).toHaveLength(before + 1);
});

test("a connection is reset before the call, and cut after bytes of the body", async () => {
  const { length: before } = (await ok("task.list"))["data"];
  const call = { body: JSON.stringify({ message: { content: "Never." } }) };
  expect(await read("/v2/task.create", { ...call, ...withFault("reset") })).toEqual({
    text: "",
    isCut: true,
  });
  expect((await ok("task.list"))["data"]).toHaveLength(before);
  const cut = await read("/v2/task.list", { body: "{}", ...withFault("cut=9") });
  expect(cut).toEqual({ text: '{"ok":tru', isCut: true });
});

test("a stream is cut after its events, and continues after the last one", async () => {
  const { task_id } = await ok("task.create", {
    message: { content: "[[say One.]] [[say Two.]] [[say Three.]]" },
  });
  await ok("test.clock.advance", { seconds: 1 });
  const watch = (headers: Readonly<Record<string, string>>) =>
    read(
      "/v2/task.watch",
      { headers: { ...server.headers, ...headers }, body: JSON.stringify({ task_id }) },
      (text) => text.includes('"agent_status":"stopped"'),
    );
  const idsIn = (text: string) => [...text.matchAll(/^id: *(\S+)/gm)].map(([, id]) => id);
  const whole = await watch({});
  expect(idsIn(whole.text).length).toBeGreaterThan(3);
  const begun = await watch({ "x-atp-fault": "cut-event=2" });
  expect([begun.isCut, idsIn(begun.text)]).toEqual([true, idsIn(whole.text).slice(0, 2)]);
  const rest = await watch({ "last-event-id": idsIn(begun.text).at(-1) ?? "" });
  expect(idsIn(rest.text)).toEqual(idsIn(whole.text).slice(2));
});

test("messages of gRPC streams are cut too", async () => {
  const { task_id: taskId } = await ok("task.create", { message: { content: "[[say One.]] [[say Two.]]" } });
  const client = clientOf(TaskService, "grpc", server.url, withFault("cut-event=1").headers);
  let count = 0;
  const watch = async () => {
    for await (const _ of client.watchTask({ taskId })) count += 1;
  };
  await expect(watch()).rejects.toThrow();
  expect(count).toBe(1);
});

test("an armed fault is for its operation and wire, for its number of calls", async () => {
  await ok("test.fault", { fault: "status=503; times=2", operation: "task.list", wire: "v2" });
  expect((await server.v2("task.detail", { task_id: "none" })).status).toBe(404);
  const client = server.client(TaskService);
  await client.listTasks({});
  expect([
    (await server.v2("task.list")).status,
    (await server.v2("task.list")).status,
    (await server.v2("task.list")).status,
  ]).toEqual([503, 503, 200]);
  await ok("test.fault", { fault: "reset; times=100" });
  expect(await ok("test.fault.clear")).toMatchObject({ cleared: 1 });
});

test.each([
  ["status=600", "from 400 to 599"],
  ["statsu=503", "did you mean status?"],
  ["status=503; status=500", "must stand once"],
  ["status=503; cut=4", "must not stand together"],
  ["times=2", "must have one of"],
  ["reset=1", "has no value"],
  ["retry-after=1; reset", "needs a status"],
  ["duplicate", "of deliveries"],
  ["delay=61", "from 0 to 60"],
])("the fault %j is an error that says: %s", async (fault, message) => {
  const { status, body } = await list(fault);
  expect([status, body.error?.message]).toEqual([400, expect.stringContaining(message)]);
  expect(await server.v2("test.fault", { fault })).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining(message) } },
  });
});

test("unknown operations, wires and faults of deliveries are errors", async () => {
  for (const [body, message] of [
    [{ fault: "reset", operation: "task.lst" }, "did you mean task.list"],
    [{ fault: "reset", wire: "soap" }, "must be one of"],
    [{ fault: "cut=1", webhook_id: "*" }, "of calls only"],
  ] as const)
    expect(await server.v2("test.fault", body)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(message) } },
    });
});

test("a delay is waited for before the call", () => {
  // The wait itself is the machine's.
  expect(parseFault("delay=0.25; status=503", "fault")).toMatchObject({ delayMs: 250, status: 503 });
});

test("counts of headers are bounded", () => {
  const armed = armedFaults();
  const fault = parseFault("status=503; times=5", "fault");
  for (let n = 0; n < 10_001; n += 1) armed.ofHeader(fault, `key ${n}`);
  // The first key was forgotten: its count begins again.
  expect([1, 2, 3, 4, 5, 6].map(() => armed.ofHeader(fault, "key 0") !== null)).toEqual([
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

describe("deliveries", () => {
  let receiver: Receiver;
  let secret = "";
  let webhookId = "";
  beforeAll(async () => {
    receiver = await openReceiver();
    const { webhook, signing_secret } = await ok("webhook.create", { url: receiver.url });
    [webhookId, secret] = [webhook.id, signing_secret];
  });
  afterAll(() => receiver[Symbol.dispose]());

  /** What the receiver gets of one task, in order: its two events are task_created and task_stopped. */
  async function deliver(fault: string): Promise<readonly string[]> {
    receiver.received.length = 0;
    await ok("test.fault", { fault, webhook_id: webhookId });
    await ok("task.create", { message: { content: "Hello." } });
    await ok("test.clock.advance", { seconds: 1 });
    return receiver.received.map(({ body }) => JSON.parse(body).event_type);
  }
  const verify = async (n: number) => {
    const { body, headers } = receiver.received[n] ?? { body: "", headers: {} };
    return constructEvent(body, headers, { secret }, { tolerance: 400 * 86_400 });
  };

  test("comes twice with one id", async () => {
    expect(await deliver("duplicate")).toEqual(["task_created", "task_created", "task_stopped"]);
    expect(receiver.received[0]?.id).toBe(receiver.received[1]?.id);
  });

  test("comes after the next one", async () => {
    expect(await deliver("reorder")).toEqual(["task_stopped", "task_created"]);
  });

  test("comes late, and what follows waits for it", async () => {
    expect(await deliver("late=3600")).toEqual([]);
    await ok("test.clock.advance", { seconds: 3500 });
    expect(receiver.received).toEqual([]);
    await ok("test.clock.advance", { seconds: 200 });
    expect(receiver.received).toHaveLength(2);
  });

  test("has signatures that do not verify", async () => {
    await deliver("bad-signature");
    await expect(verify(0)).rejects.toThrow();
    expect(await verify(1)).toMatchObject({ event_type: "task_stopped" });
  });

  test("is repeated after a status that no receiver sent", async () => {
    expect(await deliver("status=503; retry-after=60")).toEqual(["task_stopped"]);
    await ok("test.clock.advance", { seconds: 3600 });
    expect(receiver.received).toHaveLength(2);
  });
});
