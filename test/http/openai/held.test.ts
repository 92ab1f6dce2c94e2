import { describe, expect, test } from "vitest";
import { openService, type Person } from "../../support/service.ts";
import { untilTrue, watchRig } from "../../tasks/watch-rig.ts";
import { call, prefixes, readStream } from "./facade-rig.ts";

const limit = 2;

describe.each(prefixes)("POST %s/responses with an agent that does not end", (prefix) => {
  const rig = watchRig("sqlite", { WATCH_LIMIT: String(limit) });

  interface Sent {
    readonly status: number;
    readonly applied: string | null;
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects.
    readonly body: any;
  }

  async function send(
    who: Person,
    body: object,
    prefer?: string,
    signal: AbortSignal | null = null,
  ): Promise<Sent> {
    const headers = { API_KEY: who.key, ...(prefer === undefined ? {} : { Prefer: prefer }) };
    const sent = { method: "POST", headers, body: JSON.stringify({ input: "Hello", ...body }), signal };
    const answer = await fetch(`${rig.service.url}${prefix}/responses`, sent);
    return {
      status: answer.status,
      applied: answer.headers.get("preference-applied"),
      body: await answer.json(),
    };
  }

  /** Sends a create, and checks that it is held once its task exists. */
  async function untilHeld(
    who: Person,
    body: object,
    prefer?: string,
    signal?: AbortSignal,
  ): Promise<{ readonly answer: Promise<Sent> }> {
    const before = await tasksOf(who);
    const answer = send(who, body, prefer, signal);
    let isAnswered = false;
    answer.then(
      () => (isAnswered = true),
      () => undefined,
    );
    await untilTrue(async () => (await tasksOf(who)).length > before.length);
    await rig.untilQuiet();
    expect(isAnswered).toBe(false);
    return { answer };
  }

  const tasksOf = async (who: Person): Promise<readonly string[]> =>
    (await who.v2("task.list", { limit: 100 })).body["data"].map(({ id }: { id: string }) => id);

  test("holds it with background: false until the task does not run (spec/v1.md 7.2)", async () => {
    const who = await rig.service.person();
    const { answer } = await untilHeld(who, { background: false });
    const [id = ""] = await tasksOf(who);
    await rig.settle(id, "waiting");
    expect(await answer).toMatchObject({ status: 200, applied: null, body: { id, status: "pending" } });
  });

  test.each([
    { body: { background: false }, prefer: undefined, seconds: 50, applied: null },
    { body: {}, prefer: "wait=2", seconds: 2, applied: "wait=2" },
    { body: { background: false }, prefer: 'respond-async, wait="3"', seconds: 3, applied: "wait=3" },
    { body: {}, prefer: "wait=100000", seconds: 50, applied: "wait=100000" },
  ])("holds $body with Prefer: $prefer for $seconds s, and answers that the task runs", async ({
    body,
    prefer,
    seconds,
    applied,
  }) => {
    const who = await rig.service.person();
    const { answer } = await untilHeld(who, body, prefer);
    await rig.clock.advance(seconds * 1000 - 1);
    await rig.untilQuiet();
    await rig.clock.advance(1);
    expect(await answer).toMatchObject({ status: 200, applied, body: { status: "running" } });
  });

  test.each([
    { body: {}, prefer: undefined },
    { body: { background: true }, prefer: "wait=10" },
    { body: {}, prefer: "wait=0" },
    { body: {}, prefer: "wait=soon" },
    { body: {}, prefer: "wait=-1" },
    { body: {}, prefer: "wait" },
  ])("answers $body with Prefer: $prefer at once", async ({ body, prefer }) => {
    expect(await send(await rig.service.person(), body, prefer)).toMatchObject({
      status: 200,
      body: { status: "running" },
    });
  });

  test("streams at once with stream: true, also with background: false", async () => {
    const body = { input: "Hello", background: false, stream: true };
    const reading = readStream(rig.service.url, await rig.service.person(), `${prefix}/responses`, body);
    await reading.until(2);
    reading.close();
    await reading.end;
  });

  test("holds a follow-up", async () => {
    const who = await rig.service.person();
    const id = await rig.create(who);
    await rig.settle(id);
    const answer = send(who, { background: false, previous_response_id: id });
    await untilTrue(
      async () =>
        (await call(rig.service.url, who, "GET", `${prefix}/responses/${id}`)).body.status === "running",
    );
    await rig.untilQuiet();
    await rig.settle(id);
    expect(await answer).toMatchObject({ body: { id, status: "completed" } });
  });

  test("answers at once and creates one task when all of the account's slots are taken, and a caller that leaves frees its slot", async () => {
    const who = await rig.service.person();
    const away = new AbortController();
    const left = await untilHeld(who, { background: false }, undefined, away.signal);
    const held = await untilHeld(who, { background: false });
    expect(await send(who, { background: false })).toMatchObject({
      status: 200,
      body: { status: "running" },
    });
    expect(await tasksOf(who)).toHaveLength(limit + 1);
    away.abort();
    await expect(left.answer).rejects.toThrow();
    await rig.untilQuiet();
    const again = await untilHeld(who, { background: false });
    for (const id of await tasksOf(who)) await rig.settle(id);
    for (const { answer } of [held, again]) expect((await answer).body.status).toBe("completed");
  });

  test("refuses stream: true with 429 before the task is created when all of the account's slots are taken", async () => {
    const who = await rig.service.person();
    const stream = () =>
      readStream(rig.service.url, who, `${prefix}/responses`, { input: "Hello", stream: true });
    const [first, second] = [stream(), stream()];
    await Promise.all([first.until(2), second.until(2)]);
    expect(await stream().head).toMatchObject({ status: 429, body: { error: { type: "rate_limit_error" } } });
    expect(await tasksOf(who)).toHaveLength(limit);
    first.close();
    await first.end;
    await rig.untilQuiet();
    // A refused create gives its slot back too.
    expect(await call(rig.service.url, who, "POST", `${prefix}/responses`, { stream: true })).toMatchObject({
      status: 400,
    });
    expect(
      await call(rig.service.url, who, "POST", `${prefix}/responses`, {
        input: "Hi",
        stream: true,
        project_id: "none",
      }),
    ).toMatchObject({ status: 404 });
    await rig.untilQuiet();
    const third = stream();
    await third.until(2);
    for (const each of [second, third]) each.close();
    await Promise.all([second.end, third.end]);
  });

  test("answers 404 when the task is deleted while the create is held", async () => {
    const who = await rig.service.person();
    const { answer } = await untilHeld(who, { background: false });
    const [id = ""] = await tasksOf(who);
    await call(rig.service.url, who, "DELETE", `${prefix}/responses/${id}`);
    expect(await answer).toMatchObject({ status: 404, body: { error: { code: "not_found" } } });
  });
});

test("a process that drains answers held creates with the running response", async () => {
  await using service = await openService({ idle: true });
  const ann = await service.person();
  const answer = call(service.url, ann, "POST", "/responses", { input: "Hi", background: false });
  await untilTrue(async () => (await ann.v2("task.list", {})).body["data"].length > 0);
  await service.drain();
  expect(await answer).toMatchObject({ status: 200, body: { status: "running" } });
});

test("a held create keeps its share of BODY_MEMORY until it is answered", async () => {
  await using service = await openService({
    idle: true,
    env: { BODY_LIMIT: "64KiB", BODY_MEMORY: "128KiB" },
  });
  const ann = await service.person();
  const post = (more: object) =>
    call(service.url, ann, "POST", "/responses", { input: "Hi", user: "x".repeat(40_000), ...more });
  const held = post({ background: false });
  await untilTrue(async () => (await ann.v2("task.list", {})).body["data"].length > 0);
  expect((await post({})).status).toBe(503);
  const [{ id }] = (await ann.v2("task.list", {})).body["data"];
  await ann.v2("task.stop", { task_id: id });
  expect((await held).body.status).toBe("completed");
  expect((await post({})).status).toBe(200);
});
