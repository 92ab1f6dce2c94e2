import type { Clock } from "../core/clock.ts";
import type { DomainRows } from "../core/websites/domain.ts";

/** The id of the site that a host name is an active custom domain of; null for any other name. */
export type SiteOfDomain = (name: string) => Promise<string | null>;

/** A domain that was freed serves its site for at most this long, and a new one is served after it. */
const keptMs = 2_000;
/** Names that are kept. Names come from visitors: beyond this, all are read again. */
const namesMax = 1_000;

/**
 * Reads the sites of custom domains, and keeps each answer for a moment: a caller of the API under another
 * name than `BASE_URL` does not cost a query for each request.
 */
export function createSiteOfDomain(
  domains: Pick<DomainRows, "siteOf">,
  clock: Pick<Clock, "monotonic">,
): SiteOfDomain {
  const kept = new Map<string, { site: Promise<string | null>; until: number }>();
  return (name) => {
    const now = clock.monotonic();
    const known = kept.get(name);
    if (known && known.until > now) return known.site;
    if (kept.size >= namesMax) kept.clear();
    const site = domains.siteOf(name);
    kept.set(name, { site, until: now + keptMs });
    site.catch(() => kept.delete(name));
    return site;
  };
}
