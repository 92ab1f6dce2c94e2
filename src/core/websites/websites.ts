import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { byCreation, decodeCursor, type Page, pageOf } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { exceeds } from "../visibility.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { checkLocator, findSite, lockSite, type WebsiteRef } from "./find-site.ts";
import { beginPublication } from "./save.ts";
import { effectiveCap, type SiteEdit, type SiteVisibility, type Website } from "./website.ts";

interface Deployment {
  readonly site: Website;
  readonly checkpoint: Checkpoint;
}

/** Websites of a caller: each method is one operation of spec/api.md 8.29 to 8.32 and 8.53. */
export interface Websites {
  /** Newest first. @throws Failure `invalid_argument` for a cursor of another list. */
  list(tx: Tx, caller: Caller, page: { limit: number; cursor: string | undefined }): Promise<Page<Website>>;
  status(tx: Tx, caller: Caller, which: WebsiteRef): Promise<Website>;
  checkpoints(
    tx: Tx,
    caller: Caller,
    which: WebsiteRef,
  ): Promise<{ site: Website; checkpoints: readonly Checkpoint[] }>;
  /**
   * Begins to publish the newest checkpoint, also while another is being published.
   *
   * @throws Failure `permission_denied` for a visibility beyond the cap, or `team` in a personal space;
   * `failed_precondition` without a checkpoint.
   */
  publish(tx: Tx, caller: Caller, which: WebsiteRef, visibility: SiteVisibility): Promise<Deployment>;
  /**
   * Begins to publish an earlier checkpoint of a site that is online, with the visibility that it has.
   *
   * @throws Failure `not_found` for an unknown checkpoint; `failed_precondition` for one that is not
   * complete, or while the site is offline.
   */
  rollBack(tx: Tx, caller: Caller, which: WebsiteRef, versionId: string): Promise<Deployment>;
  /** Takes the site offline; nothing changes when it is. */
  unpublish(tx: Tx, caller: Caller, which: WebsiteRef): Promise<void>;
  delete(tx: Tx, caller: Caller, which: WebsiteRef): Promise<void>;
  /** @throws Failure `invalid_argument` for an empty edit, `permission_denied` as for `publish`. */
  update(tx: Tx, caller: Caller, which: WebsiteRef, edit: SiteEdit): Promise<void>;
}

export function websites(clock: Clock): Websites {
  async function deploy(
    tx: Tx,
    site: Website,
    checkpoint: Checkpoint,
    visibility: SiteVisibility,
  ): Promise<Deployment> {
    await beginPublication(tx, { siteId: site.id, checkpointId: checkpoint.id, visibility }, clock.now());
    const before = { visibility: site.visibility, versionId: site.liveId };
    tx.audit.note({ subject: site.id, before, after: { visibility, versionId: checkpoint.id } });
    return { site, checkpoint };
  }

  return {
    status: findSite,
    async list(tx, caller, { limit, cursor }) {
      const { accountId, spaceId } = caller;
      const binding = { accountId, spaceId, operation: "website.list", filter: {} };
      const position = cursor ? decodeCursor(binding, cursor) : undefined;
      const from = position ? { after: { createdAt: position.value, id: position.id } } : {};
      const rows = await tx.websites.list(caller, { limit: limit + 1, ...from });
      return pageOf(rows, limit, binding, byCreation);
    },
    async checkpoints(tx, caller, which) {
      const site = await findSite(tx, caller, which);
      return { site, checkpoints: await tx.checkpoints.list(site.id) };
    },
    async publish(tx, caller, which, visibility) {
      const site = await lockSite(tx, caller, which);
      checkVisibility(site, caller, visibility);
      const checkpoint = await tx.checkpoints.latest(site.id);
      if (!checkpoint) throw new Failure("failed_precondition", "the website has no checkpoint to publish");
      return deploy(tx, site, checkpoint, visibility);
    },
    async rollBack(tx, caller, which, versionId) {
      const site = await lockSite(tx, caller, which);
      const checkpoint = (await tx.checkpoints.list(site.id)).find(({ id }) => id === versionId);
      if (!checkpoint) throw notFound("checkpoint", "version_id");
      if (site.liveId === null)
        throw new Failure(
          "failed_precondition",
          "the website is not online: publish it with website.publish",
        );
      if (checkpoint.status !== "success")
        throw new Failure("failed_precondition", "the checkpoint is not complete: choose another one");
      return deploy(tx, site, checkpoint, site.publishingAs ?? site.visibility);
    },
    async unpublish(tx, caller, which) {
      const site = await lockSite(tx, caller, which);
      const isOnline = site.liveId !== null || site.publishingId !== null;
      if (isOnline) await tx.websites.unpublish(site.id, clock.now());
      const { visibility, liveId } = site;
      tx.audit.note({
        subject: site.id,
        before: { visibility, versionId: liveId },
        after: { visibility: isOnline ? "private" : visibility, versionId: null },
      });
    },
    async delete(tx, caller, which) {
      const site = await lockSite(tx, caller, which);
      await tx.websites.delete(site.id, clock.now(), caller.role === null);
      tx.audit.note({
        subject: site.id,
        before: { title: site.title, visibility: site.visibility, versionId: site.liveId },
      });
    },
    async update(tx, caller, which, edit) {
      checkLocator(which);
      if (edit.title === undefined && edit.visibility === undefined)
        throw invalidArgument("", "title or visibility must be given");
      const site = await lockSite(tx, caller, which);
      if (edit.visibility !== undefined) checkVisibility(site, caller, edit.visibility);
      await tx.websites.edit(site.id, edit, clock.now());
      const { title, visibility } = site;
      tx.audit.note({ subject: site.id, before: { title, visibility }, after: { ...edit } });
    },
  };
}

function checkVisibility(site: Website, { role }: Caller, requested: SiteVisibility): void {
  if (requested === "team" && role === null)
    throw new Failure("permission_denied", "visibility team needs a team: this is a personal space");
  if (exceeds(requested, effectiveCap(site)))
    throw new Failure("permission_denied", `visibility ${requested} exceeds the cap of this website`);
}
