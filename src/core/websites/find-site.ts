import type { Caller } from "../accounts/caller.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Website } from "./website.ts";

/**
 * A reference to a site: one of the two ids, or both if they name the same site (spec/api.md 9.12,
 * spec/decisions.md 49).
 */
export interface WebsiteRef {
  readonly taskId?: string | undefined;
  readonly websiteId?: string | undefined;
}

/** @throws Failure `invalid_argument` without an id. */
export function checkLocator({ taskId = "", websiteId = "" }: WebsiteRef): void {
  if (taskId === "" && websiteId === "") throw invalidArgument("", "task_id or website_id must be given");
}

/**
 * The caller's site. Another member's site in the space is refused with `permission_denied`; a site of
 * another space is reported as not found (spec/api.md 9.12, spec/decisions.md 1).
 */
export async function findSite(
  tx: Pick<Tx, "tasks" | "websites">,
  caller: Caller,
  which: WebsiteRef,
): Promise<Website> {
  checkLocator(which);
  const { taskId = "", websiteId = "" } = which;
  const task = taskId === "" ? null : await tx.tasks.find(caller, taskId);
  if (taskId !== "" && !task) throw notFound("task");
  const site = task ? await tx.websites.ofTask(task.id) : await tx.websites.byId(websiteId);
  // The site of website_id is not read: it may belong to another account.
  if (task && websiteId !== "" && site?.id !== websiteId)
    throw invalidArgument("", "task_id and website_id must name the same website");
  if (!site || site.spaceId !== caller.spaceId) throw notFound("website");
  if (site.accountId !== caller.accountId)
    throw new Failure("permission_denied", "no access to this website");
  return site;
}

/**
 * As `findSite`, and locks the site until this change ends. @throws Failure also `not_found` when it was
 * deleted in the meantime.
 */
export async function lockSite(tx: Tx, caller: Caller, which: WebsiteRef): Promise<Website> {
  const site = await tx.websites.lock((await findSite(tx, caller, which)).id);
  if (!site) throw notFound("website");
  return site;
}
