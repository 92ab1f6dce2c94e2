/**
 * A schema that a database has while a restore or a move fills it. It is created before the first table and
 * dropped after the last row, so a process that dies between the two leaves a database that no server opens.
 */
export const incompleteSchema = "incomplete_installation";
export const incompleteQuery = `SELECT 1 FROM pg_namespace WHERE nspname = '${incompleteSchema}'`;

/** The advisory lock that every process with an open store shares, of any role. */
export const openLock = 72707370;
