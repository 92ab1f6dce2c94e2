import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A separate file system in memory, small enough to be filled. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Fills it completely. */
  fill(): void;
  /** Frees the space. */
  free(): void;
}

/**
 * Enough for everything a long run writes; it uses memory only for its content, and only while it is full.
 */
const largeEnough = "768m";
const step = 65_536;

/** In bytes. */
function roomOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * Undefined without permission to mount one.
 *
 * @param size in the form that `mount` accepts.
 */
export function mountSmallDisk(size = largeEnough): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const unmount = () => {
    // Lazily: open files keep it mounted until their process ends.
    execFileSync("umount", ["-l", path], { stdio: "ignore" });
    rmSync(path, { recursive: true });
  };
  process.once("exit", unmount);
  const ballast = join(path, "ballast");
  return {
    path,
    fill() {
      for (let room = roomOf(path); room > 0; room = Math.min(roomOf(path), room - step)) {
        // Other processes used some of the space: fill a little less.
        if (spawnSync("fallocate", ["-l", `${room}`, ballast]).status === 0) return;
      }
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      process.removeListener("exit", unmount);
      unmount();
    },
  };
}
