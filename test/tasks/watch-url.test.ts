import { describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { framesIn } from "../support/event-stream.ts";
import type { Calling } from "../support/service.ts";
import { callingWith } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { watchRig } from "./watch-rig.ts";

/** spec/api.md 8.39, spec/decisions.md 61. */
describe("an address of task.watchUrl", () => {
  const rig = watchRig();
  const addressOf = async (task_id: string, more: object = {}, who: Calling = rig.ann): Promise<string> => {
    const { body } = await who.v2("task.watchUrl", { task_id, ...more });
    if (!body.ok) throw new Error(JSON.stringify(body));
    // The address has the public host of the installation.
    return rig.service.url + body["url"].replace("https://platform.test", "");
  };
  /** Opens an address and reads the first frames with these ids. */
  async function open(address: string, init: RequestInit = {}) {
    const leave = new AbortController();
    const reply = await fetch(address, { ...init, signal: leave.signal });
    const frames = framesIn(reply.body ?? new ReadableStream());
    const next = async () => {
      for await (const frame of { [Symbol.asyncIterator]: () => ({ next: () => frames.next() }) })
        if ("event" in frame) return frame;
      return null;
    };
    return { reply, next, close: () => leave.abort() };
  }
  const statusOf = async (address: string, init?: RequestInit) => {
    const { reply, close } = await open(address, init);
    close();
    return reply.status;
  };

  test("streams the task's events without a credential, with headers for a secret that every origin may open", async () => {
    const id = await rig.create();
    const { reply, next, close } = await open(await addressOf(id));
    expect([reply.status, (await next())?.lastEventId, (await next())?.lastEventId]).toEqual([200, "1", "2"]);
    await rig.add(id);
    expect((await next())?.lastEventId).toBe("3");
    close();
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "access-control-allow-origin": "*",
      "content-type": "text/event-stream; charset=utf-8",
    });
    expect(reply.headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("resumes after Last-Event-ID, or after_seq", async () => {
    const id = await rig.create();
    const address = await addressOf(id);
    for (const [at, init] of [
      [`${address}&after_seq=1`, {}],
      [`${address}&after_seq=0`, { headers: { "last-event-id": "1" } }],
    ] as const) {
      const { next, close } = await open(at, init);
      expect((await next())?.lastEventId).toBe("2");
      close();
    }
    expect(await statusOf(`${address}&after_seq=-1`)).toBe(400);
  });

  test("cannot be opened once it has expired, 10 minutes later by default; a stream that is open stays open", async () => {
    const id = await rig.create();
    const [usual, short] = [await addressOf(id), await addressOf(id, { ttl_seconds: 5 })];
    const { next, close } = await open(short);
    await rig.clock.advance(5_000);
    expect([await statusOf(short), await statusOf(usual)]).toEqual([404, 200]);
    await rig.add(id);
    for (const seq of ["1", "2", "3"]) expect((await next())?.lastEventId).toBe(seq);
    close();
    await rig.clock.leap(596_000);
    expect(await statusOf(usual)).toBe(404);
  });

  test("is 404 with one character changed, without its signature, and for another kind of signed link", async () => {
    const address = await addressOf(await rig.create());
    const token = new URL(address).searchParams.get("token") ?? "";
    const [grant = "", signature = ""] = token.split(".");
    const other = Buffer.from(
      JSON.stringify(JSON.parse(Buffer.from(grant, "base64url").toString()).with(4, 9e15)),
    ).toString("base64url");
    const changed = `${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`;
    for (const bad of [
      `${grant}.${changed}`,
      `${other}.${signature}`,
      grant,
      `${token}.`,
      `${token}=`,
      "",
      ".",
    ])
      expect(await statusOf(address.replace(token, bad))).toBe(404);
    expect(await statusOf(`${address}&token=${token}`)).toBe(404);
    expect(await statusOf(address, { method: "POST" })).toBe(405);
    expect(await statusOf(address.replace("/watches?", "/v2/task.watch?"))).toBe(401);
  });

  test("ends within 5 s after its key is revoked, and cannot be opened again", async () => {
    const who = await rig.service.person();
    const address = await addressOf(await rig.create(who), {}, who);
    const { next } = await open(address);
    for (const seq of ["1", "2"]) expect((await next())?.lastEventId).toBe(seq);
    await rig.service.store.change((tx) => tx.keys.revoke(who.keyId, rig.clock.now()));
    await rig.clock.advance(5_000);
    expect(await next()).toMatchObject({ event: "end", data: expect.stringContaining("permission_denied") });
    expect(await statusOf(address)).toBe(404);
  });

  test("ends with the session that made it", async () => {
    const who = await rig.service.person();
    const session = await who.session();
    const calls = callingWith(session.headers, () => rig.service.url).client(TaskService);
    const { url } = await calls.getWatchUrl({ taskId: await rig.create(who) });
    const address = rig.service.url + url.replace("https://platform.test", "");
    const { next } = await open(address);
    for (const seq of ["1", "2"]) expect((await next())?.lastEventId).toBe(seq);
    await rig.service.store.change((tx) => tx.sessions.end(session.id));
    await rig.clock.advance(5_000);
    expect(await next()).toMatchObject({ event: "end" });
    expect(await statusOf(address)).toBe(404);
  });

  test("of an app shows only what the app may see, until its grant ends", async () => {
    const app = await tokenOf(rig.service, rig.ann, { now: rig.clock.now() });
    const { body } = await app.v2("task.create", { message: { content: "Hello" } });
    const address = await addressOf(body["task_id"], {}, app);
    expect(await statusOf(address)).toBe(200);
    expect(await app.v2("task.watchUrl", { task_id: await rig.create() })).toMatchObject({ status: 404 });
    const [family] = JSON.parse(
      Buffer.from(new URL(address).searchParams.get("token")?.split(".")[0] ?? "", "base64url").toString(),
    ).slice(2);
    await rig.service.store.change((tx) => tx.families.revoke(family, rig.clock.now()));
    expect(await statusOf(address)).toBe(404);
  });

  test("is 404 after the task was deleted", async () => {
    const id = await rig.create();
    const address = await addressOf(id);
    await rig.remove(id);
    expect(await statusOf(address)).toBe(404);
  });

  test("counts against the account's limit of open watches", async () => {
    const who = await rig.service.person();
    const taskId = await rig.create(who);
    const address = await addressOf(taskId, {}, who);
    const watches = Array.from({ length: 100 }, () => rig.watch("connect-json", { taskId }, who));
    await Promise.all(watches.map((watch) => watch.until(2)));
    expect(await statusOf(address)).toBe(429);
  });

  test.each([0, 3601, 1.5])("is refused for %s seconds", async (ttl_seconds) => {
    expect(await rig.ann.v2("task.watchUrl", { task_id: await rig.create(), ttl_seconds })).toMatchObject({
      status: 400,
    });
  });
});
