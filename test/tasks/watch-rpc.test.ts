import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import {
  GetTaskRequestSchema,
  TaskService,
  WatchTaskRequestSchema,
} from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { rpcWires } from "../support/wires.ts";
import { framed, send, sendHttp2 } from "../wires/raw.ts";
import { watchRig } from "./watch-rig.ts";

const watchTask = "task.v2.TaskService/WatchTask";
const getTask = "task.v2.TaskService/GetTask";

describe("WatchTask", () => {
  const rig = watchRig();
  const path = (rpc: string) => `${rig.service.url}/${rpc}`;
  const key = () => ({ "x-service-api-key": rig.ann.key });
  const connect = { "content-type": "application/connect+json" };
  const grpc = { "content-type": "application/grpc", te: "trailers" };
  const json = (request: object) => framed(Buffer.from(JSON.stringify(request)));
  const binary = (taskId: string) =>
    framed(toBinary(WatchTaskRequestSchema, create(WatchTaskRequestSchema, { taskId })));

  /** The envelopes of a Connect stream; the last one is its end. */
  function envelopesIn(bytes: Buffer): { readonly [member: string]: unknown }[] {
    const found = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 5 + bytes.readUInt32BE(at + 1);
      found.push(JSON.parse(bytes.subarray(at + 5, end).toString()));
      at = end;
    }
    return found;
  }

  test("is a stream of envelopes over Connect, with the headers of any answer", async () => {
    const id = await rig.create();
    await rig.settle(id);
    const reply = await send(path(watchTask), {
      headers: { ...key(), ...connect },
      body: json({ taskId: id, untilSettled: true }),
    });
    expect([reply.status, reply.headers.get("content-type"), reply.headers.get("cache-control")]).toEqual([
      200,
      "application/connect+json",
      "no-store",
    ]);
    expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
    expect(envelopesIn(reply.bytes)).toMatchObject([
      { event: { seq: 1 } },
      { event: { seq: 2 } },
      { event: { seq: 3 } },
      { event: { seq: 4 } },
      {},
    ]);
  });

  test("reports a refusal with the same headers over Connect", async () => {
    const reply = await send(path(watchTask), {
      headers: { ...key(), ...connect },
      body: json({ taskId: "nobody" }),
    });
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
    expect(envelopesIn(reply.bytes)).toMatchObject([
      { error: { code: "not_found", message: "task not found" } },
    ]);
  });

  test.each(["GET", "PUT"])("refuses %s over Connect", async (method) => {
    const { status } = await send(path(watchTask), { method, headers: { ...key(), ...connect } });
    expect(status).toBe(405);
  });

  test.each(rpcWires)("has one request id, for a refusal and for an early end: %s", async (wire) => {
    const client = rig.ann.client(TaskService, wire);
    const errorOf = async (answers: AsyncIterable<unknown>) =>
      ConnectError.from(await Array.fromAsync(answers).catch((thrown: unknown) => thrown));
    const refused = await errorOf(client.watchTask({ taskId: "nobody" }));
    expect(refused.code).toBe(Code.NotFound);
    const id = await rig.create();
    let head = new Headers();
    const onHeader = (headers: Headers) => {
      head = headers;
    };
    const broken = errorOf(client.watchTask({ taskId: id }, { onHeader }));
    await rig.untilStatements(2);
    await rig.remove(id);
    expect((await broken).code).toBe(Code.NotFound);
    // Some clients join the headers to the error's.
    const requestIds = [
      refused.metadata.get("x-request-id"),
      (await broken).metadata.get("x-request-id") ?? head.get("x-request-id"),
    ];
    for (const requestId of requestIds) expect(requestId).toMatch(/^req_[2-9A-HJ-NP-Za-km-z]{22}$/);
  });

  describe("and a held call end at their caller's deadline", () => {
    /** In milliseconds of the real clock, which Connect uses. */
    const deadlineMs = 30;

    test("over Connect", async () => {
      const id = await rig.create();
      const headers = { ...key(), "connect-timeout-ms": `${deadlineMs}` };
      const stream = await send(path(watchTask), {
        headers: { ...headers, ...connect },
        body: json({ taskId: id }),
      });
      expect(envelopesIn(stream.bytes).at(-1)).toMatchObject({
        error: { code: "deadline_exceeded", message: "the operation timed out" },
      });
      const body = JSON.stringify({ taskId: id, waitSeconds: 60 });
      const held = await send(path(getTask), {
        headers: { ...headers, "content-type": "application/json" },
        body,
      });
      expect([held.status, held.json()["code"]]).toEqual([504, "deadline_exceeded"]);
    });

    test("over gRPC", async () => {
      const id = await rig.create();
      const headers = { ...key(), ...grpc, "grpc-timeout": `${deadlineMs}m` };
      const stream = await sendHttp2(path(watchTask), { headers, body: binary(id) });
      expect(stream.headers.get("grpc-status")).toBe(String(Code.DeadlineExceeded));
      const asked = toBinary(
        GetTaskRequestSchema,
        create(GetTaskRequestSchema, { taskId: id, waitSeconds: 60 }),
      );
      const held = await sendHttp2(path(getTask), { headers, body: framed(asked) });
      expect(held.headers.get("grpc-status")).toBe(String(Code.DeadlineExceeded));
      expect(rig.service.problems).toEqual([]);
    });
  });

  test("with one key in many streams costs the database no more per event than one stream", async () => {
    const id = await rig.create();
    const costOf = async () => {
      await rig.untilQuiet();
      const before = rig.statements();
      await rig.add(id);
      await rig.untilQuiet();
      return rig.statements() - before;
    };
    await rig.watch("sse", { taskId: id }).until(2);
    const one = await costOf();
    const watching = Array.from({ length: 20 }, (_, i) => rig.watch(i % 2 ? "grpc" : "sse", { taskId: id }));
    await Promise.all(watching.map(({ until }) => until(3)));
    expect(await costOf()).toBe(one);
  });
});
