import { Agent, EventSource, type MessageEvent } from "undici";
import { describe, expect, test } from "vitest";
import type { Person } from "../support/service.ts";
import { callV2 } from "../support/wires.ts";
import { type RawRequest, send, sendHttp2 } from "../wires/raw.ts";
import { numbersUpTo, seqsOf, watchRig } from "./watch-rig.ts";

const keepAliveMs = 10_000;

describe("server-sent events", () => {
  const rig = watchRig();
  const path = (query: object) =>
    `${rig.service.url}/v2/task.watch?${new URLSearchParams(query as Record<string, string>)}`;
  const head = (headers: RawRequest["headers"] = {}) => ({
    method: "GET",
    headers: { "x-service-api-key": rig.ann.key, ...headers },
  });

  /** A settled task with four events. */
  async function createSettledTask(): Promise<string> {
    const id = await rig.create();
    await rig.settle(id);
    return id;
  }

  test("are frames of id, event and data, then an end without an id", async () => {
    const id = await createSettledTask();
    const { text, headers } = await send(path({ task_id: id, after_seq: 2, until_settled: true }), head());
    const { body } = await rig.ann.v2("task.listMessages", {
      task_id: id,
      verbose: true,
      order: "asc",
      after_seq: 2,
    });
    const [third, fourth] = body["messages"];
    expect(text).toBe(
      [
        ":\n\n",
        `id: 3\nevent: status_update\ndata: ${JSON.stringify(third)}\n\n`,
        `id: 4\nevent: structured_output_result\ndata: ${JSON.stringify(fourth)}\n\n`,
        `event: end\ndata: {"ok":true,"request_id":"${headers.get("x-request-id")}"}\n\n`,
      ].join(""),
    );
  });

  test.each([
    ["HTTP/1.1", send],
    ["HTTP/2", sendHttp2],
  ])("have headers over %s that prevent buffering and caching", async (_what, over) => {
    const reply = await over(path({ task_id: await createSettledTask(), until_settled: true }), head());
    expect(reply.status).toBe(200);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-request-id": expect.stringMatching(/^req_/),
    });
  });

  test("begin immediately with the headers and a comment, even without an event", async () => {
    const watch = rig.watch("sse", { taskId: await rig.create(), afterSeq: 2 });
    expect((await watch.headers).get("content-type")).toMatch(/^text\/event-stream/);
    await rig.untilQuiet();
    expect(watch.comments).toEqual([""]);
  });

  test("have a comment after every 10 s without an event, and only then", async () => {
    const id = await rig.create();
    const watch = rig.watch("sse", { taskId: id, afterSeq: 2 });
    await watch.headers;
    const commentsIn = async (ms: number) => {
      await rig.untilQuiet();
      await rig.clock.advance(ms);
      await rig.untilQuiet();
      return watch.comments.length;
    };
    expect([await commentsIn(keepAliveMs - 1), await commentsIn(1)]).toEqual([1, 2]);
    expect([await commentsIn(keepAliveMs - 1), await commentsIn(1)]).toEqual([2, 3]);
    await commentsIn(6_000);
    await rig.add(id);
    expect([await commentsIn(keepAliveMs - 1), await commentsIn(1)]).toEqual([3, 4]);
    expect(watch.events).toHaveLength(1);
  });

  describe("with Last-Event-ID", () => {
    test.each([
      "sse",
      "sse-post",
      "sse-http2",
    ] as const)("continue after it, for any after_seq, over %s", async (wire) => {
      const id = await createSettledTask();
      const watch = rig.watch(wire, { taskId: id, afterSeq: 1, lastEventId: "3", untilSettled: true });
      expect(await watch.end).toBe("ok");
      expect(seqsOf(watch)).toEqual([4]);
    });

    test.each(["0", "00"])("%s begin with the first", async (lastEventId) => {
      const watch = rig.watch("sse", {
        taskId: await createSettledTask(),
        afterSeq: 3,
        lastEventId,
        untilSettled: true,
      });
      expect(await watch.end).toBe("ok");
      expect(seqsOf(watch)).toEqual(numbersUpTo(4));
    });

    test("continue after after_seq if it is empty", async () => {
      const watch = rig.watch("sse", {
        taskId: await createSettledTask(),
        afterSeq: 3,
        lastEventId: "",
        untilSettled: true,
      });
      expect(await watch.end).toBe("ok");
      expect(seqsOf(watch)).toEqual([4]);
    });

    test("wait for events after the largest number", async () => {
      const watch = rig.watch("sse", { taskId: await createSettledTask(), lastEventId: "2147483647" });
      expect((await watch.headers).get("content-type")).toMatch(/^text\/event-stream/);
    });

    test.each([
      "-1",
      "1.5",
      "1e3",
      "0x1",
      "abc",
      "1 2",
      "1, 2",
      "2147483648",
      "99999999999999999999",
      "ev_1",
      "٣",
      "\u00a03",
    ])("%j are refused", async (lastEventId) => {
      const task_id = await createSettledTask();
      const latin1 = Buffer.from(lastEventId).toString("latin1");
      const { status, json } = await send(path({ task_id, after_seq: 1 }), head({ "last-event-id": latin1 }));
      expect(status).toBe(400);
      expect(json().error).toMatchObject({
        code: "invalid_argument",
        message: "Last-Event-ID: must be a whole number from 0 to 2147483647",
      });
    });

    test("do not hide an error in after_seq", async () => {
      const { json } = await send(
        path({ task_id: await createSettledTask(), after_seq: "x" }),
        head({ "last-event-id": "1" }),
      );
      expect(json().error).toMatchObject({
        code: "invalid_argument",
        message: "after_seq: must be a whole number",
      });
    });
  });

  test("without any event are 204, without a body", async () => {
    const id = await createSettledTask();
    for (const over of [send, sendHttp2]) {
      const reply = await over(path({ task_id: id, until_settled: true }), head({ "last-event-id": "4" }));
      expect([reply.status, reply.text, reply.headers.get("content-type")]).toEqual([204, "", null]);
      expect(reply.headers.get("x-request-id")).toMatch(/^req_/);
      expect(reply.headers.get("cache-control")).toBe("no-store");
    }
  });

  test.each(["PUT", "DELETE", "PATCH"])("refuse %s", async (method) => {
    const { status, headers } = await send(path({ task_id: "x" }), { ...head(), method });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  });

  test("are refused before the first byte like any v2 call", async () => {
    const refused = async (query: object, headers: Record<string, string>) => {
      const { status, json, headers: given } = await send(path(query), { method: "GET", headers });
      expect(given.get("content-type")).toBe("application/json; charset=utf-8");
      expect(json().request_id).toBe(given.get("x-request-id"));
      return `${status} ${json().error?.code}: ${json().error?.message}`;
    };
    const key = { "x-service-api-key": rig.ann.key };
    expect(await refused({ task_id: "x" }, {})).toMatch(/^401 permission_denied: /);
    expect(await refused({ task_id: "x" }, key)).toBe("404 not_found: task not found");
    expect(await refused({}, key)).toMatch(/^400 invalid_argument: task_id: /);
    expect(await refused({ task_id: "x", until_settled: "yes" }, key)).toMatch(
      /^400 invalid_argument: until_settled: /,
    );
  });

  test("end when an HTTP/2 client cancels, as with other clients", async () => {
    const id = await rig.create();
    const watch = rig.watch("sse-http2", { taskId: id });
    await watch.until(2);
    watch.close();
    await watch.end;
    await rig.add(id);
    await rig.untilQuiet();
    expect(rig.service.problems).toEqual([]);
  });

  describe("to an EventSource", () => {
    /** Like a browser behind a proxy that adds the key. */
    const sourceOf = (person: Person, query: object) => {
      const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
        const headers = [...Object.entries(options.headers ?? {}), ["x-service-api-key", person.key]];
        return dispatch({ ...options, headers: Object.fromEntries(headers) }, handler);
      });
      return new EventSource(path(query), { node: { dispatcher, reconnectionTime: 1 } });
    };

    test("arrive once each, and it does not reconnect once the task is settled", async () => {
      const id = await rig.create();
      const types = ["user_message", "status_update", "explanation", "structured_output_result", "end"];
      const told: string[] = [];
      const source = sourceOf(rig.ann, { task_id: id, until_settled: true });
      const stopped = Promise.withResolvers<void>();
      for (const type of types) {
        source.addEventListener(type, (event) => {
          // Events that a source dispatches under a name of the server's always have this type.
          const { data, lastEventId } = event as MessageEvent;
          told.push(type === "end" ? `end ${JSON.parse(data).ok} ${lastEventId}` : lastEventId);
        });
      }
      source.addEventListener("error", () => source.readyState === source.CLOSED && stopped.resolve());
      await rig.add(id, 2);
      await rig.settle(id);
      await stopped.promise;
      expect(told).toEqual(["1", "2", "3", "4", "5", "6", "end true 6"]);
    });
  });

  test("give callV2 the envelope of their end", async () => {
    const key = { "x-service-api-key": rig.ann.key };
    const { status, body } = await callV2(
      rig.service.url,
      "task.watch",
      { task_id: await createSettledTask(), until_settled: true },
      { headers: key },
    );
    expect([status, body.ok]).toEqual([200, true]);
  });
});
