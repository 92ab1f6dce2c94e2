import { basename } from "node:path";
import { expect, test } from "vitest";
import { type Dice, diceOf } from "../faults/harness/dice.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { books, fileTown, openPut, type Slot, sha256, slotOf, until, used } from "./files-rig.ts";

const many = 1000;
const quota = 5 * 1024 * 1024;

/** What one client does with its slot. */
interface Plan {
  readonly slot: Slot;
  readonly bytes: Uint8Array;
  readonly isAnnounced: boolean;
  /** It breaks off after so many bytes; null: it does not. */
  readonly cutAt: number | null;
}

function planOf(slot: Slot, dice: Dice): Plan {
  const bytes = new Uint8Array(dice.below(20_000)).fill(dice.below(256));
  return { slot, bytes, isAnnounced: dice.chance(0.5), cutAt: dice.chance(0.4) ? dice.below(bytes.length + 1) : null };
}

/** The status of the answer, or 0 for one that was cut. A busy database has no time for a change: then the slot is as it was. */
async function follow(plan: Plan): Promise<number> {
  for (;;) {
    const status = await tryOnce(plan);
    if (status !== 503) return status;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

async function tryOnce({ slot, bytes, isAnnounced, cutAt }: Plan): Promise<number> {
  const put = openPut(slot.url, isAnnounced ? { "content-length": bytes.length } : {});
  if (cutAt === null) {
    if (bytes.length > 0) void put.send(bytes);
    put.end();
  } else {
    if (cutAt > 0) await Promise.race([put.send(bytes.subarray(0, cutAt)), put.answer.catch(() => undefined)]);
    put.cut();
  }
  return put.answer.then(
    ({ status }) => status,
    () => 0,
  );
}

describeOnEach("a storm", (database) => {
  test(`of ${many} uploads at once with random cuts leaves no orphan, no row without bytes, and the quota exact`, async () => {
    await using town = await fileTown(database, { nodes: nodesOf(database), env: { FILE_QUOTA: `${quota}` } });
    const ann = await town.service.person();
    const dice = diceOf(`storm ${database}`);
    const slots: Slot[] = [];
    while (slots.length < many) slots.push(...(await Promise.all(Array.from({ length: 50 }, () => slotOf(town, ann)))));
    const plans = slots.map((slot) => planOf(slot, dice));
    const answers = await Promise.all(plans.map(follow));
    const count = (status: number) => answers.filter((answer) => answer === status).length;
    // What a busy database kept from being cleared away at once is tried again within seconds.
    await until(async () => (await books(town.database)).blobs.every(({ state }) => state === "kept"));

    const { store } = town.service;
    const kept = new Map<string, number>();
    for (const [i, { slot, bytes, cutAt }] of plans.entries()) {
      const file = await store.files.byId(slot.id);
      expect(file?.status === "uploaded", `${answers[i]} ${cutAt} ${bytes.length}`).toBe(
        answers[i] === 200 || (file?.status === "uploaded" && cutAt === bytes.length),
      );
      if (file?.status !== "uploaded") continue;
      expect(file).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) });
      kept.set(file.blobId ?? "", bytes.length);
    }
    const found = await books(town.database);
    expect(new Map(found.blobs.map(({ id, bytes }) => [id, bytes]))).toEqual(kept);
    expect(new Set(town.stored().map((path) => basename(path)))).toEqual(new Set(kept.keys()));
    expect([found.isExact, await used(store, ann)]).toEqual([true, [...kept.values()].reduce((sum, bytes) => sum + bytes, 0)]);
    // Otherwise the test proved less than it says.
    expect([count(200) > 300, count(0) > 200, count(413) > 0]).toEqual([true, true, true]);
    expect(count(200) + count(0) + count(413)).toBe(many);
  });
});
