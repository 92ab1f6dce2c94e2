import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { deployer } from "../../src/core/websites/deploy.ts";
import { localBlobs } from "../../src/storage/local.ts";
import { diceOf } from "../faults/harness/dice.ts";
import { putTask } from "../store/samples.ts";
import { describeOnEach, openTestStore, type TestStore } from "../support/database.ts";
import { testMs } from "../support/patience.ts";
import { paths, visibilityOf } from "./publisher-version.ts";

/** The full form has 200: `KILL_ROUNDS=200 npx vitest run --project rooms test/websites/publisher.test.ts`. */
const rounds = Number(process.env["KILL_ROUNDS"] ?? 8);

/** A publisher's life: what it has said by the time it is killed. */
async function killed(db: TestStore, folder: string, taskId: string, first: number, afterMs: number): Promise<string> {
  const words = ["test/websites/publisher.ts", db.url, folder, taskId, String(first)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  await delay(afterMs);
  child.kill("SIGKILL");
  const [code] = await ended;
  expect(code, "it ends by the signal alone").toBeNull();
  return said;
}

const lastIn = (said: string, word: string): number =>
  Number(
    said
      .match(new RegExp(`${word} (\\d+)`, "g"))
      ?.at(-1)
      ?.split(" ")[1] ?? 0,
  );

describeOnEach("a website that is published again and again", (kind) => {
  test(`after each of ${rounds} kills or more every path is of one version, published for whom it was, and what was begun goes live`, {
    timeout: testMs + rounds * 60_000,
  }, async () => {
    await using db = await openTestStore(kind);
    const folder = await mkdtemp(join(tmpdir(), "publisher-"));
    const { store } = db;
    const blobs = localBlobs(folder);
    const { id: taskId } = await putTask(store);
    const later: Clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const sweep = fileSweep({ store, blobs, clock: later, log: () => undefined });
    const dice = diceOf(`publisher ${kind}`);
    const site = async () => {
      const found = await store.websites.ofTask(taskId);
      if (!found) throw new Error("there is no site");
      return found;
    };
    /** The version that all files of a checkpoint are of. */
    async function versionOf(checkpointId: string): Promise<number> {
      const versions = new Set<string>();
      for (const path of paths) {
        const file = await store.checkpoints.file(checkpointId, [path]);
        const [version = "", of] = (await text(await blobs.read(file?.blobId ?? ""))).split(" ");
        expect(of).toBe(path);
        versions.add(version);
      }
      expect(versions.size, [...versions].join()).toBe(1);
      return Number([...versions][0]);
    }
    let [first, cut] = [1, 0];
    try {
      // And on until one of them was in the middle: chance says when.
      for (let round = 0; round < rounds || (cut === 0 && round < rounds * 20); round += 1) {
        const said = await killed(db, folder, taskId, first, dice.below(80));
        await sweep.sweep(new AbortController().signal);
        const { liveId, publishingId, visibility } = await site();
        // What a visitor sees at once, whatever is still to be done.
        const seen = liveId === null ? 0 : await versionOf(liveId);
        expect(seen).toBeGreaterThanOrEqual(lastIn(said, "live"));
        if (liveId !== null) expect(visibility).toBe(visibilityOf(seen));
        await deployer(store, systemClock)((await site()).id);
        const after = await site();
        expect([after.status, after.publishingId, after.publishingAs]).toEqual(["published", null, null]);
        const live = await versionOf(after.liveId ?? "");
        expect(live).toBe(publishingId === null ? seen : await versionOf(publishingId));
        expect(live).toBeGreaterThanOrEqual(lastIn(said, "begun"));
        expect(after.visibility).toBe(visibilityOf(live));
        const [newest] = await store.checkpoints.list(after.id);
        // Saved and not live, or live and not told: it was in the middle.
        if (publishingId !== null || Number(newest?.message) > lastIn(said, "live")) cut += 1;
        first = Number(newest?.message) + 1;
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect(cut, "or no publication was cut").toBeGreaterThan(0);
  });
});
