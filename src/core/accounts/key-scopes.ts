/**
 * The scopes of API keys: a subject, and what a key may do with it. Each operation that takes a general key
 * names one of them; only `connector:use` belongs to no operation (spec/api.md 8.108).
 */
export const keyScopes = [
  "task:read",
  "task:write",
  "task:approve",
  "project:read",
  "project:write",
  "file:read",
  "file:write",
  "schedule:read",
  "schedule:write",
  "skill:read",
  "skill:write",
  "connector:read",
  "connector:write",
  "connector:use",
  "agent:read",
  "agent:write",
  "browser:read",
  "browser:write",
  "website:read",
  "website:write",
  "webhook:read",
  "webhook:write",
  "usage:read",
  "budget:read",
  "budget:write",
  "key:read",
  "key:write",
  "app:read",
  "app:write",
  "team:read",
  "team:write",
  "worker:read",
  "worker:write",
  "audit:read",
  "export:read",
  "export:write",
  "import:read",
  "import:write",
] as const satisfies readonly `${string}:${"read" | "write" | "approve" | "use"}`[];
export type KeyScope = (typeof keyScopes)[number];

/** True for the name of a scope of keys; case matters. */
export const isKeyScope = (text: string): text is KeyScope => keyScopes.some((name) => name === text);
