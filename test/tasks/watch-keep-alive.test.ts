import { describe, expect, test } from "vitest";
import { TaskService, type WatchTaskResponse } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { rpcWires } from "../support/wires.ts";
import { untilTrue, watchRig } from "./watch-rig.ts";

const silenceMs = 15_000;

describe.each(rpcWires)("a watch over %s", (wire) => {
  const rig = watchRig();
  /** One watch per account. */
  const narrow = watchRig("sqlite", { WATCH_LIMIT: "1" });

  /** Begins to watch after the first two events; the answers are read as they arrive. */
  function watch(taskId: string, keepAlive: boolean, on = rig) {
    const away = new AbortController();
    const untilReceived: WatchTaskResponse[] = [];
    const answers = on.ann
      .client(TaskService, wire)
      .watchTask({ taskId, afterSeq: 1, keepAlive }, { signal: away.signal });
    const end = (async () => {
      for await (const answer of answers) untilReceived.push(answer);
    })().catch(() => "gone");
    return { told: untilReceived, close: () => away.abort(), end };
  }
  const untilReceived = (watching: ReturnType<typeof watch>, count: number) =>
    untilTrue(() => watching.told.length === count);
  const seqsOf = (untilReceived: readonly WatchTaskResponse[]) =>
    untilReceived.map(({ event }) => event?.seq);

  test("with keep_alive sends an answer without an event after every 15 s of silence", async () => {
    const id = await rig.create();
    const { told: untilReceived, close, end } = watch(id, true);
    await untilTrue(() => untilReceived.length === 1);
    await rig.untilQuiet();
    await rig.clock.advance(silenceMs - 1);
    await rig.untilQuiet();
    expect(seqsOf(untilReceived)).toEqual([2]);
    await rig.clock.advance(1);
    await untilTrue(() => untilReceived.length === 2);
    await rig.untilQuiet();
    await rig.clock.advance(silenceMs);
    await untilTrue(() => untilReceived.length === 3);
    await rig.add(id);
    await untilTrue(() => untilReceived.length === 4);
    await rig.untilQuiet();
    await rig.clock.advance(silenceMs - 1);
    await rig.untilQuiet();
    expect(seqsOf(untilReceived)).toEqual([2, undefined, undefined, 3]);
    await rig.clock.advance(1);
    await untilTrue(() => untilReceived.length === 5);
    close();
    expect(await end).toBe("gone");
  });

  test("without it sends only events", async () => {
    const id = await rig.create();
    const { told: untilReceived, close, end } = watch(id, false);
    await untilTrue(() => untilReceived.length === 1);
    await rig.untilQuiet();
    await rig.clock.advance(4 * silenceMs);
    await rig.add(id);
    await untilTrue(() => untilReceived.length >= 2);
    expect(seqsOf(untilReceived)).toEqual([2, 3]);
    close();
    expect(await end).toBe("gone");
  });

  test("with keep_alive is released when its task is deleted and when its client disconnects", async () => {
    const [first, second, third] = [await narrow.create(), await narrow.create(), await narrow.create()];
    const deleted = watch(first, true, narrow);
    await untilReceived(deleted, 1);
    await narrow.untilQuiet();
    await narrow.clock.advance(silenceMs);
    await untilReceived(deleted, 2);
    await narrow.remove(first);
    await deleted.end;
    const left = watch(second, true, narrow);
    await untilReceived(left, 1);
    await narrow.untilQuiet();
    await narrow.clock.advance(silenceMs);
    await untilReceived(left, 2);
    left.close();
    await left.end;
    // The server notices it a little later.
    await untilTrue(async () => {
      const next = watch(third, true, narrow);
      await Promise.race([untilReceived(next, 1), next.end]);
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
      for await (const chunk of (reply.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()))
        text += chunk;
    })().catch(() => "gone");
    await untilTrue(() => text.includes("id: 2\n"));
    await rig.untilQuiet();
    const before = text;
    await rig.clock.advance(10_000);
    await untilTrue(() => text.length > before.length);
    await rig.untilQuiet();
    await rig.clock.advance(10_000);
    await untilTrue(() => text.length > before.length + 3);
    expect(text.slice(before.length)).toBe(":\n\n:\n\n");
    away.abort();
    await end;
  });
});
