import { Buffer } from "node:buffer";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { parseLive } from "../../src/core/tasks/live-messages.ts";
import { type LiveTexts, liveTexts } from "../../src/core/tasks/live-texts.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { answerAt, eventAt, type Network, network, shownBy } from "./live-texts-rig.ts";

const run = { taskId: "t", fence: 1, lastSeq: 2 };
const isDelta = (message: string) => parseLive(message)?.kind === "delta";

describe("live texts of one process", () => {
  let clock: StillClock;
  let texts: LiveTexts;
  beforeEach(() => {
    clock = stillClock();
    const { feed, stopped } = network().join();
    texts = liveTexts({ clock, feed, broadcast: null, stopped });
  });

  test("a watcher gets the parts in order, the first at once and further ones every 50 ms", async () => {
    const writer = texts.writer(run);
    const watcher = shownBy(texts.reader("t"));
    writer.begin("assistant_message");
    writer.write("One");
    expect(watcher.read()).toBe("One");
    writer.write(" two");
    writer.write(" three");
    await clock.advance(49);
    expect(watcher.read()).toBe("One");
    await clock.advance(1);
    expect(watcher.read()).toBe("One two three");
  });

  test("a worker's text is forwarded to its watchers up to 1 MiB, and the worker repeats nothing of the rest", () => {
    const head = { taskId: "t", key: "w", attempt: 1, type: "assistant_message", afterSeq: 2 } as const;
    expect(texts.isWatched("t")).toBe(false);
    const watcher = shownBy(texts.reader("t"));
    expect(texts.isWatched("t")).toBe(true);
    expect(texts.forward({ ...head, offset: 3, text: "two" })).toBe(0);
    expect(texts.forward({ ...head, offset: 0, text: "One" })).toBe(3);
    expect(texts.forward({ ...head, offset: 2, text: "e two" })).toBe(7);
    expect(watcher.read()).toBe("One two");
    const long = "€".repeat(400_000);
    expect(texts.forward({ ...head, offset: 7, text: long })).toBe(400_007);
    expect(texts.forward({ ...head, offset: 400_007, text: "!" })).toBe(400_008);
    expect(watcher.read()).toBe("One two");
  });

  test("a late watcher gets the text from its beginning, and one at the same place the same parts", async () => {
    const writer = texts.writer(run);
    const early = texts.reader("t");
    writer.begin("assistant_message");
    writer.write("So far");
    expect(shownBy(texts.reader("t")).read()).toBe("So far");
    expect(early.take(2)[0]).toBe(texts.reader("t").take(2)[0]);
  });

  test("a watcher gets a text only after the events before it", async () => {
    const writer = texts.writer(run);
    const watcher = shownBy(texts.reader("t"));
    writer.begin("assistant_message");
    writer.write("One");
    expect(watcher.read(1)).toBe("");
    expect(watcher.read(2)).toBe("One");
  });

  test("a text that begins before earlier events are written is shown after them", async () => {
    const writer = texts.writer(run);
    const reader = texts.reader("t");
    writer.pause(["tool_used"]);
    writer.begin("explanation");
    writer.write("Hm");
    expect(reader.take(9)).toEqual([]);
    writer.resume(5);
    expect(reader.take(4)).toEqual([]);
    expect(reader.take(5)).toMatchObject([{ key: "t5", text: "Hm", type: "explanation", afterSeq: 5 }]);
  });

  test("events of other types do not end a text", () => {
    const [watcher, writer] = [shownBy(texts.reader("t")), texts.writer(run)];
    writer.begin("assistant_message");
    writer.pause(["explanation", "tool_used"]);
    writer.write("One");
    expect(watcher.read()).toBe("One");
    writer.pause(["assistant_message"]);
    writer.write(" two");
    expect(watcher.read()).toBe("One");
  });

  test("a text that is begun again has the same key and a greater attempt", async () => {
    const reader = texts.reader("t");
    const writer = texts.writer(run);
    const first = () => reader.take(2)[0];
    writer.begin("assistant_message");
    writer.write("One");
    const before = first();
    writer.begin("assistant_message");
    writer.write("Two");
    const after = first();
    writer.close();
    const next = texts.writer({ ...run, fence: 2 });
    next.begin("assistant_message");
    next.write("Three");
    const last = first();
    expect([before, after, last]).toMatchObject([
      { text: "One" },
      { text: "Two", offset: 0 },
      { text: "Three", offset: 0 },
    ]);
    expect(new Set([before?.key, after?.key, last?.key]).size).toBe(1);
    expect(after?.attempt).toBeGreaterThan(before?.attempt ?? 0);
    expect(last?.attempt).toBeGreaterThan(after?.attempt ?? 0);
  });

  test("a run that was closed shows nothing more", async () => {
    const [reader, writer] = [texts.reader("t"), texts.writer(run)];
    writer.begin("assistant_message");
    writer.close();
    writer.begin("assistant_message");
    writer.write("One");
    expect(reader.take(2)).toEqual([]);
  });

  test("shows at most 1 MiB of a text, and never half a character", async () => {
    const [watcher, writer] = [shownBy(texts.reader("t")), texts.writer(run)];
    writer.begin("assistant_message");
    writer.write("\u{1f600}".slice(0, 1));
    expect(watcher.read()).toBe("");
    writer.write("\u{1f600}".slice(1));
    expect(watcher.read()).toBe("\u{1f600}");
    writer.write("é".repeat(500_000));
    await clock.advance(50);
    expect(watcher.read()).toHaveLength(500_002);
    writer.write("é".repeat(30_000));
    await clock.advance(50);
    expect(watcher.read()).toHaveLength(500_002);
  });
});

describe("live texts of several processes (spec/decisions.md 89)", () => {
  let clock: StillClock;
  let net: Network;
  let runner: LiveTexts;
  let other: LiveTexts;
  beforeEach(() => {
    clock = stillClock();
    net = network();
    [runner, other] = [liveTexts({ clock, ...net.join() }), liveTexts({ clock, ...net.join() })];
  });

  function begin(fence = 1) {
    const writer = runner.writer({ ...run, fence });
    writer.begin("assistant_message");
    return writer;
  }
  async function write(writer: ReturnType<typeof begin>, text: string) {
    writer.write(text);
    await clock.advance(50);
  }

  test("a text is sent only while another process has a watcher of its task", async () => {
    const writer = begin();
    await write(writer, "One");
    other.reader("u");
    await write(writer, " two");
    expect(net.sent.filter(isDelta)).toEqual([]);
    const reader = other.reader("t");
    await write(writer, " three");
    expect(shownBy(reader).read()).toBe("One two three");
    reader.close();
    await clock.advance(30_000);
    const before = net.sent.filter(isDelta).length;
    await write(writer, " four");
    expect(net.sent.filter(isDelta)).toHaveLength(before);
  });

  test("a watcher that stays is announced again, and a process that starts or reconnects asks for it", async () => {
    const watcher = shownBy(other.reader("t"));
    await clock.advance(60_000);
    const late = liveTexts({ clock, ...net.join() }).writer(run);
    late.begin("assistant_message");
    late.write("One");
    expect(watcher.read()).toBe("One");
  });

  test("sends messages of at most 4 KiB, at most one batch every 50 ms", async () => {
    const watcher = shownBy(other.reader("t"));
    const writer = begin();
    const text = '"\u0001é\u{1f600}\n'.repeat(2_000);
    writer.write("a");
    for (let i = 0; i < 10; i += 1) writer.write(text);
    expect(net.sent.filter(isDelta)).toHaveLength(1);
    await clock.advance(50);
    expect(watcher.read()).toBe(`a${text.repeat(10)}`);
    for (const message of net.sent) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
    for (const message of net.sent) expect(message.isWellFormed()).toBe(true);
  });

  test("a process that begins to watch gets the text so far from the runner", async () => {
    const writer = begin();
    await write(writer, "One");
    await write(writer, " two");
    const watcher = shownBy(other.reader("t"));
    await turn();
    expect(watcher.read()).toBe("One two");
    await write(writer, " three");
    expect(watcher.read()).toBe("One two three");
  });

  test("without an answer in 500 ms it shows nothing until the next text", async () => {
    const writer = begin();
    await write(writer, "One");
    net.lossy = true;
    const watcher = shownBy(other.reader("t"));
    await clock.advance(501);
    net.lossy = false;
    other.reader("u");
    await clock.advance(10_000);
    await write(writer, " two");
    // A third process asks, and its answer is too late for the first one.
    const third = shownBy(liveTexts({ clock, ...net.join() }).reader("t"));
    await clock.advance(50);
    expect([watcher.read(), third.read()]).toEqual(["", "One two"]);
    writer.pause(["assistant_message"]);
    writer.resume(3);
    writer.begin("assistant_message");
    await write(writer, "Next");
    expect(watcher.read(3)).toBe("Next");
  });

  test("after a gap it asks for the text once, and continues when it has all of it", async () => {
    const writer = begin();
    const watcher = shownBy(other.reader("t"));
    await write(writer, "One");
    expect(watcher.read()).toBe("One");
    net.lossy = true;
    await write(writer, " two");
    net.lossy = false;
    await write(writer, " three");
    await clock.advance(50);
    expect(watcher.read()).toBe("One two three");
  });

  test("a new attempt replaces the text, and parts of an older run are ignored", async () => {
    const watcher = shownBy(other.reader("t"));
    const old = begin(1);
    await write(old, "Old");
    const third = liveTexts({ clock, ...net.join() }).writer({ ...run, fence: 2 });
    await clock.advance(10_000);
    third.begin("assistant_message");
    third.write("New");
    await write(old, " and older");
    expect(watcher.read()).toBe("New");
  });

  test.each([
    ["the message", answerAt(3)],
    [
      "the end of the turn",
      eventAt(3, { type: "status_update", payload: { agentStatus: "stopped", brief: "" } }),
    ],
    ["an error", eventAt(3, { type: "error_message", payload: { errorType: "internal", content: "" } })],
  ])("nothing of a text arrives after %s", async (_what, event) => {
    const watcher = shownBy(other.reader("t"));
    const writer = begin();
    await write(writer, "One");
    other.replace(event);
    writer.write(" two");
    await clock.advance(50);
    expect(watcher.read(3)).toBe("");
  });

  test("a message of the user does not end a text", async () => {
    const watcher = shownBy(other.reader("t"));
    const writer = begin();
    await write(writer, "One");
    other.replace(eventAt(3, { type: "user_message", payload: { content: "Hm", messageType: "text" } }));
    await write(writer, " two");
    expect(watcher.read(3)).toBe("One two");
  });

  test.each([
    "",
    "[]",
    "{",
    '["delta"]',
    '["delta","t","m2",-1,"assistant_message",2,0,"x",false]',
    '["delta","t","m2",1,"tool_used",2,0,"x",false]',
    '["watched",[1],true]',
    '["later"]',
  ])("ignores a message of another release: %s", (message) => {
    expect(parseLive(message)).toBeNull();
  });
});
