import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Caller } from "../../src/core/caller.ts";
import { fileLinks } from "../../src/core/files/links.ts";
import { staging } from "../../src/core/files/stage.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds } from "../../src/core/ids.ts";
import { localBlobs } from "../../src/storage/local.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnEach } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { books, detail, type FileTown, fileTown, until, used } from "./files-rig.ts";

const name = { filename: "plot.png", contentType: "image/png" };
const forever = new AbortController().signal;

const callerOf = ({ accountId, spaceId, keyId }: Person): Caller => ({
  ...{ accountId, spaceId, role: "owner", locale: "en" },
  credential: { kind: "key", keyKind: "general", id: keyId },
});

/** Staging over a town's store and folder, with a quota of its own. */
function stagingIn(town: FileTown, clock: ReturnType<typeof stillClock>, quota = 1000) {
  const { store } = town.service;
  const blobs = localBlobs(town.folder);
  const stage = staging({ store, clock, ids: systemIds, writer: writer({ store, blobs, clock, ids: systemIds, quota }) });
  return { ...stage, sweep: fileSweep({ store, blobs, clock, log: () => undefined }) };
}

describeOnEach("staging", (database) => {
  test("gives bytes to a file of 48 hours by the change that keeps them", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const { stage, keep } = stagingIn(town, clock);
    const staged = await stage(Readable.from([Buffer.from("pixels")]), { accountId: ann.accountId, max: 6, signal: forever });
    expect(staged).toMatchObject({ bytes: 6 });
    expect(await used(town.service.store, ann)).toBe(6);
    const file = await town.service.store.change((tx) => keep(tx, callerOf(ann), staged, name));
    expect(await detail(ann, file.id)).toMatchObject({ status: "uploaded", filename: "plot.png", content_type: "image/png", bytes: 6 });
    expect(file.expiresAt).toBe(clock.now() + 48 * 3_600_000);
    await expect(town.service.store.change((tx) => keep(tx, callerOf(ann), staged, name))).rejects.toMatchObject({ reason: "unavailable" });
  });

  test("lets go of bytes that no change has kept within minutes, and those are kept by none after that", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const { stage, keep, sweep } = stagingIn(town, clock);
    const staged = await stage(Readable.from([Buffer.from("pixels")]), { accountId: ann.accountId, max: 6, signal: forever });
    await town.service.store
      .change((tx) => keep(tx, callerOf(ann), staged, name).then(() => Promise.reject(new Error("no"))))
      .catch(() => undefined);
    clock.step(4 * 60_000);
    await sweep.sweep(forever);
    expect(town.stored()).toHaveLength(1);
    clock.step(60_000);
    await sweep.sweep(forever);
    expect([town.stored(), await used(town.service.store, ann)]).toEqual([[], 0]);
    await expect(town.service.store.change((tx) => keep(tx, callerOf(ann), staged, name))).rejects.toMatchObject({ reason: "unavailable" });
  });

  test("refuses what is too large or beyond the quota, and leaves nothing of it", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const { stage } = stagingIn(town, clock, 10);
    const bytes = () => Readable.from([Buffer.from("eleven"), Buffer.from("bytes")]);
    const to = { accountId: ann.accountId, signal: forever };
    await expect(stage(bytes(), { ...to, max: 10 })).rejects.toMatchObject({ reason: "too_large" });
    await expect(stage(bytes(), { ...to, max: 11 })).rejects.toMatchObject({ reason: "exhausted" });
    await expect(stage(bytes(), { ...to, max: 11, signal: AbortSignal.abort() })).rejects.toMatchObject({ reason: "cancelled" });
    const breaking = Readable.from(
      (async function* () {
        yield Buffer.from("x");
        throw new Error("broken");
      })(),
    );
    await expect(stage(breaking, { ...to, max: 11 })).rejects.toMatchObject({ reason: "cancelled" });
    expect([town.stored(), (await books(town.database)).blobs, await used(town.service.store, ann)]).toEqual([[], [], 0]);
    expect(await stage(bytes(), { ...to, accountId: null, max: 11 })).toMatchObject({ bytes: 11 });
  });

  test("keeps an artefact with its task, outside lists and quota, and task.delete takes it along (decisions.md 14, 38)", async () => {
    await using town = await fileTown(database);
    const ann = await town.service.person();
    const now = Date.now();
    const { stage, keepArtefact } = stagingIn(town, stillClock(now));
    const { sweep } = stagingIn(town, stillClock(now + 100 * 24 * 3_600_000));
    const { body } = await ann.v2("task.create", { message: { content: "Draw." } });
    const task = { id: String(body["task_id"]), accountId: ann.accountId, spaceId: ann.spaceId, clientId: null };
    const staged = await stage(Readable.from([Buffer.from("pixels")]), { accountId: null, max: 6, signal: forever });
    const file = await town.service.store.change((tx) => keepArtefact(tx, task, staged, name));
    expect(await used(town.service.store, ann)).toBe(0);
    expect(await ann.v2("file.detail", { file_id: file.id })).toMatchObject({ status: 404 });
    const link = () => town.reach(fileLinks(cipher, "https://platform.test").download(file.id, now));
    await sweep.sweep(forever);
    expect((await fetch(link())).status).toBe(200);
    await ann.v2("task.stop", { task_id: task.id });
    expect(await ann.v2("task.delete", { task_id: task.id })).toMatchObject({ status: 200 });
    expect((await fetch(link())).status).toBe(404);
    await sweep.sweep(forever);
    await until(() => town.stored().length === 0);
  });
});
