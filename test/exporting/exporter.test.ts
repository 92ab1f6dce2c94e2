import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Blobs } from "../../src/core/files/blobs.ts";
import { leaseMs } from "../../src/core/files/lease.ts";
import type { Exporter } from "../../src/exporting/exporter.ts";
import { localBlobs } from "../../src/storage/local.ts";
import { books, storedIn, until } from "../files/files-rig.ts";
import { ann, said, sampleTask, userMessage } from "../store/samples.ts";
import { type DatabaseKind, describeOnEach, openTestStore } from "../support/database.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { ask, exporterOver } from "./export-rig.ts";

interface Process {
  readonly exporter: Exporter;
  readonly clock: StillClock;
  readonly said: readonly string[];
}

/** A database and a folder, with processes that make archives and nothing else. */
async function workshop(kind: DatabaseKind) {
  const folder = mkdtempSync(join(tmpdir(), "exporter-"));
  const database = await openTestStore(kind);
  const { store } = database;
  const whole = localBlobs(join(folder, "files"));
  const started: Process[] = [];
  return {
    store,
    stored: () => storedIn(folder),
    blobs: async () => (await books(database)).blobs,
    /** Tasks of ann's, each with two events. */
    async fill(count: number): Promise<void> {
      for (let at = 0; at < count; at += 1) {
        await store.change((tx) => tx.tasks.insert(sampleTask({ createdAt: 1000 + at, status: "stopped" }), [userMessage(), said()]));
      }
    },
    start(how: Partial<Blobs> = {}, clock: StillClock = stillClock()): Process {
      const lines: string[] = [];
      const blobs: Blobs = { ...whole, ...how };
      const exporter = exporterOver(store, blobs, clock, (_, text) => void lines.push(text));
      const process = { exporter, clock, said: lines };
      started.push(process);
      return process;
    },
    /** A storage that takes nothing until it is told to. */
    held() {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const put: Blobs["put"] = async (id, bytes, signal) => {
        begun.resolve();
        const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await Promise.race([gate.promise, aborted]);
        await whole.put(id, bytes, signal);
      };
      return { put, begun: begun.promise, release: () => gate.resolve() };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(({ exporter }) => exporter.drain()));
      await database[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const now = (clock: Clock) => clock.now();

describeOnEach("the making of archives", (kind) => {
  test("given back by a drain at once, leaves nothing, does not count as a claim, and is made anew", async () => {
    await using shop = await workshop(kind);
    await shop.fill(3);
    const held = shop.held();
    const first = shop.start({ put: held.put });
    const id = await ask(shop.store, ann, "tasks", {}, now(first.clock));
    await first.exporter.wake([]);
    await held.begun;
    expect(await shop.store.exports.byId(id)).toMatchObject({ status: "processing", claims: 1, fence: 1 });
    await first.exporter.drain();
    expect(await shop.store.exports.byId(id)).toMatchObject({ status: "processing", claims: 0, fence: 1, leaseUntil: null });
    expect([shop.stored(), await shop.blobs()]).toEqual([[], []]);
    const second = shop.start();
    await second.exporter.wake([]);
    await until(async () => (await shop.store.exports.byId(id))?.status === "completed");
    expect([shop.stored().length, (await shop.blobs()).map(({ state }) => state)]).toEqual([1, ["kept"]]);
  });

  test("whose process died is taken over when its lease is over, and the old process can add nothing", async () => {
    await using shop = await workshop(kind);
    await shop.fill(3);
    const held = shop.held();
    const dead = shop.start({ put: held.put });
    const id = await ask(shop.store, ann, "tasks", {}, now(dead.clock));
    await dead.exporter.wake([]);
    await held.begun;
    const early = stillClock();
    early.step(leaseMs - 1);
    const other = shop.start({}, early);
    await other.exporter.wake([]);
    expect(await shop.store.exports.byId(id)).toMatchObject({ fence: 1 });
    early.step(1);
    await other.exporter.wake([]);
    await until(async () => (await shop.store.exports.byId(id))?.status === "completed");
    const made = await shop.store.exports.byId(id);
    expect(made).toMatchObject({ fence: 2, claims: 2 });
    held.release();
    await until(() => dead.exporter.hasRoom());
    expect(await shop.store.exports.byId(id)).toEqual(made);
    expect((await shop.blobs()).map(({ id: blob, state }) => [blob, state])).toEqual([[made?.archive?.blobId, "kept"]]);
    expect(shop.stored().length).toBe(1);
  });

  test("that fails is tried three times, and then ends with words for its caller", async () => {
    await using shop = await workshop(kind);
    const put: Blobs["put"] = async () => {
      throw new Failure("unavailable", "there is no room to store this now", { cause: new Error("secret path") });
    };
    const { exporter, clock, said: lines } = shop.start({ put });
    const id = await ask(shop.store, ann, "full", {}, now(clock));
    await exporter.wake([]);
    for (const claims of [1, 2]) {
      await until(async () => lines.filter((line) => line === "making an export failed").length === claims && exporter.hasRoom());
      expect(await shop.store.exports.byId(id)).toMatchObject({ status: "processing", claims });
      clock.step(10_000 * claims - 1);
      await exporter.wake([]);
      expect(await shop.store.exports.byId(id), "not before its time").toMatchObject({ claims });
      clock.step(1);
      await exporter.wake([]);
    }
    await until(async () => (await shop.store.exports.byId(id))?.completedAt !== null);
    expect(await shop.store.exports.byId(id)).toMatchObject({
      status: "failed",
      error: "the archive could not be made in 3 attempts: there is no room to store this now",
    });
    await until(async () => (await shop.blobs()).length === 0);
  });

  test("tells its caller nothing of a stranger's fault", async () => {
    await using shop = await workshop(kind);
    const put: Blobs["put"] = () => Promise.reject(new Error("EACCES /var/secret"));
    const { exporter, clock } = shop.start({ put });
    const id = await ask(shop.store, ann, "full", {}, now(clock));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await exporter.wake([]);
      await until(() => exporter.hasRoom());
      clock.step(60_000);
    }
    const { error } = (await shop.store.exports.byId(id)) ?? {};
    expect(error).toBe("the archive could not be made in 3 attempts: internal error");
  });

  test("whose process died three times is given up", async () => {
    await using shop = await workshop(kind);
    const { exporter, clock } = shop.start();
    const id = await ask(shop.store, ann, "full", {}, now(clock));
    for (let died = 1; died <= 3; died += 1) {
      clock.step(leaseMs);
      expect(await shop.store.change((tx) => tx.exports.claim(id, clock.now(), clock.now() + leaseMs))).toMatchObject({ claims: died });
    }
    clock.step(leaseMs);
    await exporter.wake([]);
    await until(async () => (await shop.store.exports.byId(id))?.completedAt !== null);
    expect(await shop.store.exports.byId(id)).toMatchObject({ status: "failed", error: expect.stringContaining("3 times") });
  });

  test("that an operator cancels ends without bytes, and stays cancelled", async () => {
    await using shop = await workshop(kind);
    await shop.fill(3);
    const held = shop.held();
    const { exporter, clock, said: lines } = shop.start({ put: held.put });
    const id = await ask(shop.store, ann, "tasks", {}, now(clock));
    await exporter.wake([]);
    await held.begun;
    expect(await shop.store.change((tx) => tx.exports.cancel(id, clock.now()))).toBe(true);
    // The next beat of its lease finds out.
    await clock.advance(15_000);
    await until(() => exporter.hasRoom());
    expect(await shop.store.exports.byId(id)).toMatchObject({ status: "cancelled", archive: null });
    await until(async () => (await shop.blobs()).length === 0);
    expect([shop.stored(), lines.at(-1)]).toEqual([[], "an export was ended or taken over"]);
  });

  test("is of one at a time in a process, the oldest first, and the next follows by itself", async () => {
    await using shop = await workshop(kind);
    const held = shop.held();
    const { exporter, clock } = shop.start({ put: held.put });
    const ids = [await ask(shop.store, ann, "full", {}, clock.now() - 2), await ask(shop.store, ann, "full", {}, clock.now() - 1)];
    await exporter.wake([]);
    await held.begun;
    await exporter.wake([]);
    const statuses = () => Promise.all(ids.map(async (id) => (await shop.store.exports.byId(id))?.status));
    expect([await statuses(), exporter.hasRoom()]).toEqual([["processing", "pending"], false]);
    held.release();
    await until(async () => (await statuses()).every((status) => status === "completed"));
  });

  test("shows how far it is", async () => {
    await using shop = await workshop(kind);
    await shop.fill(250);
    const { clock, exporter } = shop.start();
    const id = await ask(shop.store, ann, "tasks_with_attachments", {}, now(clock));
    const seen: number[] = [];
    const read = shop.store.archives.tasks;
    // Time passes while it reads.
    shop.store.archives.tasks = async (...asked) => {
      const found = await shop.store.exports.byId(id);
      if (found?.progress.total) seen.push(found.progress.done);
      await clock.advance(2_000);
      return read(...asked);
    };
    await exporter.wake([]);
    await until(async () => (await shop.store.exports.byId(id))?.status === "completed");
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
    expect(new Set(seen).size).toBeGreaterThan(3);
    expect((await shop.store.exports.byId(id))?.progress).toEqual({ done: 501, total: 501 });
  });
});
