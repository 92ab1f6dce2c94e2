import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import { exceeds } from "../visibility.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { capOf, type SiteEdit, type SiteVisibility, type Website } from "./website.ts";

/** Which site is meant: one of the two, or both where they name the same (contract/v2.md 9.12, contract/decisions.md 49). */
export interface Located {
  readonly taskId?: string | undefined;
  readonly websiteId?: string | undefined;
}

/** Websites of a caller: each method is one operation of contract/v2.md 8.29 to 8.32. */
export interface Websites {
  status(tx: Tx, caller: Caller, which: Located): Promise<Website>;
  checkpoints(tx: Tx, caller: Caller, which: Located): Promise<{ readonly site: Website; readonly checkpoints: readonly Checkpoint[] }>;
  /**
   * Begins to publish the newest checkpoint, also while another is being published.
   *
   * @throws Failure `forbidden` beyond the cap, or for a team where there is none; `precondition` without a checkpoint.
   */
  publish(
    tx: Tx,
    caller: Caller,
    which: Located,
    visibility: SiteVisibility,
  ): Promise<{ readonly site: Website; readonly checkpoint: Checkpoint }>;
  /** @throws Failure `invalid` for an edit of nothing, `forbidden` as for `publish`. */
  update(tx: Tx, caller: Caller, which: Located, edit: SiteEdit): Promise<void>;
}

export function websites(clock: Clock): Websites {
  /** @throws Failure `absent` when it was deleted meanwhile. */
  async function locked(tx: Tx, caller: Caller, which: Located): Promise<Website> {
    const site = await tx.websites.lock((await located(tx, caller, which)).id);
    if (!site) throw absent("website");
    return site;
  }

  return {
    status: located,
    async checkpoints(tx, caller, which) {
      const site = await located(tx, caller, which);
      return { site, checkpoints: await tx.checkpoints.list(site.id) };
    },
    async publish(tx, caller, which, visibility) {
      const site = await locked(tx, caller, which);
      checkVisibility(site, caller, visibility);
      const checkpoint = await tx.checkpoints.latest(site.id);
      if (!checkpoint) throw new Failure("precondition", "the website has no checkpoint to publish");
      const now = clock.now();
      await tx.websites.begin(site.id, { checkpointId: checkpoint.id, visibility }, now);
      await tx.jobs.put({ kind: "publish", key: site.id, runAt: now });
      const before = { visibility: site.visibility, versionId: site.liveId };
      tx.audit.note({ subject: site.id, before, after: { visibility, versionId: checkpoint.id } });
      return { site, checkpoint };
    },
    async update(tx, caller, which, edit) {
      checkLocator(which);
      if (edit.title === undefined && edit.visibility === undefined) throw invalid("", "title or visibility must be given");
      const site = await locked(tx, caller, which);
      if (edit.visibility !== undefined) checkVisibility(site, caller, edit.visibility);
      await tx.websites.edit(site.id, edit, clock.now());
      const { title, visibility } = site;
      tx.audit.note({ subject: site.id, before: { title, visibility }, after: { ...edit } });
    },
  };
}

function checkLocator({ taskId = "", websiteId = "" }: Located): void {
  if (taskId === "" && websiteId === "") throw invalid("", "task_id or website_id must be given");
}

/**
 * The caller's site. A colleague's is known to be there, and refused; what other spaces hold does not
 * exist for this one (contract/v2.md 9.12, contract/decisions.md 1).
 */
async function located(tx: Tx, caller: Caller, which: Located): Promise<Website> {
  checkLocator(which);
  const { taskId = "", websiteId = "" } = which;
  const task = taskId === "" ? null : await tx.tasks.find(caller, taskId);
  if (taskId !== "" && !task) throw absent("task");
  const site = task ? await tx.websites.ofTask(task.id) : await tx.websites.byId(websiteId);
  // The site that website_id names is not read: it may belong to another account.
  if (task && websiteId !== "" && site?.id !== websiteId) throw invalid("", "task_id and website_id must name the same website");
  if (!site || site.spaceId !== caller.spaceId) throw absent("website");
  if (site.accountId !== caller.accountId) throw new Failure("forbidden", "no access to this website");
  return site;
}

function checkVisibility(site: Website, { role }: Caller, wanted: SiteVisibility): void {
  if (wanted === "team" && role === null) throw new Failure("forbidden", "visibility team needs a team: this is a personal space");
  if (exceeds(wanted, capOf(site))) throw new Failure("forbidden", `visibility ${wanted} exceeds what this website may have`);
}
