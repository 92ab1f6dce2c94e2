/** What an app may be let do for its user (contract/oauth.md 2). */
export const scopeNames = ["create_task", "manage_all_tasks", "create_project", "use_connectors", "use_my_browsers"] as const;
export type ScopeName = (typeof scopeNames)[number];

/** True for the name of a scope; case counts (RFC 6749 3.3). */
export const isScope = (text: string): text is ScopeName => scopeNames.some((name) => name === text);
