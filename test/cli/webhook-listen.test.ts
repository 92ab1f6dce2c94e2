import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { constructEvent } from "../../packages/client/src/index.ts";
import { openReceiver } from "../egress/receiver.ts";
import { rowsIn } from "../support/database.ts";
import { createTask } from "../webhooks/listen-rig.ts";
import { webhookRig } from "../webhooks/rig.ts";
import { envOf, runWith, startWith, testFolder } from "./rig.ts";

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver on this machine that keeps its requests. */
async function openHook(
  answer: (response: ServerResponse) => void = (response) => response.writeHead(204).end(),
) {
  const received: Received[] = [];
  const server = await openReceiver(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    received.push({ method, path, headers, body: await text(request) });
    answer(response);
  });
  return {
    received,
    url: `${server.url}/hooks?tenant=7`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("atp webhook listen", () => {
  const rig = webhookRig("sqlite");
  const home = testFolder();
  const listeners = () => rowsIn(rig.db.url, "SELECT * FROM webhook_listener");
  async function start(url: string, ...flags: readonly string[]) {
    const ann = await rig.person();
    const running = startWith(home, rig.service, ["webhook", "listen", "--forward-to", url, ...flags], {
      env: envOf(rig.service, ann),
    });
    await running.until(flags.includes("--json") ? '"signing_secret"' : "Ready.");
    return { ann, running };
  }

  test("forwards events with the bytes and signatures of real deliveries, and no credential", async () => {
    await using hook = await openHook();
    const { ann, running } = await start(hook.url);
    const [, secret = ""] = /^Ready\. Signing secret: (whsec_\S+)\n$/.exec(running.out()) ?? [];
    await createTask(ann);
    await running.until("HTTP 204");
    expect(running.out().split("\n")[1]).toMatch(/^task_created\tHTTP 204\t\d+ ms\ttask_created_\w+_\d{10}$/);
    const [request] = hook.received;
    expect(request).toMatchObject({ method: "POST", path: "/hooks?tenant=7" });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([
      ...["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"],
      ...[
        "webhook-id",
        "webhook-signature",
        "webhook-timestamp",
        "x-webhook-signature",
        "x-webhook-timestamp",
      ],
    ]);
    expect(JSON.stringify(request)).not.toContain(ann.key);
    const event = await constructEvent(request?.body ?? "", request?.headers ?? {}, { secret });
    expect(event).toMatchObject({ event_type: "task_created", event_id: request?.headers["webhook-id"] });
    running.interrupt();
    expect(await running.code).toBe(0);
    await expect.poll(listeners).toEqual([]);
  });

  test("with --json writes a line for each event, and with --print-body its body", async () => {
    await using hook = await openHook((response) => response.writeHead(500).end("no"));
    const { ann, running } = await start(hook.url, "--json", "--print-body", "--events", "task_cancelled");
    const taskId = await createTask(ann);
    await ann.v2("task.stop", { task_id: taskId });
    await running.until('"delivery"');
    running.interrupt();
    expect(await running.code).toBe(0);
    const [listener, delivery, ...more] = running
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listener).toMatchObject({ type: "listener", event_types: ["task_cancelled"] });
    const { received } = hook;
    expect(delivery).toEqual({
      ...{
        type: "delivery",
        event_id: received[0]?.headers["webhook-id"],
        event_type: "task_cancelled",
        status: 500,
      },
      ...{ latency_ms: expect.any(Number), body: received[0]?.body },
    });
    expect([more, received.length, running.err()]).toEqual([[], 1, ""]);
  });

  test("follows no redirect", async () => {
    await using other = await openHook();
    await using hook = await openHook((response) => response.writeHead(307, { location: other.url }).end());
    const { ann, running } = await start(hook.url);
    await createTask(ann);
    await running.until("HTTP 307");
    running.interrupt();
    expect(await running.code).toBe(0);
    expect(other.received).toEqual([]);
  });

  test("has at most ten requests open, and shows a receiver that is not there", async () => {
    const waiting: ServerResponse[] = [];
    await using hook = await openHook((response) => waiting.push(response));
    const { ann, running } = await start(hook.url);
    for (let count = 0; count < 12; count += 1) await createTask(ann);
    await expect.poll(() => waiting.length).toBe(10);
    waiting.shift()?.writeHead(200).end();
    await expect.poll(() => hook.received.length).toBe(11);
    for (const response of waiting) response.writeHead(200).end();
    await expect.poll(() => hook.received.length).toBe(12);
    running.interrupt();
    expect(await running.code).toBe(0);
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as { port: number }; // It listens on TCP.
    await new Promise((resolve) => closed.close(resolve));
    const { ann: bo, running: alone } = await start(`http://localhost:${port}/`);
    await createTask(bo);
    await alone.until("ECONNREFUSED");
    alone.interrupt();
    expect(await alone.code).toBe(0);
  });

  test("reads no more than the beginning of an answer without an end", async () => {
    const cut = Promise.withResolvers<void>();
    await using hook = await openHook((response) => {
      response.writeHead(200).write(Buffer.alloc(256 * 1024));
      response.once("close", cut.resolve);
    });
    const { ann, running } = await start(hook.url);
    await createTask(ann);
    await running.until("HTTP 200");
    await cut.promise;
    running.interrupt();
    expect(await running.code).toBe(0);
  });

  test("ends with exit code 6 and a way out when the server stops", async () => {
    await using hook = await openHook();
    const service = rig.service;
    const { running } = await start(hook.url);
    await service.drain();
    expect(await running.code).toBe(6);
    expect(running.err()).toContain(
      "the listener has ended: the server is stopping: call again\nRun the command again",
    );
  });
});

describe("atp webhook listen", () => {
  const rig = webhookRig("sqlite");
  const home = testFolder();
  const external = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ internal }) => !internal)?.address;

  test.each([
    [
      "an address that is not on this machine",
      ["http://192.0.2.1/in"],
      "--forward-to: 192.0.2.1 is not this machine; to send events there, add --allow-remote",
    ],
    [
      "a mapped address",
      ["http://[::ffff:192.0.2.1]/in"],
      "is not this machine; to send events there, add --allow-remote",
    ],
    [
      "a name without an address",
      ["http://nothing.invalid/in"],
      "--forward-to: nothing.invalid has no address",
    ],
    ["another scheme", ["ftp://localhost/in"], "--forward-to: must be an http or https address"],
    [
      "a password",
      ["http://ann:secret@localhost/in"],
      "--forward-to: must have no user name and no password",
    ],
    [
      "an unknown type",
      ["http://localhost/in", "--events", "task_created,task_eaten"],
      "--events: must be one or more of task_created,",
    ],
  ])("refuses %s with exit code 2, before it calls the server", async (_what, [
    url = "",
    ...flags
  ], message) => {
    const env = envOf(rig.service, await rig.person());
    const ran = await runWith(home, rig.service, ["webhook", "listen", "--forward-to", url, ...flags], {
      env,
    });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain(message);
    expect(
      await rowsIn(rig.db.url, "SELECT * FROM audit_event WHERE operation LIKE '%ListenWebhook'"),
    ).toEqual([]);
  });

  test.skipIf(external === undefined)("takes another address with --allow-remote", async () => {
    const ann = await rig.person();
    const args = ["webhook", "listen", "--forward-to", `http://${external}:9/`, "--allow-remote"];
    const running = startWith(home, rig.service, args, { env: envOf(rig.service, ann) });
    await running.until("Ready.");
    running.interrupt();
    expect(await running.code).toBe(0);
  });
});
