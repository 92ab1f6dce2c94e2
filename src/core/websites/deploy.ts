import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";

/** Ends the publication that a site has begun; one that was ended, or begun anew, meanwhile is left alone. */
export type Deploy = (websiteId: string) => Promise<void>;

/**
 * All of a deployment is one guarded change: whoever looks meanwhile, or after a crash, finds
 * the old version or the new one. A file whose bytes are gone fails it for good.
 */
export const deployer =
  (store: Store, clock: Clock): Deploy =>
  (websiteId) =>
    store.change(async (tx) => {
      const site = await tx.websites.lock(websiteId);
      const checkpointId = site?.publishingId ?? null;
      if (checkpointId === null) return;
      if (await tx.checkpoints.isWhole(checkpointId)) await tx.websites.goLive(websiteId, checkpointId, clock.now());
      else await tx.websites.fail(websiteId, checkpointId, clock.now());
    });
