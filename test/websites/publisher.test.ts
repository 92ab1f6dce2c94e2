import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { fileSweep } from "../../src/core/files/sweep.ts";
import { createDeploy } from "../../src/core/websites/save.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { putTask } from "../store/samples.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { paths, visibilityOf } from "./publisher-version.ts";

const test = sampledTest(3);

const rounds = sample(200, 1);

/** Runs a publisher until it is killed, without a time during its first publication; returns its output. */
async function runUntilKilled(
  db: TestStore,
  folder: string,
  taskId: string,
  first: number,
  afterMs: number | null,
): Promise<string> {
  const args = [
    "test/websites/publisher.ts",
    db.url,
    folder,
    taskId,
    String(first),
    ...(afterMs === null ? ["halfway"] : []),
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  await delay(afterMs ?? 0);
  child.kill("SIGKILL");
  const [code] = await ended;
  expect(code, "only the signal ends it").toBeNull();
  return output;
}

const lastNumber = (output: string, label: string): number =>
  Number(
    output
      .match(new RegExp(`${label} (\\d+)`, "g"))
      ?.at(-1)
      ?.split(" ")[1] ?? 0,
  );

describeOnOne("a website that is published again and again", (kind) => {
  test(`after each of ${rounds + 1} kills all paths have one version and its visibility, and a begun publication goes live`, {
    timeout: testMs + rounds * 60_000,
  }, async () => {
    await using db = await openTestStore(kind);
    const folder = await mkdtemp(join(tmpdir(), "publisher-"));
    const { store } = db;
    const blobs = createLocalBlobs(folder);
    const { id: taskId } = await putTask(store);
    const later: Clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
    const sweep = fileSweep({ changeBytes: store.change, blobs, clock: later, log: () => undefined });
    const random = seededRandom(`publisher ${kind}`);
    const site = async () => {
      const found = await store.websites.ofTask(taskId);
      if (!found) throw new Error("there is no site");
      return found;
    };
    /** The version that all files of a checkpoint have. */
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
    let [first, interrupted] = [1, 0];
    try {
      // The time of each kill is random; the last one is during a publication.
      for (let round = 0; round <= rounds; round += 1) {
        const output = await runUntilKilled(
          db,
          folder,
          taskId,
          first,
          round === rounds ? null : random.below(80),
        );
        await sweep.sweep(new AbortController().signal);
        const { liveId, publishingId, visibility } = await site();
        // The version that a visitor sees at once, with work still pending.
        const seen = liveId === null ? 0 : await versionOf(liveId);
        expect(seen).toBeGreaterThanOrEqual(lastNumber(output, "live"));
        if (liveId !== null) expect(visibility).toBe(visibilityOf(seen));
        await createDeploy(store, systemClock)((await site()).id);
        const after = await site();
        expect([after.status, after.publishingId, after.publishingAs]).toEqual(["published", null, null]);
        const live = await versionOf(after.liveId ?? "");
        expect(live).toBe(publishingId === null ? seen : await versionOf(publishingId));
        expect(live).toBeGreaterThanOrEqual(lastNumber(output, "begun"));
        expect(after.visibility).toBe(visibilityOf(live));
        const [newest] = await store.checkpoints.list(after.id);
        // Saved and not live, or live and not reported: the kill hit a publication.
        if (publishingId !== null || Number(newest?.message) > lastNumber(output, "live")) interrupted += 1;
        first = Number(newest?.message) + 1;
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    expect(interrupted, "a kill must hit a publication").toBeGreaterThan(0);
  });
});
