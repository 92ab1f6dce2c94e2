import type { Clock } from "../clock.ts";
import { givenUp } from "../files/writer.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { type Checkpoint, type CheckpointFile, snapshotHash } from "./checkpoint.ts";
import { type StagedSite, siteContentType } from "./snapshot.ts";
import { newWebsite, type Website } from "./website.ts";

/** A site keeps so many checkpoints; the live one and the one being published are kept besides. */
export const checkpointsMax = 100;

/** Keeps what an agent hands over as a checkpoint of its task's site, which is made with the first. */
export type SaveSite = (tx: Tx, task: Pick<Task, "id" | "accountId" | "spaceId">, site: StagedSite) => Promise<Checkpoint>;

/** What saving needs of its surroundings. */
export interface SaveParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly random: Random;
}

/** Part of the change that writes the event, so that both are there or neither. */
export function siteSaver({ clock, ids, random }: SaveParts): SaveSite {
  async function siteOf(tx: Tx, { id: taskId, accountId, spaceId }: Parameters<SaveSite>[1], title: string): Promise<Website> {
    const found = await tx.websites.ofTask(taskId);
    const held = found && (await tx.websites.lock(found.id));
    if (held) return held;
    const site = newWebsite({ taskId, accountId, spaceId, title: title.trim(), now: clock.now(), ids, random });
    await tx.websites.insert(site);
    return site;
  }

  return async (tx, task, staged) => {
    const site = await siteOf(tx, task, staged.title);
    const files = await keepFiles(tx, site, staged);
    const earlier = await tx.checkpoints.list(site.id);
    const checkpoint: Checkpoint = {
      id: ids.short(),
      websiteId: site.id,
      spaceId: site.spaceId,
      message: staged.message,
      status: "success",
      hash: snapshotHash(files),
      // The newest is the newest, however fast they follow each other.
      createdAt: Math.max(clock.now(), (earlier[0]?.createdAt ?? 0) + 1),
    };
    await tx.checkpoints.insert(checkpoint, files);
    const spare = earlier.filter(({ id }) => id !== site.liveId && id !== site.publishingId).slice(checkpointsMax - 1);
    for (const { id } of spare) await tx.checkpoints.erase(site.id, id);
    return checkpoint;
  };
}

/** Bytes that the site has already are not kept twice: what was staged of them is left to the sweep. */
async function keepFiles(tx: Tx, { id }: Website, { files }: StagedSite): Promise<readonly CheckpointFile[]> {
  const blobs = new Map(await tx.checkpoints.blobsOf(id, [...new Set(files.map(({ staged }) => staged.sha256))]));
  for (const { staged } of files) {
    if (blobs.has(staged.sha256)) continue;
    if (!(await tx.blobs.keep(staged.blobId))) throw givenUp();
    blobs.set(staged.sha256, staged.blobId);
  }
  return files.map(({ path, staged: { blobId, bytes, sha256 } }) => ({
    ...{ path, bytes, sha256, blobId: blobs.get(sha256) ?? blobId },
    contentType: siteContentType(path),
  }));
}
