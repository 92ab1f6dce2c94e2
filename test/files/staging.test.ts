import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { fileLinks } from "../../src/core/files/links.ts";
import { staging } from "../../src/core/files/stage.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds } from "../../src/core/ids.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import {
  type FilePlatform,
  fileDetail,
  openFilePlatform,
  quotaUsed,
  readBlobTotals,
  until,
} from "./files-rig.ts";

const name = { filename: "plot.png", contentType: "image/png" };
const forever = new AbortController().signal;

const callerOf = ({ accountId, spaceId, keyId }: Person): Caller => ({
  ...{ accountId, spaceId, role: "owner", locale: "en" },
  credential: { kind: "key", keyKind: "general", id: keyId, scopes: null },
});

/** Staging over the platform's store and folder, with its own quota. */
function stagingIn(platform: FilePlatform, clock: ReturnType<typeof stillClock>, quota = 1000) {
  const { store } = platform.service;
  const blobs = createLocalBlobs(platform.folder);
  const stage = staging({
    changeBytes: store.change,
    clock,
    ids: systemIds,
    writer: writer({ changeBytes: store.change, blobs, clock, ids: systemIds, quota }),
  });
  return { ...stage, sweep: fileSweep({ changeBytes: store.change, blobs, clock, log: () => undefined }) };
}

describeOnOne("staging", (database) => {
  test("turns bytes into a file of 48 hours in the change that keeps them", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { stage, keep } = stagingIn(platform, clock);
    const staged = await stage(Readable.from([Buffer.from("pixels")]), {
      accountId: ann.accountId,
      max: 6,
      signal: forever,
    });
    expect(staged).toMatchObject({ bytes: 6 });
    expect(await quotaUsed(platform.service.store, ann)).toBe(6);
    const file = await platform.service.store.change((tx) => keep(tx, callerOf(ann), staged, name));
    expect(await fileDetail(ann, file.id)).toMatchObject({
      status: "uploaded",
      filename: "plot.png",
      content_type: "image/png",
      bytes: 6,
    });
    expect(file.expiresAt).toBe(clock.now() + 48 * 3_600_000);
    await expect(
      platform.service.store.change((tx) => keep(tx, callerOf(ann), staged, name)),
    ).rejects.toMatchObject({
      reason: "unavailable",
    });
  });

  test("releases bytes that no change has kept within minutes, and no change can keep them after that", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { stage, keep, sweep } = stagingIn(platform, clock);
    const staged = await stage(Readable.from([Buffer.from("pixels")]), {
      accountId: ann.accountId,
      max: 6,
      signal: forever,
    });
    await platform.service.store
      .change((tx) => keep(tx, callerOf(ann), staged, name).then(() => Promise.reject(new Error("no"))))
      .catch(() => undefined);
    clock.step(4 * 60_000);
    await sweep.sweep(forever);
    expect(platform.stored()).toHaveLength(1);
    clock.step(60_000);
    await sweep.sweep(forever);
    expect([platform.stored(), await quotaUsed(platform.service.store, ann)]).toEqual([[], 0]);
    await expect(
      platform.service.store.change((tx) => keep(tx, callerOf(ann), staged, name)),
    ).rejects.toMatchObject({
      reason: "unavailable",
    });
  });

  test("refuses bytes over a limit or the quota, and leaves nothing of them", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { stage } = stagingIn(platform, clock, 10);
    const bytes = () => Readable.from([Buffer.from("eleven"), Buffer.from("bytes")]);
    const to = { accountId: ann.accountId, signal: forever };
    await expect(stage(bytes(), { ...to, max: 10 })).rejects.toMatchObject({ reason: "too_large" });
    await expect(stage(bytes(), { ...to, max: 11 })).rejects.toMatchObject({ reason: "resource_exhausted" });
    await expect(stage(bytes(), { ...to, max: 11, signal: AbortSignal.abort() })).rejects.toMatchObject({
      reason: "cancelled",
    });
    const breaking = Readable.from(
      (async function* () {
        yield Buffer.from("x");
        throw new Error("broken");
      })(),
    );
    await expect(stage(breaking, { ...to, max: 11 })).rejects.toMatchObject({ reason: "cancelled" });
    expect([
      platform.stored(),
      (await readBlobTotals(platform.database)).blobs,
      await quotaUsed(platform.service.store, ann),
    ]).toEqual([[], [], 0]);
    expect(await stage(bytes(), { ...to, accountId: null, max: 11 })).toMatchObject({ bytes: 11 });
  });

  test("keeps an artifact with its task, outside lists and quota, and task.delete deletes it (spec/decisions.md 14, 38)", async () => {
    await using platform = await openFilePlatform(database);
    const ann = await platform.service.person();
    const now = Date.now();
    const { stage, keepArtifact } = stagingIn(platform, stillClock(now));
    const { sweep } = stagingIn(platform, stillClock(now + 100 * 24 * 3_600_000));
    const { body } = await ann.v2("task.create", { message: { content: "Draw." } });
    const task = {
      id: String(body["task_id"]),
      accountId: ann.accountId,
      spaceId: ann.spaceId,
      clientId: null,
    };
    const staged = await stage(Readable.from([Buffer.from("pixels")]), {
      accountId: null,
      max: 6,
      signal: forever,
    });
    const file = await platform.service.store.change((tx) => keepArtifact(tx, task, staged, name));
    expect(await quotaUsed(platform.service.store, ann)).toBe(0);
    expect(await ann.v2("file.detail", { file_id: file.id })).toMatchObject({ status: 404 });
    const link = () => platform.reach(fileLinks(cipher, "https://platform.test").download(file.id, now));
    await sweep.sweep(forever);
    expect((await fetch(link())).status).toBe(200);
    await ann.v2("task.stop", { task_id: task.id });
    expect(await ann.v2("task.delete", { task_id: task.id })).toMatchObject({ status: 200 });
    expect((await fetch(link())).status).toBe(404);
    await sweep.sweep(forever);
    await until(() => platform.stored().length === 0);
  });
});
