import { expect, test } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { openFilePlatform, readBlobTotals, until } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { createExporter, downloadUrl, requestExport, waitForExport } from "./export-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnOne("an archive", (kind) => {
  test("is kept for 30 days after its completion, also across downtime, then purged; its row stays", async () => {
    const clock = stillClock();
    await using town = await openFilePlatform(kind, { clock });
    const ann = await town.service.person();
    const { store } = town.service;
    const exporter = createExporter(store, createLocalBlobs(town.folder), clock);
    const id = await requestExport(store, ann, "full", {}, clock.now());
    await exporter.wake();
    const { completedAt, archive } = await waitForExport(store, id);
    await exporter.drain(0);
    const { length } = town.stored();
    expect([completedAt, length]).toEqual([clock.now(), 1]);
    const status = async () => {
      const reply = await fetch(downloadUrl(town, id, clock.now()));
      await reply.body?.cancel();
      return reply.status;
    };
    // The step wakes no timer, as if no process had run.
    clock.step(30 * dayMs - 1);
    expect(await status()).toBe(200);
    clock.step(1);
    expect([await status(), town.stored().length]).toEqual([404, 1]);
    await clock.leap(hourMs);
    await until(async () => (await store.exports.byId(id))?.purgedAt !== null);
    await clock.advance(60_000);
    await until(
      async () => town.stored().length === 0 && (await readBlobTotals(town.database)).blobs.length === 0,
    );
    expect(await store.exports.byId(id)).toMatchObject({
      status: "completed",
      archive: { sha256: archive?.sha256 },
      completedAt,
    });
    expect(await status()).toBe(404);
  });
});
