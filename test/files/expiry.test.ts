import { expect, test } from "vitest";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import {
  createSlot,
  fileDetail,
  openFilePlatform,
  openPut,
  quotaUsed,
  readBlobTotals,
  until,
  uploadFile,
} from "./files-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnOne("what the clock ends", (database) => {
  test("a file is deleted 48 hours after its upload, and its bytes and quota are released within a minute, also after downtime", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { id } = await uploadFile(platform, ann);
    // A step wakes no job, as if no process had run.
    clock.step(48 * hourMs - 1);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "uploaded" });
    clock.step(1);
    expect(await fileDetail(ann, id)).toMatchObject({ status: "deleted", bytes: 6 });
    expect((await ann.client(FileService).listFiles({})).data).toEqual([]);
    expect(await ann.v2("file.delete", { file_id: id })).toMatchObject({ status: 404 });
    expect(platform.stored()).toHaveLength(1);
    await clock.advance(59_000);
    await until(() => platform.stored().length === 0);
    await until(async () => (await readBlobTotals(platform.database)).blobs.length === 0);
    expect(await quotaUsed(platform.service.store, ann)).toBe(0);
    expect(await platform.service.store.files.byId(id)).toMatchObject({ status: "deleted" });
  });

  test("an expiry is visible at once, and stored within a minute", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { id } = await createSlot(platform, ann);
    clock.step(181_000);
    expect(await fileDetail(ann, id)).toMatchObject({
      status: "error",
      error_message: "upload window expired",
      bytes: null,
    });
    expect((await platform.service.store.files.byId(id))?.status).toBe("pending");
    await clock.advance(59_000);
    await until(async () => (await platform.service.store.files.byId(id))?.status === "error");
    expect(await fileDetail(ann, id)).toMatchObject({
      status: "error",
      error_message: "upload window expired",
    });
  });

  test("a tombstone is deleted after 30 days", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const [deleted, expired, late] = [
      await uploadFile(platform, ann),
      await uploadFile(platform, ann),
      await createSlot(platform, ann),
    ];
    await ann.v2("file.delete", { file_id: deleted.id });
    clock.step(2 * dayMs);
    await clock.leap(hourMs);
    const { store } = platform.service;
    await until(async () => (await store.files.byId(late.id))?.status === "error");
    await until(async () => (await store.files.byId(expired.id))?.status === "deleted");
    clock.step(28 * dayMs - 2 * hourMs);
    await clock.leap(hourMs / 2);
    expect(await fileDetail(ann, deleted.id)).toMatchObject({ status: "deleted" });
    clock.step(hourMs);
    await clock.leap(hourMs);
    await until(
      async () => (await store.files.byId(deleted.id)) === null && (await store.files.byId(late.id)) === null,
    );
    expect(await ann.v2("file.detail", { file_id: deleted.id })).toMatchObject({ status: 404 });
    expect(await fileDetail(ann, expired.id)).toMatchObject({ status: "deleted" });
  });

  test("the bytes of a dead writer are deleted once its lease ends, those of an active writer stay", async () => {
    const clock = stillClock();
    await using platform = await openFilePlatform(database, { clock });
    const ann = await platform.service.person();
    const { url } = await createSlot(platform, ann);
    const going = openPut(url, { "content-length": 8 });
    await going.send("half");
    await until(() => platform.stored().length === 1);
    await platform.service.store.change((tx) =>
      tx.blobs.begin(
        { id: "dead", accountId: ann.accountId, bytes: 5, leaseUntil: clock.now() + 60_000 },
        1e9,
      ),
    );
    expect(await quotaUsed(platform.service.store, ann)).toBe(13);
    const isRenewed = async () =>
      (await readBlobTotals(platform.database)).blobs.some(
        ({ id, leaseUntil }) => id !== "dead" && leaseUntil === clock.now() + 60_000,
      );
    for (let i = 0; i < 6; i += 1) {
      await clock.advance(15_000);
      await until(isRenewed);
    }
    await until(async () => (await quotaUsed(platform.service.store, ann)) === 8);
    expect(platform.stored()).toHaveLength(1);
    await going.send("half");
    going.end();
    expect(await going.answer).toMatchObject({ status: 200 });
    expect((await readBlobTotals(platform.database)).isExact).toBe(true);
  });
});
