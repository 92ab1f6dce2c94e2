import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failure } from "../../../../../core/failure.ts";
import { workspacePath } from "../../../../../core/workspaces/path.ts";
import { type Workspace, workspaceLimits } from "../../../../../core/workspaces/workspace.ts";
import { openPlace, readPlace } from "./opened.ts";

/** What a command has done to the workspace. */
export interface Brought {
  readonly changed: string[];
  readonly deleted: string[];
  /** What was not taken over, and why. */
  readonly refused: { readonly path: string; readonly why: string }[];
}

/** Entries of the folder that are looked at, and that the answer names. */
const entriesMax = 20_000;
const namedMax = 100;
const depthMax = 16;

/** Writes the files of a workspace into a folder, and answers their digests by path. */
export async function layOut(workspace: Workspace, folder: string): Promise<ReadonlyMap<string, string>> {
  const files = await workspace.list();
  for (const { path } of files) {
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    const handle = await open(place, "wx", 0o600);
    await pipeline(workspace.read(path), handle.createWriteStream());
  }
  return new Map(files.map(({ path, sha256 }) => [path, sha256]));
}

/**
 * Takes over what a command has changed. Links and devices are passed over, whatever they point at: only bytes of
 * regular files of the folder itself come back, also while processes that the command has left running change it.
 *
 * @param folder its real path.
 * @throws Failure when nothing was taken over: too many files, or the folder itself is not there any more.
 */
export async function bringBack(workspace: Workspace, folder: string, known: ReadonlyMap<string, string>): Promise<Brought> {
  const found = await entriesOf(folder);
  const there = new Set(found.map(({ path }) => path.normalize("NFC")));
  const brought: Brought = { changed: [], deleted: [], refused: [] };
  // First what is gone: a folder may have taken its place.
  for (const path of known.keys()) if (!there.has(path) && (await workspace.remove(path))) brought.deleted.push(path);
  for (const { path, isFile } of found) {
    const taken = isFile ? await take(workspace, folder, path, known) : { why: "no regular file" };
    if ("why" in taken) brought.refused.push({ path: path.toWellFormed(), why: taken.why });
    else if (taken.changed) brought.changed.push(taken.path);
  }
  const { changed, deleted, refused } = brought;
  return { changed: changed.slice(0, namedMax), deleted: deleted.slice(0, namedMax), refused: refused.slice(0, namedMax) };
}

interface Entry {
  readonly path: string;
  readonly isFile: boolean;
}

/** @throws Failure `too_large` for more than there can be: then nothing is taken over. */
async function entriesOf(folder: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  for await (const entry of walk(folder, "", 1)) {
    found.push(entry);
    if (found.length > entriesMax) throw new Failure("too_large", "the command left too many files: nothing was taken over");
  }
  return found;
}

async function* walk(folder: string, below: string, depth: number): AsyncGenerator<Entry, void, void> {
  for (const entry of await entriesAt(folder, below)) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && depth < depthMax) yield* walk(folder, path, depth + 1);
    else yield { path, isFile: entry.isFile() };
  }
}

/** No entries for a folder that was replaced or removed in the meantime. @throws Failure for the whole folder. */
const entriesAt = (folder: string, below: string): ReturnType<typeof readPlace> =>
  readPlace(join(folder, below)).catch((thrown: unknown) => {
    if (below !== "") return [];
    throw new Failure("precondition", "the command moved or removed its folder: nothing was taken over", { cause: thrown });
  });

type Taken = { readonly path: string; readonly changed: boolean } | { readonly why: string };

async function take(workspace: Workspace, folder: string, name: string, known: ReadonlyMap<string, string>): Promise<Taken> {
  try {
    const path = workspacePath(name);
    await using handle = await openPlace(join(folder, name), 0);
    const stat = await handle.stat();
    if (!stat.isFile()) return { why: "no regular file" };
    if (stat.size > workspaceLimits.fileBytes) return { why: "too large" };
    if ((await digestOf(handle)) === known.get(path)) return { path, changed: false };
    await workspace.write(path, handle.createReadStream({ start: 0, autoClose: false }));
    return { path, changed: true };
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason !== "unavailable") return { why: thrown.message };
    if (thrown instanceof Error && "code" in thrown) return { why: "cannot be read" };
    throw thrown;
  }
}

async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(Readable.from(handle.createReadStream({ start: 0, autoClose: false })), hash);
  return hash.digest("hex");
}
