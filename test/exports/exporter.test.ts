import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import type { Dispatcher } from "../../src/async/dispatcher.ts";
import type { Clock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Blobs } from "../../src/core/files/blob.ts";
import { leaseMs } from "../../src/core/files/lease.ts";
import { readBlobTotals, storedFiles, until } from "../files/files-rig.ts";
import { agentMessage, ann, sampleTask, userMessage } from "../store/samples.ts";
import { type DatabaseKind, describeOnOne, openTestStore } from "../support/database.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { createExporter, requestExport } from "./export-rig.ts";

interface Process {
  readonly exporter: Dispatcher;
  readonly clock: StillClock;
  readonly logLines: readonly string[];
}

/** A database and a folder, with processes that only make archives. */
async function createExporters(kind: DatabaseKind) {
  const folder = mkdtempSync(join(tmpdir(), "exporter-"));
  const database = await openTestStore(kind);
  const { store } = database;
  const whole = createLocalBlobs(join(folder, "files"));
  const started: Process[] = [];
  return {
    store,
    stored: () => storedFiles(folder),
    blobs: async () => (await readBlobTotals(database)).blobs,
    /** Tasks of ann's, each with two events. */
    async fill(count: number): Promise<void> {
      for (let at = 0; at < count; at += 1) {
        await store.change((tx) =>
          tx.tasks.insert(sampleTask({ createdAt: 1000 + at, status: "stopped" }), [
            userMessage(),
            agentMessage(),
          ]),
        );
      }
    },
    start(changes: Partial<Blobs> = {}, clock: StillClock = stillClock()): Process {
      const lines: string[] = [];
      const blobs: Blobs = { ...whole, ...changes };
      const exporter = createExporter(store, blobs, clock, (_, text) => void lines.push(text));
      const process = { exporter, clock, logLines: lines };
      started.push(process);
      return process;
    },
    /** A storage that waits with every write until it is released. */
    blockedStorage() {
      const gate = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const put: Blobs["put"] = async (id, bytes, signal) => {
        begun.resolve();
        const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await Promise.race([gate.promise, aborted]);
        await whole.put(id, bytes, signal);
      };
      return { put, started: begun.promise, release: () => gate.resolve() };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(started.map(({ exporter }) => exporter.drain(0)));
      await database[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const timeOf = (clock: Clock) => clock.now();

describeOnOne("an archive being made", (kind) => {
  test("is released by a drain immediately, leaves nothing, does not count as a claim, and is made again", async () => {
    await using exporters = await createExporters(kind);
    await exporters.fill(3);
    const blockedStorage = exporters.blockedStorage();
    const first = exporters.start({ put: blockedStorage.put });
    const id = await requestExport(exporters.store, ann, "tasks", {}, timeOf(first.clock));
    await first.exporter.wake();
    await blockedStorage.started;
    expect(await exporters.store.exports.byId(id)).toMatchObject({
      status: "processing",
      claims: 1,
      fence: 1,
    });
    await first.exporter.drain(0);
    expect(await exporters.store.exports.byId(id)).toMatchObject({
      status: "processing",
      claims: 0,
      fence: 1,
      leaseUntil: null,
    });
    expect([exporters.stored(), await exporters.blobs()]).toEqual([[], []]);
    const second = exporters.start();
    await second.exporter.wake();
    await until(async () => (await exporters.store.exports.byId(id))?.status === "completed");
    expect([exporters.stored().length, (await exporters.blobs()).map(({ state }) => state)]).toEqual([
      1,
      ["kept"],
    ]);
  });

  test("is taken over from a dead process after its lease, and the old process can add nothing", async () => {
    await using exporters = await createExporters(kind);
    await exporters.fill(3);
    const blockedStorage = exporters.blockedStorage();
    const dead = exporters.start({ put: blockedStorage.put });
    const id = await requestExport(exporters.store, ann, "tasks", {}, timeOf(dead.clock));
    await dead.exporter.wake();
    await blockedStorage.started;
    const early = stillClock();
    early.step(leaseMs - 1);
    const other = exporters.start({}, early);
    await other.exporter.wake();
    expect(await exporters.store.exports.byId(id)).toMatchObject({ fence: 1 });
    early.step(1);
    await other.exporter.wake();
    await until(async () => (await exporters.store.exports.byId(id))?.status === "completed");
    const made = await exporters.store.exports.byId(id);
    expect(made).toMatchObject({ fence: 2, claims: 2 });
    blockedStorage.release();
    await until(() => dead.exporter.hasCapacity());
    expect(await exporters.store.exports.byId(id)).toEqual(made);
    expect((await exporters.blobs()).map(({ id: blob, state }) => [blob, state])).toEqual([
      [made?.archive?.blobId, "kept"],
    ]);
    expect(exporters.stored().length).toBe(1);
  });

  test("that fails is tried three times, and then ends with an error text for its caller", async () => {
    await using exporters = await createExporters(kind);
    const put: Blobs["put"] = async () => {
      throw new Failure("unavailable", "the storage is full, try again later", {
        cause: new Error("secret path"),
      });
    };
    const { exporter, clock, logLines: lines } = exporters.start({ put });
    const id = await requestExport(exporters.store, ann, "full", {}, timeOf(clock));
    await exporter.wake();
    for (const claims of [1, 2]) {
      await until(
        async () =>
          lines.filter((line) => line === "making an export failed").length === claims &&
          exporter.hasCapacity(),
      );
      expect(await exporters.store.exports.byId(id)).toMatchObject({ status: "processing", claims });
      clock.step(10_000 * claims - 1);
      await exporter.wake();
      expect(await exporters.store.exports.byId(id), "not before its time").toMatchObject({ claims });
      clock.step(1);
      await exporter.wake();
    }
    await until(async () => (await exporters.store.exports.byId(id))?.completedAt !== null);
    expect(await exporters.store.exports.byId(id)).toMatchObject({
      status: "failed",
      error: "the archive could not be made in 3 attempts: the storage is full, try again later",
    });
    await until(async () => (await exporters.blobs()).length === 0);
  });

  test("that fails with an internal error does not reveal it to its caller", async () => {
    await using exporters = await createExporters(kind);
    const put: Blobs["put"] = () => Promise.reject(new Error("EACCES /var/secret"));
    const { exporter, clock } = exporters.start({ put });
    const id = await requestExport(exporters.store, ann, "full", {}, timeOf(clock));
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await exporter.wake();
      await until(() => exporter.hasCapacity());
      clock.step(60_000);
    }
    const { error } = (await exporters.store.exports.byId(id)) ?? {};
    expect(error).toBe("the archive could not be made in 3 attempts: internal error");
  });

  test("is given up after three processes died", async () => {
    await using exporters = await createExporters(kind);
    const { exporter, clock } = exporters.start();
    const id = await requestExport(exporters.store, ann, "full", {}, timeOf(clock));
    for (let deaths = 1; deaths <= 3; deaths += 1) {
      clock.step(leaseMs);
      expect(
        await exporters.store.change((tx) => tx.exports.claim(id, clock.now(), clock.now() + leaseMs)),
      ).toMatchObject({
        claims: deaths,
      });
    }
    clock.step(leaseMs);
    await exporter.wake();
    await until(async () => (await exporters.store.exports.byId(id))?.completedAt !== null);
    expect(await exporters.store.exports.byId(id)).toMatchObject({
      status: "failed",
      error: expect.stringContaining("3 times"),
    });
  });

  test("that is cancelled stops within 5 seconds, during a step of any duration, without bytes, and stays cancelled", async () => {
    await using exporters = await createExporters(kind);
    await exporters.fill(3);
    const blockedStorage = exporters.blockedStorage();
    const { exporter, clock, logLines: lines } = exporters.start({ put: blockedStorage.put });
    const id = await requestExport(exporters.store, ann, "tasks", {}, timeOf(clock));
    await exporter.wake();
    await blockedStorage.started;
    expect(await exporters.store.change((tx) => tx.exports.cancel(id, clock.now()))).toBe(true);
    await clock.advance(5_000);
    await until(() => exporter.hasCapacity());
    expect(await exporters.store.exports.byId(id)).toMatchObject({ status: "cancelled", archive: null });
    await until(async () => (await exporters.blobs()).length === 0);
    expect([exporters.stored(), lines.at(-1)]).toEqual([[], "an export was ended or taken over"]);
  });

  test("is one at a time in a process, the oldest first, and the next one follows automatically", async () => {
    await using exporters = await createExporters(kind);
    const blockedStorage = exporters.blockedStorage();
    const { exporter, clock } = exporters.start({ put: blockedStorage.put });
    const ids = [
      await requestExport(exporters.store, ann, "full", {}, clock.now() - 2),
      await requestExport(exporters.store, ann, "full", {}, clock.now() - 1),
    ];
    await exporter.wake();
    await blockedStorage.started;
    await exporter.wake();
    const statuses = () =>
      Promise.all(ids.map(async (id) => (await exporters.store.exports.byId(id))?.status));
    expect([await statuses(), exporter.hasCapacity()]).toEqual([["processing", "pending"], false]);
    blockedStorage.release();
    await until(async () => (await statuses()).every((status) => status === "completed"));
  });

  test("reports its progress", async () => {
    await using exporters = await createExporters(kind);
    await exporters.fill(250);
    const { clock, exporter } = exporters.start();
    const id = await requestExport(exporters.store, ann, "tasks_with_attachments", {}, timeOf(clock));
    const progress: number[] = [];
    const read = exporters.store.archives.tasks;
    // Time passes during the reads.
    exporters.store.archives.tasks = async (...asked) => {
      const found = await exporters.store.exports.byId(id);
      if (found?.progress.total) progress.push(found.progress.done);
      await clock.advance(2_000);
      return read(...asked);
    };
    await exporter.wake();
    await until(async () => (await exporters.store.exports.byId(id))?.status === "completed");
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress);
    expect(new Set(progress).size).toBeGreaterThan(3);
    expect((await exporters.store.exports.byId(id))?.progress).toEqual({ done: 501, total: 501 });
  });
});
