import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WatchTaskRequestSchema } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { framesIn } from "../support/event-stream.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { watcher } from "../support/watcher.ts";
import { numbersUpTo, seqsOf, step } from "../tasks/watch-rig.ts";
import { framed } from "../wires/raw.ts";

/** Far more than the kernel buffers between two sockets hold. */
const events = 3_000;
const content = "x".repeat(10_000);

const rpc = "/task.v2.TaskService/WatchTask";

/** Opens a connection, requests a watch, and reads nothing. */
type OpenWatch = (url: string, person: Person, taskId: string) => Duplex;

const overHttp1 =
  (head: (taskId: string) => string, body: (taskId: string) => Buffer): OpenWatch =>
  (url, { key }, taskId) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      `${head(taskId)}\r\nHost: x\r\nx-service-api-key: ${key}\r\nContent-Length: ${body(taskId).length}\r\n\r\n`,
    );
    socket.write(body(taskId));
    return socket;
  };

const overHttp2 =
  (head: (taskId: string) => Record<string, string>, body: (taskId: string) => Buffer): OpenWatch =>
  (url, { key }, taskId) => {
    const session = connectHttp2(url);
    session.on("error", () => undefined);
    const stream = session.request({ ...head(taskId), "x-service-api-key": key });
    stream.once("close", () => session.destroy());
    // A GET has ended already.
    return stream.writableEnded ? stream : stream.end(body(taskId));
  };

const query = (taskId: string) => `/v2/task.watch?task_id=${taskId}&until_settled=true`;
const none = () => Buffer.alloc(0);
const json = (taskId: string) => framed(Buffer.from(JSON.stringify({ taskId })));
const binary = (taskId: string) =>
  framed(toBinary(WatchTaskRequestSchema, create(WatchTaskRequestSchema, { taskId })));

/** Reads the unread rest to the end. */
type ReadRest = (body: Duplex) => Promise<number[]>;

interface Wire {
  readonly wire: string;
  readonly openWatch: OpenWatch;
  readonly readRest?: ReadRest;
}

const wires: readonly Wire[] = [
  {
    wire: "server-sent events over HTTP/1.1",
    openWatch: overHttp1((taskId) => `GET ${query(taskId)} HTTP/1.1`, none),
  },
  {
    wire: "server-sent events over HTTP/2",
    openWatch: overHttp2((taskId) => ({ ":path": query(taskId) }), none),
    readRest: seqsIn,
  },
  {
    wire: "gRPC",
    openWatch: overHttp2(
      () => ({ ":method": "POST", ":path": rpc, "content-type": "application/grpc", te: "trailers" }),
      binary,
    ),
  },
  {
    wire: "Connect over HTTP/1.1",
    openWatch: overHttp1(() => `POST ${rpc} HTTP/1.1\r\nContent-Type: application/connect+json`, json),
  },
];

// In a short run one over HTTP/1.1 and one over HTTP/2.
describe.each(share(wires, 0, 2))("a watch over $wire whose client reads nothing", ({
  openWatch,
  readRest,
}) => {
  let db: TestStore;
  let stalling: Service;
  let other: Service;
  let ann: Person;
  /** Number of events that the stalled reader's service has read. */
  let read = 0;

  beforeAll(async () => {
    // Connect logs an error for a client that disconnects during a write.
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    db = await openTestStore("sqlite");
    const counting = storeWithFaults(db.store, "events", (rows) => ({
      async list(taskId, window) {
        const page = await rows.list(taskId, window);
        read += page.length;
        return page;
      },
    }));
    stalling = await openService({ over: { store: counting, url: db.url }, idle: true });
    other = await openService({ over: db, idle: true });
    ann = await stalling.person();
  });
  afterAll(async () => {
    await stalling[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
    vi.restoreAllMocks();
  });

  const write = (id: string, count: number, status?: "stopped") => {
    const statusLine = Array.from({ length: count }, () => step(content));
    return db.store.change((tx) =>
      tx.tasks.advance(id, { now: Date.now(), events: statusLine, ...(status ? { set: { status } } : {}) }),
    );
  };

  test("gets only what the sockets hold, delays no other watch, and gets every event in the end", async () => {
    const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
    const id = String(body["task_id"]);
    const stalled = openWatch(stalling.url, ann, id);
    stalled.on("error", () => undefined);
    const reads = watcher(other.url, ann, "sse", { taskId: id, untilSettled: true });
    await reads.until(2);
    for (let written = 0; written < events; written += 50) {
      await write(id, 50);
      await turn();
    }
    await reads.until(2 + events);
    // The stalled watch stays as it is: no new event moves it.
    let before = -1;
    for (let rounds = 0; before !== read; rounds += 1) {
      expect(rounds).toBeLessThan(20);
      before = read;
      await write(id, 10);
      for (let turns = 0; turns < 100; turns += 1) await turn();
    }
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(events / 2);
    const lastSeq = (await write(id, 1, "stopped"))?.task.lastSeq ?? 0;
    expect(await reads.end).toBe("ok");
    expect(seqsOf(reads)).toEqual(numbersUpTo(lastSeq));
    expect(read).toBe(before);

    const received = readRest && (await readRest(stalled));
    if (received) expect(received).toEqual(numbersUpTo(lastSeq));
    stalled.destroy();
    expect([...stalling.problems, ...other.problems]).toEqual([]);
  });
});

async function seqsIn(body: Duplex): Promise<number[]> {
  const found: number[] = [];
  for await (const frame of framesIn(body))
    if (!("comment" in frame) && frame.event !== "end") found.push(JSON.parse(frame.data).seq);
  return found;
}
