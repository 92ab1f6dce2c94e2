import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { causeText, Failure } from "../../core/failure.ts";
import type { Random } from "../../core/ids.ts";

/**
 * Writes a file of the data folder, with access for this process's user only. Replaces an existing file
 * atomically. When it resolves, content and name are on the disk.
 *
 * @throws Failure `failed_precondition` in one sentence with the path and the cause.
 */
export const replaceDurably = (path: string, text: string, random: Random): Promise<void> =>
  write(path, text, random, rename);

/**
 * Like `replaceDurably`, but keeps an existing file: if several processes write, one wins and all read its
 * text.
 */
export const createDurably = (path: string, text: string, random: Random): Promise<void> =>
  write(path, text, random, (draft) =>
    link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    }),
  );

type Publish = (draft: string, path: string) => Promise<void>;

const write = (path: string, text: string, random: Random, publish: Publish): Promise<void> =>
  writeDraft(path, text, random, publish).catch((thrown: unknown) => {
    throw new Failure(
      "failed_precondition",
      `DATA_DIR: the file ${path} cannot be written: ${causeText(thrown)}`,
    );
  });

/** Writes the complete text to a file next to `path`, then moves or links it to `path`. */
async function writeDraft(path: string, text: string, random: Random, publish: Publish): Promise<void> {
  const draft = `${path}.${Buffer.from(random(8)).toString("hex")}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await publish(draft, path);
    await syncFolder(dirname(path));
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/** Syncs a folder to the disk. Only then does a new name in it survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
