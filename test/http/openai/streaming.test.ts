import { afterEach, describe, expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { untilTrue, watchRig } from "../../tasks/watch-rig.ts";
import { call, prefixes, readStream, type StreamReader } from "./facade-rig.ts";

const limit = 2;
/** created, in_progress, the answer, the structured output of the turn, and its end. */
const turnLength = 15;

describe.each(prefixes)("a stream below %j", (prefix) => {
  const rig = watchRig("sqlite", { WATCH_LIMIT: String(limit) });
  const open = new Set<StreamReader>();
  afterEach(async () => {
    for (const { close } of open) close();
    await Promise.all([...open].map(({ end }) => end));
    await rig.untilQuiet();
    open.clear();
  });

  function stream(id: string, query = "", who = rig.ann): StreamReader {
    const reading = readStream(rig.service.url, who, `${prefix}/responses/${id}?stream=true${query}`);
    open.add(reading);
    return reading;
  }

  /** Events of the agent, written without an agent. */
  const write = (id: string, ...events: NewEvent[]) =>
    rig.db.store.change((tx) => tx.tasks.advance(id, { now: rig.clock.now(), set: {}, events }));
  const says = (content: string) =>
    ({ type: "assistant_message", payload: { content, deliveryKind: "result" } }) as const;

  /** One more turn of an idle task. */
  async function turn(id: string, text: string): Promise<void> {
    await call(rig.service.url, rig.ann, "POST", `${prefix}/responses`, {
      input: text,
      previous_response_id: id,
    });
    await write(id, says(`${text}!`));
    await rig.settle(id);
  }

  /** A task with finished turns. */
  async function turns(count: number): Promise<string> {
    const id = await rig.create();
    await write(id, says("1!"));
    await rig.settle(id);
    for (let n = 2; n <= count; n += 1) await turn(id, `${n}`);
    return id;
  }

  const numbers = (events: readonly { readonly sequence_number: number }[]) =>
    events.map(({ sequence_number }) => sequence_number);
  const from = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);

  test("is server-sent events, each named by its type, with the complete object", async () => {
    const id = await turns(1);
    const reading = stream(id);
    const { status, headers } = await reading.head;
    expect([status, headers.get("x-accel-buffering"), headers.get("cache-control")]).toEqual([
      200,
      "no",
      "no-store",
    ]);
    expect(headers.get("x-request-id")).not.toBeNull();
    const events = await reading.end;
    expect(events.map(({ type }) => type)).toEqual(events.map(({ named }) => named));
    expect(numbers(events)).toEqual(from(0, turnLength));
    const { body } = await call(rig.service.url, rig.ann, "GET", `${prefix}/responses/${id}`);
    expect(events.at(-1)?.["response"]).toEqual(body);
    expect(events[0]?.["response"]).toEqual({ ...body, status: "running", output: body.output.slice(0, 1) });
  });

  test("sends events as they happen, including the user's messages but no verbose events, and ends with the turn", async () => {
    const id = await rig.create();
    const reading = stream(id);
    await reading.until(2);
    await write(id, { type: "explanation", payload: { content: "Hm" } }, says("One"));
    await reading.until(8);
    await call(rig.service.url, rig.ann, "POST", `${prefix}/responses`, { input: "And?", task_id: id });
    await reading.until(12);
    await rig.settle(id);
    const events = await reading.end;
    expect(numbers(events)).toEqual(from(0, 19));
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done.map(({ output_index, item }) => [output_index, item.role])).toEqual([
      [1, "assistant"],
      [2, "user"],
      [3, "assistant"],
    ]);
    expect(events.at(-1)?.type).toBe("response.completed");
  });

  test("begins at the newest turn, with the number after the earlier turns", async () => {
    const events = await stream(await turns(3)).end;
    expect(numbers(events)).toEqual(from(2 * turnLength, 3 * turnLength));
  });

  test("begins after any number, and ends with the turn of that number", async () => {
    const id = await turns(2);
    const all = [
      ...(await stream(id, "&starting_after=0").end),
      ...(await stream(id, `&starting_after=${turnLength - 1}`).end),
    ];
    expect(numbers(all)).toEqual(from(1, 2 * turnLength));
    for (const after of from(0, 2 * turnLength - 1)) {
      const events = await stream(id, `&starting_after=${after}`).end;
      const rest = all.slice(after);
      expect(events).toEqual(rest.slice(0, after < turnLength - 1 ? turnLength - 1 - after : rest.length));
    }
  });

  test("that continues after the last number is empty for an idle task, and waits for a running one", async () => {
    const id = await turns(1);
    const rested = stream(id, `&starting_after=${turnLength - 1}`);
    expect((await rested.head).status).toBe(200);
    expect(await rested.end).toEqual([]);
    const running = await rig.create();
    const waiting = stream(running, "&starting_after=1");
    expect((await waiting.head).status).toBe(200);
    await write(running, says("Late"));
    await waiting.until(1);
    expect(waiting.events[0]?.sequence_number).toBe(2);
  });

  test.each([
    "2",
    "1000000",
    "-1",
    "1.5",
    "x",
    "",
    "1&starting_after=2",
    "99999999999",
  ])("is refused for starting_after=%s of a task with numbers 0 and 1", async (after) => {
    const { status, body } = await stream(await rig.create(), `&starting_after=${after}`).head;
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 3, error: { param: "starting_after" } });
  });

  test("is refused in plain JSON where the task is not the caller's, and for an invalid boolean", async () => {
    const bo = await rig.service.person();
    expect(await stream(await rig.create(), "", bo).head).toMatchObject({
      status: 404,
      body: { error: { type: "not_found_error" } },
    });
    expect(
      await call(rig.service.url, rig.ann, "GET", `${prefix}/responses/${await rig.create()}?stream=maybe`),
    ).toMatchObject({
      status: 400,
    });
  });

  test("is kept open by comments while nothing happens", async () => {
    const reading = stream(await rig.create());
    await reading.until(2);
    const before = reading.comments.length;
    await rig.clock.advance(10_000);
    await untilTrue(() => reading.comments.length > before);
    expect(reading.events).toHaveLength(2);
  });

  test("takes one of the account's slots, and releases it when its reader disconnects, at its end, and after a refusal", async () => {
    const bo = await rig.service.person();
    const id = await rig.create(bo);
    const mine = [stream(id, "", bo), stream(id, "", bo)];
    await Promise.all(mine.map(({ until }) => until(2)));
    const refused = await stream(id, "", bo).head;
    expect(refused).toMatchObject({ status: 429, body: { code: 8, error: { type: "rate_limit_error" } } });
    mine[0]?.close();
    await mine[0]?.end;
    await rig.untilQuiet();
    const next = stream(id, "", bo);
    await next.until(2);
    await rig.settle(id);
    await Promise.all([mine[1]?.end, next.end]);
    for (let n = 0; n <= limit; n += 1)
      expect((await stream(id, "&starting_after=1000", bo).head).status).toBe(400);
    const running = await rig.create(bo);
    await Promise.all([stream(running, "", bo), stream(running, "", bo)].map(({ until }) => until(2)));
  });

  test("of a task that is deleted during the stream ends with an error, which uses no number of the task", async () => {
    const id = await rig.create();
    const reading = stream(id);
    await reading.until(2);
    const path = `${prefix}/responses/${id}`;
    expect((await call(rig.service.url, rig.ann, "DELETE", path)).body).toEqual({
      id,
      object: "response.deleted",
      deleted: true,
    });
    expect((await reading.end).at(-1)).toMatchObject({
      type: "error",
      named: "error",
      sequence_number: 1,
      code: "not_found",
      message: "task not found",
      param: null,
    });
  });

  test("begins with the turn that a POST begins, regardless of earlier turns", async () => {
    const id = await turns(1);
    const reading = readStream(rig.service.url, rig.ann, `${prefix}/responses`, {
      input: "Again",
      previous_response_id: id,
      stream: true,
    });
    open.add(reading);
    await reading.until(2);
    await rig.settle(id);
    const events = await reading.end;
    expect(numbers(events)).toEqual(from(turnLength, turnLength + 9));
    expect(events[0]?.["response"].output).toHaveLength(4);
  });

  test("of a POST that is refused is plain JSON", async () => {
    const reading = readStream(rig.service.url, rig.ann, `${prefix}/responses`, { input: "", stream: true });
    expect(await reading.head).toMatchObject({ status: 400, body: { error: { param: "input" } } });
  });
});
