import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, readlink, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failure } from "../../../../../core/failure.ts";
import { type Workspace, workspaceLimits, workspacePath } from "../../../../../core/workspaces/workspace.ts";

const replaced = (): Failure => new Failure("invalid_argument", "it was replaced while it was read");

/**
 * Opens the file or folder at a path, and checks that no link was followed. O_NOFOLLOW protects only the last
 * part of a path: a process that a command has left running may replace a folder above it by a link.
 *
 * On Linux the kernel reports the path of the opened file (`/proc/self/fd`). Without `/proc` the path must
 * have no links and refer to the opened file afterwards (device and inode). A process that exchanges it
 * several times in between can defeat this check.
 *
 * @param place the real path, from before any process could change it.
 * @throws Failure `invalid_argument` for anything else; what `open` throws.
 */
export async function openPath(place: string, flags: number): Promise<FileHandle> {
  // These flags follow no link, and do not wait for a pipe.
  const handle = await open(place, flags | constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const isThere = await refersTo(place, handle).catch(() => false);
  if (isThere) return handle;
  await handle.close();
  throw replaced();
}

async function refersTo(place: string, handle: FileHandle): Promise<boolean> {
  if (process.platform === "linux") return (await readlink(`/proc/self/fd/${handle.fd}`)) === place;
  const [real, current, opened] = await Promise.all([realpath(place), lstat(place), handle.stat()]);
  return real === place && current.dev === opened.dev && current.ino === opened.ino;
}

/** Lists the entries of the folder at a path. @throws as for `openPath`. */
export async function readFolder(place: string) {
  await using handle = await openPath(place, constants.O_DIRECTORY);
  const entries = await readdir(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : place, {
    withFileTypes: true,
  });
  // Without `/proc` the folder was read by its path, so check the path again.
  if (process.platform !== "linux" && !(await refersTo(place, handle))) throw replaced();
  return entries;
}

export interface WorkspaceChanges {
  readonly changed: string[];
  readonly deleted: string[];
  /** Entries that were not copied, with the reason. */
  readonly refused: { readonly path: string; readonly why: string }[];
}

/** The most entries of the folder that are read, and that a list of the result names. */
const entriesMax = 20_000;
const namedMax = 100;
const depthMax = 16;

/** Writes the files of a workspace into a folder. Returns their digests by path. */
export async function copyOut(workspace: Workspace, folder: string): Promise<ReadonlyMap<string, string>> {
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
 * Copies the changes of a command back into the workspace. Links and devices are skipped: only the content of
 * regular files of the folder is copied, also while processes that the command has left running change the
 * folder.
 *
 * @param folder the folder's real path.
 * @throws Failure when nothing was copied: too many files, or the folder is gone.
 */
export async function copyBack(
  workspace: Workspace,
  folder: string,
  known: ReadonlyMap<string, string>,
): Promise<WorkspaceChanges> {
  const entries = await entriesOf(folder);
  const paths = new Set(entries.map(({ path }) => path.normalize("NFC")));
  const changes: WorkspaceChanges = { changed: [], deleted: [], refused: [] };
  // Delete first: a folder may have replaced a file.
  for (const path of known.keys())
    if (!paths.has(path) && (await workspace.remove(path))) changes.deleted.push(path);
  for (const { path, isFile } of entries) {
    const copied = isFile ? await copyFile(workspace, folder, path, known) : { why: "not a regular file" };
    if ("why" in copied) changes.refused.push({ path: path.toWellFormed(), why: copied.why });
    else if (copied.changed) changes.changed.push(copied.path);
  }
  const { changed, deleted, refused } = changes;
  return {
    changed: changed.slice(0, namedMax),
    deleted: deleted.slice(0, namedMax),
    refused: refused.slice(0, namedMax),
  };
}

interface Entry {
  readonly path: string;
  readonly isFile: boolean;
}

/**
 * Lists all entries below a folder. @throws Failure `too_large` for too many entries: then nothing is copied.
 */
async function entriesOf(folder: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of walk(folder, "", 1)) {
    entries.push(entry);
    if (entries.length > entriesMax)
      throw new Failure("too_large", "the command left too many files: no changes were copied");
  }
  return entries;
}

async function* walk(folder: string, below: string, depth: number): AsyncGenerator<Entry, void, void> {
  for (const entry of await entriesAt(folder, below)) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && depth < depthMax) yield* walk(folder, path, depth + 1);
    else yield { path, isFile: entry.isFile() };
  }
}

/**
 * Lists a folder. A subfolder that was replaced or deleted is empty. @throws Failure when the top folder is
 * gone.
 */
const entriesAt = (folder: string, below: string): ReturnType<typeof readFolder> =>
  readFolder(join(folder, below)).catch((thrown: unknown) => {
    if (below !== "") return [];
    throw new Failure(
      "failed_precondition",
      "the command moved or deleted its folder: no changes were copied",
      { cause: thrown },
    );
  });

type Copied = { readonly path: string; readonly changed: boolean } | { readonly why: string };

async function copyFile(
  workspace: Workspace,
  folder: string,
  name: string,
  known: ReadonlyMap<string, string>,
): Promise<Copied> {
  try {
    const path = workspacePath(name);
    await using handle = await openPath(join(folder, name), 0);
    const stat = await handle.stat();
    if (!stat.isFile()) return { why: "not a regular file" };
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
