import { expect, test } from "vitest";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { books, detail, fileTown, openPut, slotOf, until, uploaded, used } from "./files-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnEach("what the clock ends", (database) => {
  test("after 48 hours a file is deleted at once, and its bytes and its room are gone within a minute, also after downtime", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock, nodes: nodesOf(database) });
    const ann = await town.service.person();
    const { id } = await uploaded(town, ann);
    // Nobody is woken by a step: as if no process had run.
    clock.step(48 * hourMs - 1);
    expect(await detail(ann, id)).toMatchObject({ status: "uploaded" });
    clock.step(1);
    expect(await detail(ann, id)).toMatchObject({ status: "deleted", bytes: 6 });
    expect((await ann.client(FileService).listFiles({})).data).toEqual([]);
    expect(await ann.v2("file.delete", { file_id: id })).toMatchObject({ status: 404 });
    expect(town.stored()).toHaveLength(1);
    await clock.advance(59_000);
    await until(() => town.stored().length === 0);
    await until(async () => (await books(town.database)).blobs.length === 0);
    expect(await used(town.service.store, ann)).toBe(0);
    expect(await town.service.store.files.byId(id)).toMatchObject({ status: "deleted" });
  });

  test("a window that passes is told at once, and written down within a minute", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const { id } = await slotOf(town, ann);
    clock.step(181_000);
    expect(await detail(ann, id)).toMatchObject({ status: "error", error_message: "upload window expired", bytes: null });
    expect((await town.service.store.files.byId(id))?.status).toBe("pending");
    await clock.advance(59_000);
    await until(async () => (await town.service.store.files.byId(id))?.status === "error");
    expect(await detail(ann, id)).toMatchObject({ status: "error", error_message: "upload window expired" });
  });

  test("a tombstone is forgotten after 30 days", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const [deleted, expired, late] = [await uploaded(town, ann), await uploaded(town, ann), await slotOf(town, ann)];
    await ann.v2("file.delete", { file_id: deleted.id });
    clock.step(2 * dayMs);
    await clock.leap(hourMs);
    const { store } = town.service;
    await until(async () => (await store.files.byId(late.id))?.status === "error");
    await until(async () => (await store.files.byId(expired.id))?.status === "deleted");
    clock.step(28 * dayMs - 2 * hourMs);
    await clock.leap(hourMs / 2);
    expect(await detail(ann, deleted.id)).toMatchObject({ status: "deleted" });
    clock.step(hourMs);
    await clock.leap(hourMs);
    await until(async () => (await store.files.byId(deleted.id)) === null && (await store.files.byId(late.id)) === null);
    expect(await ann.v2("file.detail", { file_id: deleted.id })).toMatchObject({ status: 404 });
    expect(await detail(ann, expired.id)).toMatchObject({ status: "deleted" });
  });

  test("bytes of a writer that has died go once its lease is over, those of one that is alive stay", async () => {
    const clock = stillClock();
    await using town = await fileTown(database, { clock });
    const ann = await town.service.person();
    const { url } = await slotOf(town, ann);
    const going = openPut(url, { "content-length": 8 });
    await going.send("half");
    await until(() => town.stored().length === 1);
    await town.service.store.change((tx) =>
      tx.blobs.begin({ id: "dead", accountId: ann.accountId, bytes: 5, leaseUntil: clock.now() + 60_000 }, 1e9),
    );
    expect(await used(town.service.store, ann)).toBe(13);
    const isRenewed = async () =>
      (await books(town.database)).blobs.some(({ id, leaseUntil }) => id !== "dead" && leaseUntil === clock.now() + 60_000);
    for (let i = 0; i < 6; i += 1) {
      await clock.advance(15_000);
      await until(isRenewed);
    }
    await until(async () => (await used(town.service.store, ann)) === 8);
    expect(town.stored()).toHaveLength(1);
    await going.send("half");
    going.end();
    expect(await going.answer).toMatchObject({ status: 200 });
    expect((await books(town.database)).isExact).toBe(true);
  });
});
