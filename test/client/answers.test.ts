import { afterAll, describe, expect, test } from "vitest";
import { constructEvent, signTestEvent, type WebhookEvent } from "../../packages/client/src/index.ts";
import { lacks } from "../support/needs.ts";
import { taskRig } from "../support/task-rig.ts";
import { openPython, type Python } from "./python.ts";
import { clientFor } from "./rig.ts";

const rig = taskRig();
const client = () => clientFor(rig.service, rig.ann);
let opened: Promise<Python> | undefined;
const python = () => {
  opened ??= openPython();
  return opened;
};
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());

describe("a successful call", () => {
  test("has its request id, status and headers by withResponse, also of a created task and its methods", async () => {
    const created = await client().tasks.create({ message: "[[ask Which?]]" }).withResponse();
    expect(created).toMatchObject({ requestId: expect.stringMatching(/^req_/), response: { status: 200 } });
    const task = created.data;
    await task.wait();
    for (const called of [
      task.detail(),
      task.answer("this"),
      task.update({ title: "T" }),
      task.watchUrl(),
      client().call("user.me"),
    ]) {
      const { requestId, response } = await called.withResponse();
      expect(requestId).toBe(response.headers.get("x-request-id"));
    }
    expect((await client().projects.list().withResponse()).data).toMatchObject({ data: [] });
  });

  test("that fails rejects once, by each of its promises", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", listen);
    const gone = client().tasks.get("nothing");
    await expect(gone.stop().withResponse()).rejects.toMatchObject({ name: "NotFoundError" });
    await expect(gone.stop()).rejects.toMatchObject({ name: "NotFoundError" });
    await expect(client().tasks.create({ message: "" }).withResponse()).rejects.toMatchObject({
      name: "InvalidArgumentError",
    });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  test("takes its options as the last argument", async () => {
    const task = await client().tasks.create({ message: "[[say one]]" });
    await task.wait({ headers: { "x-test": "1" } });
    for (let tries = 0; tries < 2; tries += 1)
      await task.send("[[say two]]", {}, { idempotencyKey: "the-same" });
    await task.wait();
    const users = (await task.events().all()).filter(({ type }) => type === "user_message");
    expect(users).toHaveLength(2);
    const leaving = AbortSignal.abort(new Error("left"));
    await expect(task.events({}, { signal: leaving }).all()).rejects.toThrow("left");
    await expect(task.watchUrl(60, { signal: leaving })).rejects.toThrow("left");
    await expect(task.result({ signal: leaving })).rejects.toThrow("left");
  });

  test.skipIf(lacks("python-httpx"))("shows its answer to on_response in Python", async () => {
    const there = await (await python()).make("Client", { base_url: rig.service.url, api_key: rig.ann.key });
    const log = await (await python()).log();
    await (await python()).do(there, "users.me", { kwargs: { options: { on_response: log } } });
    expect(await (await python()).read(log)).toHaveLength(1);
  });
});

describe("a stream", () => {
  test("ends with the text of the agent, read or not", async () => {
    const stream = client().tasks.create({ message: "[[say one]] [[say two]]" }).stream();
    for await (const event of stream) if (event.type === "status_update") break;
    expect(await client().tasks.create({ message: "[[say one]] [[say two]]" }).stream().finalText()).toBe(
      "two",
    );
    const whole = (await client().tasks.create({ message: "[[say three]]" })).stream();
    for await (const event of whole) expect(event).toHaveProperty("type");
    expect(await whole.finalText()).toBe("three");
  });

  test.skipIf(lacks("python-httpx")).each(["Client", "AsyncClient"])(
    "ends with the text of the agent in Python's %s",
    async (name) => {
      const there = await (await python()).make(name, { base_url: rig.service.url, api_key: rig.ann.key });
      const task = await (await python()).keep(there, "tasks.create", { args: ["[[say one]] [[say two]]"] });
      const stream = await (await python()).keep(task, "stream");
      expect(await (await python()).do(stream, "final_text")).toBe("two");
    },
  );
});

describe("a test event", () => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const event: WebhookEvent = {
    ...{ event_id: "evt_1", event_type: "task_stopped" },
    task_detail: {
      ...{ task_id: "t", task_title: "ä", task_url: "http://a.test/app/t", task_event_id: "ev_t_3" },
      ...{ message: "done", attachments: [], stop_reason: "finish" },
    },
  };
  const now = Date.UTC(2026, 0, 1);

  test("is verified as one of the platform, at its own time only", async () => {
    const { body, headers } = await signTestEvent(event, { secret, now });
    expect(await constructEvent(body, headers, { secret }, { now })).toEqual(event);
    await expect(constructEvent(body, headers, { secret })).rejects.toThrow("timestamp");
    await expect(constructEvent(body.replace("done", "gone"), headers, { secret }, { now })).rejects.toThrow(
      "signature",
    );
  });

  test.skipIf(lacks("python-httpx"))("of Python is the same, byte for byte", async () => {
    const signed = await (await python()).do(undefined, "sign_test_event", {
      args: [event],
      kwargs: { secret, now: now / 1000 },
    });
    const { body, headers } = await signTestEvent(event, { secret, now });
    expect(signed).toEqual([Buffer.from(body).toString("hex"), headers]);
  });
});
