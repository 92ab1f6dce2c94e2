import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Random } from "./core/ids.ts";

/**
 * Writes a file for this process's user alone, whole or not at all, in the place of what was there. When it resolves,
 * the content and the name are on the disk.
 */
export const replaceDurably = (path: string, text: string, random: Random): Promise<void> => write(path, text, random, rename);

/** As `replaceDurably`, unless the file is there already: of several processes one wins, and all find its text. */
export const makeDurably = (path: string, text: string, random: Random): Promise<void> =>
  write(path, text, random, (draft) =>
    link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    }),
  );

/** Written whole beside its place, then put there. */
async function write(path: string, text: string, random: Random, put: (draft: string, path: string) => Promise<void>): Promise<void> {
  const draft = `${path}.${Buffer.from(random(8)).toString("hex")}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await put(draft, path);
    await syncFolder(dirname(path));
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/** Makes a name as durable as the file is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
