import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import { exceeds } from "../visibility.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { effectiveCap, type SiteEdit, type SiteVisibility, type Website } from "./website.ts";

/** A reference to a site: one of the two ids, or both if they name the same site (spec/api.md 9.12, spec/decisions.md 49). */
export interface WebsiteRef {
  readonly taskId?: string | undefined;
  readonly websiteId?: string | undefined;
}

/** Websites of a caller: each method is one operation of spec/api.md 8.29 to 8.32. */
export interface Websites {
  status(tx: Tx, caller: Caller, which: WebsiteRef): Promise<Website>;
  checkpoints(tx: Tx, caller: Caller, which: WebsiteRef): Promise<{ readonly site: Website; readonly checkpoints: readonly Checkpoint[] }>;
  /**
   * Begins to publish the newest checkpoint, also while another is being published.
   *
   * @throws Failure `permission_denied` for a visibility beyond the cap, or `team` in a personal space; `failed_precondition` without a checkpoint.
   */
  publish(
    tx: Tx,
    caller: Caller,
    which: WebsiteRef,
    visibility: SiteVisibility,
  ): Promise<{ readonly site: Website; readonly checkpoint: Checkpoint }>;
  /** @throws Failure `invalid_argument` for an empty edit, `permission_denied` as for `publish`. */
  update(tx: Tx, caller: Caller, which: WebsiteRef, edit: SiteEdit): Promise<void>;
}

export function websites(clock: Clock): Websites {
  /** @throws Failure `not_found` when it was deleted in the meantime. */
  async function lockSite(tx: Tx, caller: Caller, which: WebsiteRef): Promise<Website> {
    const site = await tx.websites.lock((await findSite(tx, caller, which)).id);
    if (!site) throw notFound("website");
    return site;
  }

  return {
    status: findSite,
    async checkpoints(tx, caller, which) {
      const site = await findSite(tx, caller, which);
      return { site, checkpoints: await tx.checkpoints.list(site.id) };
    },
    async publish(tx, caller, which, visibility) {
      const site = await lockSite(tx, caller, which);
      checkVisibility(site, caller, visibility);
      const checkpoint = await tx.checkpoints.latest(site.id);
      if (!checkpoint) throw new Failure("failed_precondition", "the website has no checkpoint to publish");
      const now = clock.now();
      await tx.websites.begin(site.id, { checkpointId: checkpoint.id, visibility }, now);
      await tx.jobs.put({ kind: "publish", key: site.id, runAt: now });
      const before = { visibility: site.visibility, versionId: site.liveId };
      tx.audit.note({ subject: site.id, before, after: { visibility, versionId: checkpoint.id } });
      return { site, checkpoint };
    },
    async update(tx, caller, which, edit) {
      checkLocator(which);
      if (edit.title === undefined && edit.visibility === undefined) throw invalidArgument("", "title or visibility must be given");
      const site = await lockSite(tx, caller, which);
      if (edit.visibility !== undefined) checkVisibility(site, caller, edit.visibility);
      await tx.websites.edit(site.id, edit, clock.now());
      const { title, visibility } = site;
      tx.audit.note({ subject: site.id, before: { title, visibility }, after: { ...edit } });
    },
  };
}

function checkLocator({ taskId = "", websiteId = "" }: WebsiteRef): void {
  if (taskId === "" && websiteId === "") throw invalidArgument("", "task_id or website_id must be given");
}

/**
 * The caller's site. Another member's site in the space is refused with `permission_denied`; a site of another space
 * is reported as not found (spec/api.md 9.12, spec/decisions.md 1).
 */
async function findSite(tx: Tx, caller: Caller, which: WebsiteRef): Promise<Website> {
  checkLocator(which);
  const { taskId = "", websiteId = "" } = which;
  const task = taskId === "" ? null : await tx.tasks.find(caller, taskId);
  if (taskId !== "" && !task) throw notFound("task");
  const site = task ? await tx.websites.ofTask(task.id) : await tx.websites.byId(websiteId);
  // The site of website_id is not read: it may belong to another account.
  if (task && websiteId !== "" && site?.id !== websiteId) throw invalidArgument("", "task_id and website_id must name the same website");
  if (!site || site.spaceId !== caller.spaceId) throw notFound("website");
  if (site.accountId !== caller.accountId) throw new Failure("permission_denied", "no access to this website");
  return site;
}

function checkVisibility(site: Website, { role }: Caller, requested: SiteVisibility): void {
  if (requested === "team" && role === null)
    throw new Failure("permission_denied", "visibility team needs a team: this is a personal space");
  if (exceeds(requested, effectiveCap(site)))
    throw new Failure("permission_denied", `visibility ${requested} exceeds the cap of this website`);
}
