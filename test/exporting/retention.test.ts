import { expect, test } from "vitest";
import { localBlobs } from "../../src/storage/local.ts";
import { books, fileTown, until } from "../files/files-rig.ts";
import { describeOnEach } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { ask, ended, exporterOver, linkOf } from "./export-rig.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describeOnEach("an archive", (kind) => {
  test("is kept for 30 days after its completion and no longer, also after downtime; its row stays", async () => {
    const clock = stillClock();
    await using town = await fileTown(kind, { clock });
    const ann = await town.service.person();
    const { store } = town.service;
    const exporter = exporterOver(store, localBlobs(town.folder), clock);
    const id = await ask(store, ann, "full", {}, clock.now());
    await exporter.wake([]);
    const { completedAt, archive } = await ended(store, id);
    await exporter.drain();
    const { length } = town.stored();
    expect([completedAt, length]).toEqual([clock.now(), 1]);
    const status = async () => {
      const reply = await fetch(linkOf(town, id, clock.now()));
      await reply.body?.cancel();
      return reply.status;
    };
    // Nobody is woken by a step: as if no process had run.
    clock.step(30 * dayMs - 1);
    expect(await status()).toBe(200);
    clock.step(1);
    expect([await status(), town.stored().length]).toEqual([404, 1]);
    await clock.advance(hourMs);
    await until(async () => (await store.exports.byId(id))?.purgedAt !== null);
    await clock.advance(60_000);
    await until(async () => town.stored().length === 0 && (await books(town.database)).blobs.length === 0);
    expect(await store.exports.byId(id)).toMatchObject({ status: "completed", archive: { sha256: archive?.sha256 }, completedAt });
    expect(await status()).toBe(404);
  });
});
