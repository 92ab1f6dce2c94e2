import { Readable } from "node:stream";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { systemClock } from "../../src/core/clock.ts";
import { staging } from "../../src/core/files/stage.ts";
import { writer } from "../../src/core/files/writer.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import type { Checkpoint } from "../../src/core/websites/checkpoint.ts";
import { createSaveSite } from "../../src/core/websites/save.ts";

/** Files of a site by their paths. */
export type SiteTree = Readonly<Record<string, string | Uint8Array>>;

/**
 * Saves a checkpoint of a task's site as an agent's event does. @param folder the platform's folder of bytes
 */
export async function saveTree(
  store: Store,
  folder: string,
  taskId: string,
  files: SiteTree,
  message = "Saved",
): Promise<Checkpoint> {
  const clock = systemClock;
  const blobs = createLocalBlobs(folder);
  const stage = staging({
    changeBytes: store.change,
    clock,
    ids: systemIds,
    writer: writer({ changeBytes: store.change, blobs, clock, ids: systemIds, quota: 1024 ** 3 }),
  });
  const staged = await Promise.all(
    Object.entries(files).map(async ([path, text]) => {
      const to = { accountId: null, max: 64 * 1024 ** 2, signal: new AbortController().signal };
      return {
        path,
        staged: await stage.stage(Readable.from([Buffer.from(text)], { objectMode: false }), to),
      };
    }),
  );
  const task = await store.tasks.byId(taskId);
  if (!task) throw new Error("no such task");
  const save = createSaveSite({ clock, ids: systemIds, random: systemRandom });
  return store.change((tx) => save(tx, task, { title: "My site", message, files: staged }));
}
