/** The groups in the claims of a person, or why the claim cannot be used. */
export type ClaimedGroups = { readonly names: ReadonlySet<string> } | { readonly unusable: string };

/** The most groups in a claim, and their bytes together. */
const namesMax = 1000;
const bytesMax = 64 * 1024;

/**
 * Reads the claim with a person's groups: a text or a list of texts. Without the claim the person is in no
 * group, unless the provider says that it sends the groups in another way (OpenID Connect Core 5.6.2).
 */
export function readClaimedGroups(claims: Readonly<Record<string, unknown>>, claim: string): ClaimedGroups {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined)
    return isElsewhere(claims, claim)
      ? { unusable: "the provider sends it in another way" }
      : { names: new Set() };
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (names.length > namesMax) return { unusable: `it has more than ${namesMax} groups` };
  if (!names.every((name) => typeof name === "string")) return { unusable: "it is not a list of texts" };
  if (names.reduce((sum, name) => sum + Buffer.byteLength(name), 0) > bytesMax)
    return { unusable: `it has more than ${bytesMax} bytes` };
  return { names: new Set(names) };
}

/** Whether the claim is distributed or aggregated: providers do so when a person has too many groups. */
function isElsewhere(
  { _claim_names: ClaimNames }: Readonly<Record<string, unknown>>,
  claim: string,
): boolean {
  return typeof ClaimNames === "object" && ClaimNames !== null && Object.hasOwn(ClaimNames, claim);
}
