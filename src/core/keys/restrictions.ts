import { BlockList, isIP } from "node:net";
import type { KeyKind, Scope } from "../accounts/caller.ts";
import { isKeyScope, type KeyScope } from "../accounts/key-scopes.ts";
import { invalidArgument } from "../failure.ts";
import type { Tx } from "../store.ts";

/** What an API key is limited to (spec/api.md 8.108). Null: not limited. */
export interface KeyRestrictions {
  readonly scopes: readonly KeyScope[] | null;
  /** The projects whose tasks the key reaches. */
  readonly projectIds: readonly string[] | null;
  /** The addresses from which the key can be used: IPv4 and IPv6 ranges in CIDR form. */
  readonly addressRanges: readonly string[] | null;
}

/** The restrictions of a key without any. */
export const noRestrictions: KeyRestrictions = { scopes: null, projectIds: null, addressRanges: null };

/** Restrictions as a request has them: an empty list does not limit. */
export interface RestrictionsInput {
  readonly scopes: readonly string[];
  readonly projectIds: readonly string[];
  readonly addressRanges: readonly string[];
}

/**
 * Checks requested restrictions of a key. Projects are locked, so that none is deleted in the same moment.
 *
 * @throws Failure `invalid_argument` for an unknown scope, a project that the holder does not have, a text
 * that is not a range, and for scopes or projects of an enterprise key, whose operations are fixed.
 */
export async function checkRestrictions(
  tx: Pick<Tx, "projects">,
  holder: Scope,
  kind: KeyKind,
  { scopes, projectIds, addressRanges }: RestrictionsInput,
): Promise<KeyRestrictions> {
  if (kind !== "general" && scopes.length > 0)
    throw invalidArgument("restrictions.scopes", "are for general keys only");
  if (kind !== "general" && projectIds.length > 0)
    throw invalidArgument("restrictions.project_ids", "are for general keys only");
  for (const [nth, id] of projectIds.entries()) {
    if (!(await tx.projects.lock(holder, id)))
      throw invalidArgument(`restrictions.project_ids[${nth}]`, "is not a project of the key's holder");
  }
  return {
    scopes: orNull(scopes.map(checkScope)),
    projectIds: orNull(projectIds),
    addressRanges: orNull(addressRanges.map(checkRange)),
  };
}

const orNull = <T>(items: readonly T[]): readonly T[] | null =>
  items.length === 0 ? null : [...new Set(items)];

function checkScope(text: string, nth: number): KeyScope {
  if (!isKeyScope(text))
    throw invalidArgument(`restrictions.scopes[${nth}]`, "is not a scope of API keys, such as task:read");
  return text;
}

function checkRange(text: string, nth: number): string {
  const range = parseRange(text);
  if (!range)
    throw invalidArgument(
      `restrictions.address_ranges[${nth}]`,
      "must be an address or a range like 10.0.0.0/8 or 2001:db8::/32",
    );
  return `${range.network}/${range.prefix}`;
}

interface Range {
  readonly network: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** An address, or a range in CIDR form (RFC 4632 3.1, RFC 4291 2.3); null for any other text. */
function parseRange(text: string): Range | null {
  const [, network = "", written] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(network)] ?? -1;
  const prefix = written === undefined ? bits : Number(written);
  if (bits < 0 || prefix > bits) return null;
  return { network: network.toLowerCase(), prefix, family: bits === 32 ? "ipv4" : "ipv6" };
}

/**
 * Whether a key can be used from an address. An IPv4 address in its IPv6 form counts as IPv4 (RFC 4291
 * 2.5.5.2).
 */
export function isAllowedAddress(ranges: readonly string[] | null, address: string): boolean {
  if (ranges === null) return true;
  // A link-local address can name its interface.
  const [bare = ""] = address.split("%");
  const version = isIP(bare);
  return version !== 0 && blockList(ranges).check(bare, version === 4 ? "ipv4" : "ipv6");
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) {
    const range = parseRange(text);
    if (range) list.addSubnet(range.network, range.prefix, range.family);
  }
  return list;
}

/** What the audit log has of changed restrictions: every limit, null where there is none. */
export const limitsOf = ({ scopes, projectIds, addressRanges }: KeyRestrictions) => ({
  scopes,
  projectIds,
  addressRanges,
});

/** What the audit log has of the restrictions of a new key: the limits that are set. */
export const toAuditFacts = ({
  scopes,
  projectIds,
  addressRanges,
}: KeyRestrictions): Partial<KeyRestrictions> => ({
  ...(scopes === null ? {} : { scopes }),
  ...(projectIds === null ? {} : { projectIds }),
  ...(addressRanges === null ? {} : { addressRanges }),
});
