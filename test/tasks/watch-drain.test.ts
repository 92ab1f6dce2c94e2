import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { watcher, watchWires } from "../support/watcher.ts";
import { clientOf } from "../support/wires.ts";
import { callerOf, wires } from "../wires/call.ts";
import { untilQuiet, untilTrue } from "./watch-rig.ts";

/** A platform with a running task of two events, without further changes. */
async function openPlatform() {
  const service = await openService({ idle: true, clock: stillClock() });
  const ann = await service.person();
  const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
  const statements = () => service.statements.length;
  let before = statements();
  /** Resolves once one more call has read, and all calls wait. */
  const untilWaiting = async () => {
    await untilTrue(() => statements() > before);
    await untilQuiet(statements);
    before = statements();
  };
  return { service, ann, id: String(body["task_id"]), untilWaiting };
}

describe("a draining process", () => {
  test.each(watchWires)("ends a watch over %s with unavailable, after its events", async (wire) => {
    const { service, ann, id, untilWaiting } = await openPlatform();
    await using _ = service;
    const watchWithEvents = watcher(service.url, ann, wire, { taskId: id });
    await watchWithEvents.until(2);
    await untilWaiting();
    const watchWithoutEvents = watcher(service.url, ann, wire, { taskId: id, afterSeq: 2 });
    await untilWaiting();
    await service.drain();
    for (const { end } of [watchWithEvents, watchWithoutEvents])
      expect(await end).toBe("unavailable: the server is stopping: call again");
    expect(service.problems).toEqual([]);
  });

  test("ends a watch of a task list with unavailable", async () => {
    const { service, ann, untilWaiting } = await openPlatform();
    await using _ = service;
    const changes = clientOf(TaskService, "grpc", service.url, ann.headers)
      .watchTasks({ follow: true })
      [Symbol.asyncIterator]();
    expect((await changes.next()).value).toMatchObject({ resync: true });
    await untilWaiting();
    await service.drain();
    await expect(changes.next()).rejects.toMatchObject({ rawMessage: "the server is stopping: call again" });
    expect(service.problems).toEqual([]);
  });

  test.each(wires)("answers a call held over %s immediately, with the state at that moment", async (wire) => {
    const { service, ann, id, untilWaiting } = await openPlatform();
    await using _ = service;
    const call = callerOf(service.url);
    const headers = { "x-service-api-key": ann.key };
    const ask = (name: string, query: Record<string, number>) => {
      const operation = operationTable().byName(name);
      if (!operation) throw new Error(`${name} is gone`);
      const json = { task_id: id, ...query };
      const sent =
        wire === "v2-get"
          ? Object.fromEntries(Object.entries(json).map(([key, value]) => [key, String(value)]))
          : json;
      return call(wire, operation, { headers, json: sent });
    };
    const running = ask("task.detail", { wait_seconds: 60 });
    await untilWaiting();
    const afterLast = ask("task.detail", { after_seq: 5, wait_seconds: 60 });
    await untilWaiting();
    const list = ask("task.listMessages", { after_seq: 2, wait_seconds: 60 });
    await untilWaiting();
    await service.drain();
    for (const { outcome, body } of await Promise.all([running, afterLast, list])) {
      expect([outcome, body]).toMatchObject(["ok", wire.startsWith("v2") ? { last_seq: 2 } : { lastSeq: 2 }]);
    }
  });

  test("waits at most DRAIN_SECONDS for a client that does not read", async () => {
    const { service, ann, id } = await openPlatform();
    await using _ = service;
    const { port } = new URL(service.url);
    const stalled = connect(Number(port), "127.0.0.1");
    const closed = once(stalled, "close");
    stalled.on("error", () => undefined);
    stalled.write(
      `GET /v2/task.watch?task_id=${id} HTTP/1.1\r\nHost: x\r\nx-service-api-key: ${ann.key}\r\n\r\n`,
    );
    const event = { type: "explanation", payload: { content: "x".repeat(100_000) } } as const;
    for (let round = 0; round < 10; round += 1) {
      await service.store.change((tx) =>
        tx.tasks.advance(id, { now: Date.now(), events: Array.from({ length: 20 }, () => event) }),
      );
    }
    await service.drain();
    stalled.resume();
    await closed;
  });
});
