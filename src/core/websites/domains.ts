import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { type Change, deferFailure } from "../deferred.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import { dayMs, type JobNeeds, type TimedJob } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import {
  domainsMax,
  type ProveDomain,
  proofName,
  proofPath,
  type ReadDomain,
  type SiteDomain,
} from "./domain.ts";
import { findSite, lockSite, type WebsiteRef } from "./find-site.ts";

export interface DomainParts {
  /** For reads before a change. */
  readonly store: Pick<Tx, "tasks" | "websites" | "domains">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly random: Random;
  readonly readDomain: ReadDomain;
  readonly prove: ProveDomain;
}

/** The custom domains of the caller's sites: each method is one operation of spec/api.md 8.55. */
export interface Domains {
  /** Oldest first. */
  list(tx: Tx, caller: Caller, which: WebsiteRef): Promise<readonly SiteDomain[]>;
  /**
   * @throws Failure `invalid_argument`, `already_exists` when the space has linked it, `resource_exhausted`
   * at 20.
   */
  link(tx: Tx, caller: Caller, which: WebsiteRef, text: string): Promise<SiteDomain>;
  /**
   * Looks for the proof before the change.
   *
   * @throws Failure `not_found`; `failed_precondition` without the proof; `already_exists` when it is active
   * for another space.
   */
  verify(caller: Caller, which: WebsiteRef, text: string, gone: AbortSignal): Promise<Change<SiteDomain>>;
  /** @throws Failure `not_found`. */
  unlink(tx: Tx, caller: Caller, which: WebsiteRef, text: string): Promise<void>;
}

export function domains({ store, clock, ids, random, readDomain, prove }: DomainParts): Domains {
  function nameOf(text: string): string {
    const read = readDomain(text);
    if ("fault" in read) throw invalidArgument("domain", read.fault);
    return read.domain;
  }

  async function findProven(
    caller: Caller,
    which: WebsiteRef,
    text: string,
    signal: AbortSignal,
  ): Promise<SiteDomain> {
    const { id } = await findSite(store, caller, which);
    const found = requireDomain(await store.domains.find(id, nameOf(text)));
    if (!(await prove(found.domain, found.token, { accountId: caller.accountId, signal })))
      throw unproven(found);
    return found;
  }

  return {
    list: async (tx, caller, which) => tx.domains.list((await findSite(tx, caller, which)).id),
    async link(tx, caller, which, text) {
      const domain = nameOf(text);
      await tx.accounts.lockSpace(caller.spaceId);
      const site = await lockSite(tx, caller, which);
      const linked = await tx.domains.ofSpace(caller.spaceId);
      if (linked.some((each) => each.domain === domain))
        throw new Failure("already_exists", "domain: a website of this space has it; unlink it there first", {
          path: "domain",
        });
      if (linked.length >= domainsMax)
        throw new Failure("resource_exhausted", `a space has at most ${domainsMax} domains`);
      const made = newDomain(site, domain, ids.short(), random, clock.now());
      await tx.domains.insert(made);
      tx.audit.note({ subject: site.id, after: { domain, status: made.status } });
      return made;
    },
    async verify(caller, which, text, gone) {
      const getProven = await deferFailure(findProven(caller, which, text, gone));
      return async (tx) => {
        const { id, domain, websiteId, token, status } = getProven();
        await lockSite(tx, caller, { websiteId });
        if ((await tx.domains.find(websiteId, domain))?.token !== token) throw notFound("domain", "domain");
        const now = clock.now();
        if (!(await tx.domains.activate(id, now, now + dayMs)))
          throw new Failure("already_exists", "domain: is active for a website of another space", {
            path: "domain",
          });
        tx.audit.note({
          subject: websiteId,
          before: { domain, status },
          after: { domain, status: "active" },
        });
        return requireDomain(await tx.domains.find(websiteId, domain));
      };
    },
    async unlink(tx, caller, which, text) {
      const domain = nameOf(text);
      const { id } = await lockSite(tx, caller, which);
      if (!(await tx.domains.delete(id, domain))) throw notFound("domain", "domain");
      tx.audit.note({ subject: id, before: { domain } });
    },
  };
}

const newDomain = (
  { id: websiteId, spaceId, accountId }: Pick<SiteDomain, "id" | "spaceId" | "accountId">,
  domain: string,
  id: string,
  random: Random,
  now: number,
): SiteDomain => ({
  id,
  domain,
  websiteId,
  spaceId,
  accountId,
  token: Buffer.from(random(32)).toString("base64url"),
  status: "pending",
  createdAt: now,
  verifiedAt: null,
  checkedAt: null,
  nextCheckAt: null,
  failures: 0,
});

function requireDomain(domain: SiteDomain | null): SiteDomain {
  if (domain === null) throw notFound("domain", "domain");
  return domain;
}

const unproven = ({ domain, token }: SiteDomain): Failure =>
  new Failure(
    "failed_precondition",
    `domain: the proof was not found: create the TXT record ${proofName(domain)} with the text ${token}, or serve this text at ${proofPath} on the domain`,
    { path: "domain" },
  );

const roundMax = 20;

/**
 * Looks for the proofs of due domains, each once a day, in the first process that claims it. Returns when
 * none is due.
 */
export async function checkDomains(
  { store, clock, prove }: Pick<DomainParts, "clock" | "prove"> & { store: Pick<Tx, "domains"> & Changes },
  signal: AbortSignal,
): Promise<void> {
  async function check(due: SiteDomain): Promise<void> {
    const next = clock.now() + dayMs;
    if (!(await store.change((tx) => tx.domains.claimCheck(due, next)))) return;
    const isProven = await prove(due.domain, due.token, { accountId: due.accountId, signal });
    // A check that the end of the process has cut short shows nothing.
    if (signal.aborted) return;
    await store.change((tx) =>
      isProven ? tx.domains.keep(due.id, clock.now()) : tx.domains.countFailure(due.id, next, clock.now()),
    );
  }
  for (;;) {
    const due = await store.domains.listDue(clock.now(), roundMax);
    await Promise.all(due.map(check));
    if (due.length < roundMax || signal.aborted) return;
  }
}

interface Changes {
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** The daily check of a custom domain begins at most a minute after it is due. */
export const checkCustomDomains: TimedJob<JobNeeds & { prove: ProveDomain }> = {
  name: "check-custom-domains",
  every: 60_000,
  run: checkDomains,
};
