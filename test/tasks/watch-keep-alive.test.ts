import { describe, expect, test } from "vitest";
import { TaskService, type WatchTaskResponse } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { rpcWires } from "../support/wires.ts";
import { soon, watchRig } from "./watch-rig.ts";

const silenceMs = 15_000;

describe.each(rpcWires)("a watch over %s", (wire) => {
  const rig = watchRig();
  /** With one place for each account. */
  const narrow = watchRig("sqlite", { WATCH_LIMIT: "1" });

  /** Begins to watch after the first two events; what was told is read as it comes. */
  function watch(taskId: string, keepAlive: boolean, on = rig) {
    const away = new AbortController();
    const told: WatchTaskResponse[] = [];
    const answers = on.ann.client(TaskService, wire).watchTask({ taskId, afterSeq: 1, keepAlive }, { signal: away.signal });
    const end = (async () => {
      for await (const answer of answers) told.push(answer);
    })().catch(() => "gone");
    return { told, close: () => away.abort(), end };
  }
  const told = (watching: ReturnType<typeof watch>, count: number) => soon(() => watching.told.length === count);
  const seqsOf = (told: readonly WatchTaskResponse[]) => told.map(({ event }) => event?.seq);

  test("with keep_alive has an answer without an event whenever nothing came for 15 s", async () => {
    const id = await rig.create();
    const { told, close, end } = watch(id, true);
    await soon(() => told.length === 1);
    await rig.quiet();
    await rig.clock.advance(silenceMs - 1);
    await rig.quiet();
    expect(seqsOf(told)).toEqual([2]);
    await rig.clock.advance(1);
    await soon(() => told.length === 2);
    await rig.quiet();
    await rig.clock.advance(silenceMs);
    await soon(() => told.length === 3);
    await rig.add(id);
    await soon(() => told.length === 4);
    await rig.quiet();
    await rig.clock.advance(silenceMs - 1);
    await rig.quiet();
    expect(seqsOf(told)).toEqual([2, undefined, undefined, 3]);
    await rig.clock.advance(1);
    await soon(() => told.length === 5);
    close();
    expect(await end).toBe("gone");
  });

  test("without it has events alone", async () => {
    const id = await rig.create();
    const { told, close, end } = watch(id, false);
    await soon(() => told.length === 1);
    await rig.quiet();
    await rig.clock.advance(4 * silenceMs);
    await rig.add(id);
    await soon(() => told.length >= 2);
    expect(seqsOf(told)).toEqual([2, 3]);
    close();
    expect(await end).toBe("gone");
  });

  test("with keep_alive gives its place back, when its task is gone and when its client is", async () => {
    const [first, second, third] = [await narrow.create(), await narrow.create(), await narrow.create()];
    const deleted = watch(first, true, narrow);
    await told(deleted, 1);
    await narrow.quiet();
    await narrow.clock.advance(silenceMs);
    await told(deleted, 2);
    await narrow.remove(first);
    await deleted.end;
    const left = watch(second, true, narrow);
    await told(left, 1);
    await narrow.quiet();
    await narrow.clock.advance(silenceMs);
    await told(left, 2);
    left.close();
    await left.end;
    // The server hears of it a little later.
    await soon(async () => {
      const next = watch(third, true, narrow);
      await Promise.race([told(next, 1), next.end]);
      next.close();
      return next.told.length === 1;
    });
  });
});

describe("server-sent events", () => {
  const rig = watchRig();

  test("are the same with keep_alive: events and comments", async () => {
    const id = await rig.create();
    const url = `${rig.service.url}/v2/task.watch?task_id=${id}&after_seq=1&keep_alive=true`;
    const away = new AbortController();
    const reply = await fetch(url, { headers: rig.ann.headers, signal: away.signal });
    let text = "";
    const end = (async () => {
      for await (const chunk of (reply.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) text += chunk;
    })().catch(() => "gone");
    await soon(() => text.includes("id: 2\n"));
    await rig.quiet();
    const before = text;
    await rig.clock.advance(10_000);
    await soon(() => text.length > before.length);
    await rig.quiet();
    await rig.clock.advance(10_000);
    await soon(() => text.length > before.length + 3);
    expect(text.slice(before.length)).toBe(":\n\n:\n\n");
    away.abort();
    await end;
  });
});
