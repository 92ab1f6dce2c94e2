import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { modelsFile } from "../../support/model/rig.ts";
import { openModelServer } from "../../support/model/server.ts";
import { taskRig } from "../../support/task-rig.ts";
import { until } from "../../support/until.ts";
import { watcher } from "../../support/watcher.ts";
import type { V2Body } from "../../support/wires.ts";
import { untilTrue } from "../../tasks/watch-rig.ts";

const server = await openModelServer("openai");
const file = modelsFile("openai", server, { limits: { steps: 3 } });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});

/** A step that continues, with any tools. */
const look = { calls: [{ name: "no_such_tool", input: {} }] };

describe("a message to an agent that works", () => {
  const rig = taskRig({
    env: { ...file.env, AGENT_PROFILES: `${file.env["AGENT_PROFILES"]},plain=offline` },
  });
  let before = 0;
  beforeEach(() => {
    before = server.requests.length;
  });
  const messages = (nth: number) => server.requests[before + nth - 1]?.messages ?? [];
  const said = (nth: number) =>
    messages(nth)
      .slice(1)
      .map(({ role, text }) => [role, text.replaceAll(/<\/?data-\w+>\n?/g, "").split("\n")[0]]);

  /** A task that waits for the answer to its first request, and what gives this answer. */
  async function working(replies: Parameters<typeof server.play>[0] & readonly object[]) {
    const first = Promise.withResolvers<void>();
    const [reply, ...more] = replies;
    server.play([{ ...(reply as typeof look), wait: first.promise }, ...(more as (typeof look)[])]);
    const id = await rig.create("Look around");
    await server.received(before + 1);
    return { id, answer: first.resolve };
  }
  const send = async (id: string, text: string, more: object = {}): Promise<V2Body> =>
    (await rig.ann.v2("task.sendMessage", { task_id: id, message: { content: text }, ...more })).body;
  const readSeq = async (id: string) => (await rig.ann.v2("task.detail", { task_id: id })).body["read_seq"];
  const results = async (id: string) =>
    (await rig.events(id)).flatMap(({ assistant_message: said }) =>
      said?.delivery_kind === "result" ? [said.content] : [],
    );

  test("is in the next request, behind the results of its step, and begins no turn", async () => {
    const { id, answer } = await working([look, { text: "Done, in green." }]);
    expect(await readSeq(id)).toBe(2);
    const reading = watcher(rig.service.url, rig.ann, "sse", { taskId: id, reads: true, untilSettled: true });
    const { warnings } = await send(id, "Make it green", { delivery: "next_call" });
    expect(warnings).toBeUndefined();
    await reading.until(3);
    expect(reading.reads).toEqual([2]);
    answer();
    await rig.reach(id, "stopped");
    expect(said(2)).toEqual([
      ["user", "Look around"],
      ["assistant", ""],
      ["tool", "There is no tool of this name."],
      ["user", "Make it green"],
    ]);
    expect(server.requests.length - before).toBe(2);
    expect(await results(id)).toEqual(["Done, in green."]);
    expect(await readSeq(id)).toBe(3);
    expect(await reading.end).toBe("ok");
    expect(reading.reads).toEqual([2, 3]);
    server.play([{ text: "Yes." }]);
    await rig.send(id, "Really?");
    await rig.reach(id, "stopped");
    expect(said(3).filter(([role]) => role === "user")).toEqual([
      ["user", "Look around"],
      ["user", "Make it green"],
      ["user", "Really?"],
    ]);
  });

  test("begins the next turn when it arrives during the last call, or is for the next turn, like those behind it", async () => {
    const { id, answer } = await working([look, { text: "Looked." }, { text: "Green and round." }]);
    await send(id, "Then make it green", { delivery: "next_turn" });
    await send(id, "And round");
    answer();
    await rig.reach(id, "stopped");
    expect(said(2).at(-1)?.[0]).toBe("tool");
    expect(messages(3).at(-1)?.text).toMatch(/^Then make it green\n\nAnd round\b/);
    expect(await results(id)).toEqual(["Looked.", "Green and round."]);
  });

  test("that brings a profile, a schema or skills for its turn begins the next one, and the answer says so", async () => {
    const { id, answer } = await working([{ text: "One." }, { text: "Two." }]);
    const { warnings } = await send(id, "In full", { agent_profile: "max", delivery: "next_call" });
    expect(warnings).toEqual([expect.stringMatching(/^delivery: .* starts the next turn$/)]);
    answer();
    await rig.reach(id, "stopped");
    expect(await results(id)).toEqual(["One.", "Two."]);
  });

  test("of an agent that cannot read while it works begins the next turn, and the answer says so when it was asked", async () => {
    const id = await rig.create("[[forever]]", { agent_profile: "plain" });
    await until(rig.service.store, id, ({ claims }) => claims > 0);
    expect((await send(id, "And this"))["warnings"]).toBeUndefined();
    expect((await send(id, "And that", { delivery: "next_call" }))["warnings"]).toEqual([
      expect.stringContaining("does not read messages while it works"),
    ]);
    await rig.ann.v2("task.stop", { task_id: id });
  });

  test("has its files: the model reads them in the same turn", async () => {
    const content = {
      type: "file",
      filename: "notes.txt",
      file_data: `data:text/plain;base64,${btoa("Green is a colour.")}`,
    };
    const read = { calls: [{ name: "read", input: { path: "inputs/notes.txt" } }] };
    const { id, answer } = await working([look, read, { text: "It is." }]);
    await rig.send(id, [{ type: "text", text: "See my notes" }, content]);
    answer();
    await rig.reach(id, "stopped");
    expect(messages(2).at(-1)?.text).toMatch(
      /^See my notes\n\n<environment>\nNew files of the user in your workspace: .*notes.txt/s,
    );
    expect(messages(3).at(-1)?.text).toContain("Green is a colour.");
  });

  test("is not read by a turn that has no step left: it begins the next one", async () => {
    const last = Promise.withResolvers<void>();
    const replies = [look, look, { ...look, wait: last.promise }, { text: "Green." }];
    const { id, answer } = await working(replies);
    answer();
    await server.received(before + 3);
    await send(id, "Make it green");
    last.resolve();
    await rig.reach(id, "stopped");
    expect((await rig.events(id)).filter(({ type }) => type === "error_message")).toHaveLength(1);
    expect(said(4).at(-1)).toEqual(["user", "Make it green"]);
    expect(await results(id)).toEqual(["Green."]);
  });

  test("that ends a wait for subtasks is read by the turn that has waited", async () => {
    const replies = [
      { calls: [{ name: "subagent", input: { prompt: "Look elsewhere" } }] },
      { calls: [{ name: "wait", input: {} }] },
      { text: "Then green without it." },
    ];
    server.play(({ messages: [, first, ...more] }) => {
      if (first?.text.startsWith("Look elsewhere")) return { silence: true };
      return replies[more.filter(({ role }) => role === "assistant").length] ?? { status: 418 };
    });
    const id = await rig.create("Look around");
    await untilTrue(async () => (await rig.row(id)).nodeId === "subtasks");
    await send(id, "Do not wait");
    await rig.reach(id, "stopped");
    expect(server.requests.at(-1)?.messages.at(-1)?.text).toMatch(/^Do not wait/);
    expect(await results(id)).toEqual(["Then green without it."]);
    expect(await readSeq(id)).toBe((await rig.row(id)).messageSeq);
    await rig.ann.v2("task.stop", { task_id: id });
  });
});
