const isRoot = process.getuid?.() === 0;

/** Settings with which a sandbox starts: a server of root needs another user for it. */
export const sandboxUser: Readonly<Record<string, string>> = isRoot
  ? { SANDBOX_UID: "65534", SANDBOX_GID: "65534" }
  : {};
