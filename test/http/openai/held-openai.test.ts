import { request } from "node:http";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { Person } from "../../support/service.ts";
import { untilTrue, watchRig } from "../../tasks/watch-rig.ts";
import { call } from "./facade-rig.ts";

const limit = 2;

describe("a create in OpenAI's form with an agent that does not end", () => {
  const rig = watchRig("sqlite", { WATCH_LIMIT: String(limit), WAIT_SECONDS: "1" });

  const tasksOf = async (who: Person): Promise<readonly string[]> =>
    (await who.v2("task.list", { limit: 100 })).body["data"].map(({ id }: { id: string }) => id);

  /** Sends a create byte by byte, so that a test sees the head and the blanks before the answer. */
  function send({ key }: Person, body: object = {}, headers: Record<string, string> = {}) {
    const text = JSON.stringify({ input: "Hello", ...body });
    const sent = request(`${rig.service.url}/v1/responses`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, ...headers },
    });
    const seen = { status: 0, text: "", isOver: false };
    sent.on("response", (answer) => {
      seen.status = answer.statusCode ?? 0;
      answer.on("data", (bytes: Buffer) => (seen.text += String(bytes)));
      answer.on("end", () => (seen.isOver = true));
    });
    sent.on("error", () => undefined);
    sent.end(text);
    return { seen, leave: () => sent.destroy(), json: () => JSON.parse(seen.text) };
  }

  async function untilHeld(who: Person, body?: object, headers?: Record<string, string>) {
    const before = await tasksOf(who);
    const held = send(who, body, headers);
    await untilTrue(async () => (await tasksOf(who)).length > before.length);
    await rig.untilQuiet();
    expect(held.seen.isOver).toBe(false);
    const [id = ""] = (await tasksOf(who)).filter((each) => !before.includes(each));
    return { ...held, id };
  }

  /** Moves the clock by seconds, in steps in which everything that is due happens. */
  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      await rig.clock.advance(Math.min(left, 10) * 1000);
      await rig.untilQuiet();
    }
  }

  test("is held until the turn ends or waits, with any WAIT_SECONDS", async () => {
    for (const [status, word] of [
      ["stopped", "completed"],
      ["waiting", "incomplete"],
    ] as const) {
      const who = await rig.service.person();
      const held = await untilHeld(who);
      await pass(10);
      await rig.settle(held.id, status);
      await untilTrue(() => held.seen.isOver);
      expect([held.seen.status, held.json().id, held.json().status]).toEqual([200, held.id, word]);
      expect(held.seen.text.startsWith("{")).toBe(true);
    }
  });

  test("sends its head after 20 s of silence, a blank each 20 s, and the JSON at the end", async () => {
    const who = await rig.service.person();
    const held = await untilHeld(who);
    await pass(19);
    expect(held.seen).toEqual({ status: 0, text: "", isOver: false });
    await pass(1);
    await untilTrue(() => held.seen.text === " ");
    expect(held.seen.status).toBe(200);
    await pass(20);
    await untilTrue(() => held.seen.text === "  ");
    await pass(140);
    await rig.settle(held.id);
    await untilTrue(() => held.seen.isOver);
    expect(held.seen.text).toMatch(/^ {9}\{/);
    expect(held.json()).toMatchObject({ id: held.id, status: "completed" });
    expect(await tasksOf(who)).toEqual([held.id]);
  });

  test.each([
    { prefer: undefined, seconds: 600 },
    { prefer: "wait=30", seconds: 30 },
  ])("with Prefer: $prefer ends after $seconds s as in_progress with a warning", async ({
    prefer,
    seconds,
  }) => {
    const who = await rig.service.person();
    const held = await untilHeld(who, {}, prefer === undefined ? {} : { Prefer: prefer });
    await pass(seconds - 1);
    expect(held.seen.isOver).toBe(false);
    await pass(1);
    await untilTrue(() => held.seen.isOver);
    expect(held.json()).toMatchObject({
      status: "in_progress",
      metadata: { warnings: expect.stringContaining(`longer than ${seconds} s`) },
    });
  });

  test.each([
    [{ background: true }, {}],
    [{}, { Prefer: "wait=0" }],
  ])("%j with %j is answered at once", async (body, headers) => {
    const sent = send(await rig.service.person(), body, headers);
    await untilTrue(() => sent.seen.isOver);
    expect(sent.json()).toMatchObject({ status: "in_progress" });
    expect(sent.json().metadata.warnings).toBeUndefined();
  });

  test("above WATCH_LIMIT is answered at once with a warning, and a client that leaves ends its hold but not the task", async () => {
    const who = await rig.service.person();
    const [left, other] = [await untilHeld(who), await untilHeld(who)];
    const third = send(who);
    await untilTrue(() => third.seen.isOver);
    expect(third.json()).toMatchObject({
      status: "in_progress",
      metadata: { warnings: expect.stringContaining("WATCH_LIMIT") },
    });
    left.leave();
    await rig.untilQuiet();
    const again = await untilHeld(who);
    const { body } = await call(rig.service.url, who, "GET", `/v1/responses/${left.id}`);
    expect(body.status).toBe("running");
    for (const id of await tasksOf(who)) await rig.settle(id);
    await untilTrue(() => other.seen.isOver && again.seen.isOver);
  });

  test("whose task is deleted is 404 before its head, and a failed response behind it", async () => {
    const who = await rig.service.person();
    const early = await untilHeld(who);
    await rig.remove(early.id, who);
    await untilTrue(() => early.seen.isOver);
    expect(early.seen.status).toBe(404);
    const late = await untilHeld(who);
    await pass(20);
    await rig.remove(late.id, who);
    await untilTrue(() => late.seen.isOver);
    expect(late.json()).toMatchObject({
      id: late.id,
      status: "failed",
      error: { code: "not_found", type: "server_error" },
    });
  });

  test("by the SDK of OpenAI is one task after minutes", async () => {
    const who = await rig.service.person();
    const client = new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: who.key });
    const answer = client.responses.create({ model: "x", input: "Hello" });
    await untilTrue(async () => (await tasksOf(who)).length === 1);
    await rig.untilQuiet();
    await pass(180);
    const [id = ""] = await tasksOf(who);
    await rig.settle(id);
    expect(await answer).toMatchObject({ id, status: "completed" });
    expect(await tasksOf(who)).toEqual([id]);
  });
});
