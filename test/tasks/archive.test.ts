import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { removeLegalHold } from "../../src/core/erasure/legal-holds.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { reencrypt } from "../../src/core/processes/re-encrypt.ts";
import { segmentReader } from "../../src/core/tasks/segment-file.ts";
import { openStore } from "../../src/store/open.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { allPages, archivePasses, dayMs, putTask, readings, turn } from "./archive-rig.ts";

describeOnOne("the archive", (kind) => {
  let platform: FilePlatform;
  let ann: Person;
  let archive: ReturnType<typeof archivePasses>;
  beforeAll(async () => {
    platform = await openFilePlatform(kind);
    ann = await platform.service.person();
    archive = archivePasses(platform.service.store, createLocalBlobs(platform.folder));
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  const put = (steps: number, bytes?: number) => putTask(platform.service.store, ann, turn(steps, bytes));
  const rows = (sql: string) => runDirectly(platform.database, sql);
  const segments = (id: string) =>
    rows(
      `SELECT first_seq, last_seq, events, blob_id FROM event_segment WHERE task_id = '${id}' ORDER BY first_seq`,
    );
  const whole = (id: string) => ({ task_id: id, order: "asc", verbose: true, limit: 200 });
  const listed = async (id: string) => (await ann.v2("task.listMessages", whole(id))).body["messages"];
  const typesOf = async (id: string) => new Set((await listed(id)).map(({ type }: { type: string }) => type));

  const window = { order: "asc", limit: 5_000, verbose: true } as const;
  const exported = async (id: string) => {
    let [count, after] = [0, 0];
    for (let page = await nextPage(id, after); page.length > 0; page = await nextPage(id, after)) {
      count += page.length;
      after = page.at(-1)?.seq ?? 0;
    }
    return count;
  };
  const nextPage = (id: string, after: number) => platform.service.store.archives.events(id, after, 100_000);
  const sweepNow = (clock: Clock = systemClock) => {
    const { store } = platform.service;
    const parts = {
      changeBytes: store.change,
      blobs: createLocalBlobs(platform.folder),
      clock,
      log: () => undefined,
    };
    return fileSweep(parts).sweep(new AbortController().signal);
  };

  test("every way of reading returns the same before and after, over several segments", async () => {
    const { store } = platform.service;
    const id = await put(1_400);
    const before = await readings(platform.service, ann, id, kind);
    expect(before["pages asc true"]).toContain("walnuts");
    await archive();
    const found = await segments(id);
    expect(found.length).toBeGreaterThan(1);
    const left = await rows(`SELECT DISTINCT type FROM task_event WHERE task_id = '${id}' ORDER BY type`);
    expect(left.map(({ type }) => type)).toEqual([
      "assistant_message",
      "structured_output_result",
      "user_message",
    ]);
    expect(await readings(platform.service, ann, id, kind)).toEqual(before);

    // A turn after the archive has rows, and a later pass moves them too.
    await store.change((tx) => tx.tasks.advance(id, { now: Date.now(), events: turn(300).slice(1) }));
    const continued = await allPages(ann, whole(id));
    await archive();
    expect((await segments(id)).length).toBe(found.length + 1);
    expect(await allPages(ann, whole(id))).toEqual(continued);
  });

  test("a page is complete while the archive moves its events", async () => {
    const { store } = platform.service;
    const id = await put(1_300);
    const length = (await store.events.list(id, window)).length;
    const counts: number[] = [];
    let isOver = false;
    const read = async () => {
      while (!isOver) {
        // SQLite answers at once: the archive needs turns too.
        await nextTurn();
        const events = await store.events.list(id, window);
        counts.push(new Set(events.map(({ seq }) => seq)).size, events.length, await exported(id));
      }
    };
    const reading = [read(), read(), read()];
    await archive();
    isOver = true;
    await Promise.all(reading);
    expect((await segments(id)).length).toBe(2);
    expect(new Set(counts)).toEqual(new Set([length]));
  });

  test("two passes at the same time move every event once", async () => {
    const id = await put(1_300);
    const before = await listed(id);
    await Promise.all([archive(), archive()]);
    expect((await segments(id)).map(({ events }) => Number(events))).toEqual([1_000, expect.any(Number)]);
    expect(await listed(id)).toEqual(before);
    // What the slower pass wrote is deleted, by it or by the sweep of files.
    await expect
      .poll(async () =>
        Number((await rows("SELECT COUNT(*) AS n FROM blob WHERE state <> 'kept'"))[0]?.["n"]),
      )
      .toBe(0);
    expect(platform.stored().length).toBe(
      Number((await rows("SELECT COUNT(*) AS n FROM event_segment"))[0]?.["n"]),
    );
  });

  test("a task that is continued while its file is written keeps its rows", async () => {
    const { store } = platform.service;
    const id = await put(400);
    const nextRows: typeof store.segments.nextRows = async (taskId) => {
      const found = await store.segments.nextRows(taskId);
      if (taskId === id)
        await store.change((tx) =>
          tx.tasks.advance(id, { now: Date.now() + 1, set: { title: "Changed" }, events: [] }),
        );
      return found;
    };
    const racing = { ...store, segments: { ...store.segments, nextRows } };
    await archivePasses(racing, createLocalBlobs(platform.folder), 200)();
    expect(await segments(id)).toEqual([]);
  });

  test("a process that dies between a file and its row loses no event: the file is deleted later, and the next pass writes another", async () => {
    const { store } = platform.service;
    const id = await put(400);
    const before = await listed(id);
    const files = platform.stored().length;
    const blobs = createLocalBlobs(platform.folder);
    let isDead = false;
    const unlessDead = <T>(work: () => Promise<T>): Promise<T> =>
      isDead ? Promise.reject(new Error("the process is dead")) : work();
    const die = async (): Promise<never> => {
      isDead = true;
      throw new Error("the process is dead");
    };
    const change: typeof store.change = (work) =>
      unlessDead(() => store.change((tx) => work({ ...tx, segments: { ...tx.segments, insert: die } })));
    const dying = archivePasses(
      { ...store, change },
      { ...blobs, remove: (each) => unlessDead(() => blobs.remove(each)) },
      300,
    );
    await expect(dying()).rejects.toThrow("the process is dead");
    expect([platform.stored().length, await segments(id), await listed(id)]).toEqual([files + 1, [], before]);

    await sweepNow(stillClock(Date.now() + 500 * dayMs));
    await expect.poll(() => platform.stored().length).toBe(files);
    await archive();
    expect([(await segments(id)).length, await listed(id)]).toEqual([1, before]);
  });

  test("a file that is missing or damaged is an error of the call and of the log, and never a shorter list", async () => {
    const id = await put(400);
    await archive();
    const [segment] = await segments(id);
    const path = join(
      platform.folder,
      platform.stored().find((each) => each.endsWith(String(segment?.["blob_id"]))) ?? "",
    );
    const bytes = readFileSync(path);
    const list = () => ann.v2("task.listMessages", { task_id: id, verbose: true });
    const refusal = {
      status: 500,
      body: { error: { code: "internal", message: expect.stringContaining("archived events") } },
    };
    writeFileSync(path, bytes.with(100, (bytes[100] ?? 0) ^ 1));
    expect(await list()).toMatchObject(refusal);
    rmSync(path);
    expect(await list()).toMatchObject(refusal);
    expect(platform.service.problems.map(({ text }) => text)).toContainEqual(
      expect.stringContaining("missing or damaged"),
    );
    writeFileSync(path, bytes);
    expect((await list()).status).toBe(200);
  });

  test("the file is encrypted by a separate key, which a rotation of the installation's key encrypts again", async () => {
    const id = await put(400);
    const before = await listed(id);
    const events = await platform.service.store.events.list(id, window);
    await archive();
    for (const path of platform.stored())
      expect(readFileSync(join(platform.folder, path), "latin1")).not.toContain("Because");
    const { store } = platform.service;
    const turnTo = async (to: number, from: number) => {
      const ring = cipherFrom(Buffer.alloc(32, to), systemRandom, Buffer.alloc(32, from));
      ring.sealWith(ring.newest);
      await reencrypt({ store, ring, onProgress: () => undefined });
    };
    await turnTo(9, 7);
    const blobs = createLocalBlobs(platform.folder);
    const onlyNewer = segmentReader({
      blobs,
      cipher: cipherFrom(Buffer.alloc(32, 9), systemRandom),
      log: () => undefined,
    });
    const other = await openStore({
      databaseUrl: platform.database.url,
      clock: systemClock,
      random: systemRandom,
      readSegment: onlyNewer,
    });
    expect(await other.events.list(id, window)).toEqual(events);
    await other.close();
    await turnTo(7, 9);
    expect(await listed(id)).toEqual(before);
  });

  test("VERBOSE_EVENT_DAYS rewrites the files, EVENT_DAYS deletes them, and so does the deletion of a task", async () => {
    const [some, all, deleted] = [await put(400), await put(400), await put(400)];
    await archive();
    await archive({ verboseEventDays: 95 });
    expect(await typesOf(some)).toEqual(
      new Set(["user_message", "assistant_message", "structured_output_result", "status_update"]),
    );
    expect(await typesOf(all)).toContain("status_update");
    await ann.v2("task.delete", { task_id: deleted });
    expect(await segments(deleted)).toEqual([]);
    await archive({ eventDays: 96 });
    expect(await listed(some)).toEqual([]);
    expect(await segments(some)).toEqual([]);
    await sweepNow();
    // The platform's own sweep may have begun to delete them.
    await expect.poll(platform.stored).toEqual([]);
  });

  test("a task under legal hold, one that has not ended, and one with little data stay rows", async () => {
    const [held, runs, small] = [await put(400), await put(400), await put(5)];
    await rows(`UPDATE task SET status = 'running', node_id = 'n' WHERE id = '${runs}'`);
    await rows(
      `INSERT INTO legal_hold (name, kind, subject, created_at) VALUES ('case', 'person', '${ann.accountId}', 1)`,
    );
    await archive();
    expect(await rows("SELECT task_id FROM event_segment")).toEqual([]);
    const { store } = platform.service;
    await store.change((tx) => removeLegalHold(tx, { now: 1, ids: systemIds, random: systemRandom }, "case"));
    await archive();
    expect(await segments(held)).toHaveLength(1);
    for (const id of [runs, small]) expect(await segments(id)).toEqual([]);
  });
});
