const coreSchema = "urn:ietf:params:scim:schemas:core:2.0:user:";
const pathForm = /^([a-z$][\w$-]*)(?:\[[^\]]*\])?(?:\.([a-z$][\w$-]*))?$/;

/**
 * Where a path leads, whatever it selects there: of `roles[primary eq "True"].value` it is `roles.value`,
 * because a member has one role. Attributes of other schemas keep their whole name.
 *
 * @returns the name in lower case, as SCIM's names are read whatever theirs (RFC 7643 2.1); null for what
 * is no path (RFC 7644 3.5.2).
 */
export function attributeOf(path: string): string | null {
  const lower = path.trim().toLowerCase();
  const own = lower.startsWith(coreSchema) ? lower.slice(coreSchema.length) : lower;
  if (own.startsWith("urn:")) return own;
  const found = pathForm.exec(own);
  if (!found) return null;
  const [, name = "", sub] = found;
  return sub === undefined ? name : `${name}.${sub}`;
}
