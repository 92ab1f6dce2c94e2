import { link, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../core/failure.ts";
import type { Random } from "../core/ids.ts";
import { causeText } from "../core/root-cause.ts";

/**
 * Writes a file of the data folder for this process's user alone, whole or not at all, in the place of what was there. When it resolves,
 * the content and the name are on the disk.
 *
 * @throws Failure `precondition` in one sentence with the path and the cause.
 */
export const replaceDurably = (path: string, text: string, random: Random): Promise<void> => write(path, text, random, rename);

/** As `replaceDurably`, unless the file is there already: of several processes one wins, and all find its text. */
export const makeDurably = (path: string, text: string, random: Random): Promise<void> =>
  write(path, text, random, (draft) =>
    link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    }),
  );

type Put = (draft: string, path: string) => Promise<void>;

const write = (path: string, text: string, random: Random, put: Put): Promise<void> =>
  writeDraft(path, text, random, put).catch((thrown: unknown) => {
    throw new Failure("precondition", `DATA_DIR: the file ${path} cannot be written: ${causeText(thrown)}`);
  });

/** Writes the whole text to a file beside `path`, and then puts it there. */
async function writeDraft(path: string, text: string, random: Random, put: Put): Promise<void> {
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

/** Writes a folder itself to the disk. Only then is a new name in it still there after a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
