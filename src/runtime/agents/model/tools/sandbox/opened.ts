import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath } from "node:fs/promises";
import { Failure } from "../../../../../core/failure.ts";

const swapped = (): Failure => new Failure("invalid", "it was replaced while it was read");

/**
 * Opens what stands at a place, and checks that what was opened is that and nothing else. O_NOFOLLOW guards the last part of a
 * path alone: a process that a command has left running may put a link in the place of a folder above it.
 *
 * On Linux the kernel says what was opened (`/proc/self/fd`). Where there is no `/proc`, the place must be free of links and
 * hold the opened file afterwards (device and inode): a process that exchanges it several times in between can escape this.
 *
 * @param place its real path, before any process could change it.
 * @throws Failure `invalid` for anything else; what `open` throws.
 */
export async function openPlace(place: string, flags: number): Promise<FileHandle> {
  // Neither a link is followed, nor a pipe waited for.
  const handle = await open(place, flags | constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const isThere = await holds(place, handle).catch(() => false);
  if (isThere) return handle;
  await handle.close();
  throw swapped();
}

async function holds(place: string, handle: FileHandle): Promise<boolean> {
  if (process.platform === "linux") return (await readlink(`/proc/self/fd/${handle.fd}`)) === place;
  const [real, there, opened] = await Promise.all([realpath(place), lstat(place), handle.stat()]);
  return real === place && there.dev === opened.dev && there.ino === opened.ino;
}

/** The entries of the folder at a place. @throws as `openPlace`. */
export async function readPlace(place: string) {
  await using handle = await openPlace(place, constants.O_DIRECTORY);
  const entries = await readdir(process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : place, { withFileTypes: true });
  // Without `/proc` it was read by its path once more.
  if (process.platform !== "linux" && !(await holds(place, handle))) throw swapped();
  return entries;
}
