import type { Clock } from "../clock.ts";
import { uploadAbandoned } from "../files/writer.ts";
import type { Ids, Random } from "../ids.ts";
import type { Store, Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import {
  type Checkpoint,
  type CheckpointFile,
  type StagedSite,
  siteContentType,
  snapshotHash,
} from "./checkpoint.ts";
import { newWebsite, type SiteVisibility, type Website } from "./website.ts";

/**
 * Completes the publication that a site has begun. Does nothing when it was ended in the meantime; a newer
 * one is completed instead.
 */
export type Deploy = (websiteId: string) => Promise<void>;

/**
 * A deployment is one conditional change: a reader at any time, also after a crash, finds
 * the old version or the new one. A missing file fails the deployment permanently.
 */
export const createDeploy =
  (store: Store, clock: Clock): Deploy =>
  (websiteId) =>
    store.change(async (tx) => {
      const site = await tx.websites.lock(websiteId);
      const checkpointId = site?.publishingId ?? null;
      if (checkpointId === null) return;
      if (await tx.checkpoints.isComplete(checkpointId))
        await tx.websites.goLive(websiteId, checkpointId, clock.now());
      else await tx.websites.fail(websiteId, checkpointId, clock.now());
    });

/** Begins to publish a checkpoint: a job completes it. */
export async function beginPublication(
  tx: Tx,
  {
    siteId,
    ...deployment
  }: { readonly siteId: string; readonly checkpointId: string; readonly visibility: SiteVisibility },
  now: number,
): Promise<void> {
  await tx.websites.begin(siteId, deployment, now);
  await tx.jobs.put({ kind: "publish", key: siteId, runAt: now });
}

/** The most checkpoints of a site; the live one and the one being published are kept in addition. */
export const checkpointsMax = 100;

/**
 * Stores the site that an agent saves as a checkpoint of its task's website; the first checkpoint creates the
 * website.
 */
export type SaveSite = (
  tx: Tx,
  task: Pick<Task, "id" | "accountId" | "spaceId">,
  site: StagedSite,
) => Promise<Checkpoint>;

export interface SaveParts {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "short">;
  readonly random: Random;
}

/** Runs in the change that writes the event, so that both are stored or neither. */
export function createSaveSite({ clock, ids, random }: SaveParts): SaveSite {
  async function findOrCreateSite(
    tx: Tx,
    { id: taskId, accountId, spaceId }: Parameters<SaveSite>[1],
    { title, publish }: StagedSite,
  ): Promise<Website> {
    const found = await tx.websites.ofTask(taskId);
    const locked = found && (await tx.websites.lock(found.id));
    if (locked) return locked;
    const created = newWebsite({
      taskId,
      accountId,
      spaceId,
      title: title.trim(),
      now: clock.now(),
      ids,
      random,
    });
    const site = publish ? { ...created, label: publish.label } : created;
    await tx.websites.insert(site);
    return site;
  }

  return async (tx, task, staged) => {
    const site = await findOrCreateSite(tx, task, staged);
    const files = await keepFiles(tx, site, staged);
    const earlier = await tx.checkpoints.list(site.id);
    const checkpoint: Checkpoint = {
      id: ids.short(),
      websiteId: site.id,
      spaceId: site.spaceId,
      message: staged.message,
      status: "success",
      hash: snapshotHash(files),
      // Always later than the previous checkpoint, so that the order is unambiguous.
      createdAt: Math.max(clock.now(), (earlier[0]?.createdAt ?? 0) + 1),
    };
    await tx.checkpoints.insert(checkpoint, files);
    const obsolete = earlier
      .filter(({ id }) => id !== site.liveId && id !== site.publishingId)
      .slice(checkpointsMax - 1);
    for (const { id } of obsolete) await tx.checkpoints.delete(site.id, id);
    if (staged.publish)
      await beginPublication(
        tx,
        { siteId: site.id, checkpointId: checkpoint.id, visibility: staged.publish.visibility },
        clock.now(),
      );
    return checkpoint;
  };
}

/** Reuses bytes that the site already has; the sweep removes their staged copies. */
async function keepFiles(tx: Tx, { id }: Website, { files }: StagedSite): Promise<readonly CheckpointFile[]> {
  const blobs = new Map(
    await tx.checkpoints.findBlobs(id, [...new Set(files.map(({ staged }) => staged.sha256))]),
  );
  for (const { staged } of files) {
    if (blobs.has(staged.sha256)) continue;
    if (!(await tx.blobs.keep(staged.blobId))) throw uploadAbandoned();
    blobs.set(staged.sha256, staged.blobId);
  }
  return files.map(({ path, staged: { blobId, bytes, sha256 } }) => ({
    path,
    bytes,
    sha256,
    blobId: blobs.get(sha256) ?? blobId,
    contentType: siteContentType(path),
  }));
}
