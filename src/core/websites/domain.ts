import type { OnBehalf, Scope } from "../accounts/caller.ts";

export const domainsMax = 20;

/** The state of a custom domain: `inactive` after three daily checks without its proof. */
export const domainStatuses = ["pending", "active", "inactive"] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** A custom domain of a site. Times are Unix milliseconds. */
export interface SiteDomain {
  readonly id: string;
  /** Lower case, ASCII, without a dot at the end. */
  readonly domain: string;
  readonly websiteId: string;
  readonly spaceId: string;
  /** The owner of the site. */
  readonly accountId: string;
  /** The text that proves the domain: 32 random bytes as base64url. It is public. */
  readonly token: string;
  readonly status: DomainStatus;
  readonly createdAt: number;
  /** When it last became active. */
  readonly verifiedAt: number | null;
  /** When its proof was last looked for by an activation or a daily check. */
  readonly checkedAt: number | null;
  /** When its proof is looked for next; null unless it is active. */
  readonly nextCheckAt: number | null;
  /** Failed daily checks in a row. */
  readonly failures: number;
}

/** The name of the TXT record that proves a domain. */
export const proofName = (domain: string): string => `_atp-verify.${domain}`;
/** The path on the domain that proves it too. */
export const proofPath = "/.well-known/atp-verify";

/**
 * Whether a domain has its proof now: the token in the TXT record, or at the path. It never throws, and takes
 * at most 15 s.
 */
export type ProveDomain = (domain: string, token: string, by: OnBehalf) => Promise<boolean>;

/**
 * Reads the name of a custom domain from a user; otherwise the rule that it breaks, to be read after the
 * field's name.
 */
export type ReadDomain = (text: string) => { readonly domain: string } | { readonly fault: string };

export interface DomainRows {
  /** The domains of a site, oldest first. */
  list(websiteId: string): Promise<readonly SiteDomain[]>;
  find(websiteId: string, domain: string): Promise<SiteDomain | null>;
  /** All domains of a space: at most 20. */
  ofSpace(spaceId: string): Promise<readonly SiteDomain[]>;
  insert(domain: SiteDomain): Promise<void>;
  /** Makes a domain active, with its next check. False when it is gone, or active for another space. */
  activate(id: string, now: number, nextCheckAt: number): Promise<boolean>;
  /** False when the site does not have the domain. */
  delete(websiteId: string, domain: string): Promise<boolean>;
  deleteOfMember(member: Scope): Promise<void>;
  /** The active domains of sites, in the order of their activation. */
  active(websiteIds: readonly string[]): Promise<readonly Pick<SiteDomain, "websiteId" | "domain">[]>;
  siteOf(domain: string): Promise<string | null>;
  /** Active domains whose check is due, the longest due first. */
  listDue(now: number, limit: number): Promise<readonly SiteDomain[]>;
  /** Moves a due check, so that one process makes it. False when another one has. */
  claimCheck(due: SiteDomain, nextCheckAt: number): Promise<boolean>;
  /** Records a check that found the proof. */
  keep(id: string, now: number): Promise<void>;
  /**
   * Counts a check without the proof; the third in a row makes the domain inactive. Does nothing when the
   * domain was verified after the check was claimed.
   */
  countFailure(id: string, claimed: number, now: number): Promise<void>;
}
