import { expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { callingWith } from "../support/service.ts";
import { watchRig } from "../tasks/watch-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** spec/decisions.md 62. */
describeOnOne("a session that only calls use", (database) => {
  const rig = watchRig(database);
  async function signedIn() {
    const who = await rig.service.person();
    const session = await who.session();
    const calls = callingWith(session.headers, () => rig.service.url);
    const endsAt = async () =>
      Number(
        (await rowsIn(rig.db.url, `SELECT expires_at FROM session WHERE id = '${session.id}'`))[0]?.[
          "expires_at"
        ],
      );
    return { who, session, endsAt, calls, call: () => calls.client(ProjectService).listProjects({}) };
  }

  test("ends 30 days after the last call, written at most once an hour", async () => {
    const { endsAt, call } = await signedIn();
    const first = await endsAt();
    await rig.clock.leap(hourMs - 10_000);
    await call();
    await rig.clock.advance(10_000);
    expect(await endsAt()).toBe(first);
    await Promise.all([call(), call(), call()]);
    const usedAt = rig.clock.now();
    await rig.clock.advance(10_000);
    // The move wakes the write, which then runs.
    await expect.poll(endsAt, { timeout: 60_000 }).toBe(usedAt + 30 * dayMs);
  });

  test("is not extended by a stream that stays open", async () => {
    const { who, endsAt, calls } = await signedIn();
    const taskId = await rig.create(who);
    const watch = rig.watch("connect-json", { taskId }, calls);
    await watch.until(2);
    await rig.clock.advance(10_000);
    const first = await endsAt();
    for (let hour = 0; hour < 2; hour += 1) await rig.clock.leap(hourMs);
    await rig.clock.advance(10_000);
    expect(await endsAt()).toBe(first);
  });

  test("is not extended by an address of task.watchUrl that is opened", async () => {
    const { who, endsAt, calls } = await signedIn();
    await rig.clock.advance(10_000);
    const { url } = await calls
      .client(TaskService)
      .getWatchUrl({ taskId: await rig.create(who), ttlSeconds: 3600 });
    const first = await endsAt();
    await rig.clock.leap(hourMs - 5_000);
    const leave = new AbortController();
    const opened = await fetch(rig.service.url + url.replace("https://platform.test", ""), {
      signal: leave.signal,
    });
    leave.abort();
    await rig.clock.advance(10_000);
    expect([opened.status, await endsAt()]).toEqual([200, first]);
  });

  test("is not brought back by a use that is written after its end", async () => {
    const { session, endsAt } = await signedIn();
    const end = await endsAt();
    const { store } = rig.service;
    await store.change((tx) => tx.sessions.recordUse(session.id, end, hourMs));
    expect(await endsAt()).toBe(end);
    await store.change((tx) => tx.sessions.recordUse(session.id, end - 1, hourMs));
    expect(await endsAt()).toBe(end - 1 + 30 * dayMs);
    await store.change((tx) => tx.sessions.recordUse(session.id, end - dayMs, hourMs));
    expect(await endsAt()).toBe(end - 1 + 30 * dayMs);
  });
});
