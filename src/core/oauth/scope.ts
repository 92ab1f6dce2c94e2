/** What an app may be let do for its user (contract/oauth.md 2). */
export const scopeNames = ["create_task", "manage_all_tasks", "create_project", "use_connectors", "use_my_browsers"] as const;
export type ScopeName = (typeof scopeNames)[number];

/** True for the name of a scope; case counts (RFC 6749 3.3). */
export const isScope = (text: string): text is ScopeName => scopeNames.some((name) => name === text);

/**
 * The scopes that a `scope` parameter names, in the order of the table; null where one
 * is unknown or not among those that may be named (RFC 6749 3.3: case counts, order does not).
 */
export function scopesIn(text: string, among: readonly ScopeName[]): ScopeName[] | null {
  const names = text.split(" ").filter((name) => name !== "");
  if (names.length === 0 || !names.every((name) => isScope(name) && among.includes(name))) return null;
  return scopeNames.filter((name) => names.includes(name));
}
