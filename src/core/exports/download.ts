import { absent, Failure, type Reason } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Export, ExportKind, ExportOf } from "./export.ts";
import { isPurged } from "./lifecycle.ts";
import type { ExportLink, ExportLinks } from "./links.ts";

/** @throws Failure `absent` for one of another kind or space too. */
export async function exportIn<K extends ExportKind>(
  { exports }: Pick<Tx, "exports">,
  kind: K,
  spaceId: string,
  id: string,
): Promise<ExportOf<K>> {
  const found = await exports.find(kind, spaceId, id);
  if (found === null) throw absent("export");
  return found;
}

/** A fresh address; null unless there is an archive. */
export const linkTo = (of: Export, links: Pick<ExportLinks, "download">, now: number): ExportLink | null =>
  of.status === "completed" && !isPurged(of, now) ? links.download(of, now) : null;

/**
 * A fresh address of an archive.
 *
 * @param purged what an archive that is no longer kept is refused as.
 * @throws Failure `precondition` until it is completed.
 */
export function downloadOf(
  of: Export,
  links: Pick<ExportLinks, "download">,
  now: number,
  purged: Extract<Reason, "absent" | "precondition">,
): ExportLink {
  if (of.status !== "completed") throw new Failure("precondition", "the export is not completed");
  const fresh = linkTo(of, links, now);
  if (fresh !== null) return fresh;
  throw purged === "absent" ? absent("archive") : new Failure("precondition", "the archive was purged 30 days after its completion");
}
