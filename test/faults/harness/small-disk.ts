import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of our own in memory, small enough to be filled. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Leaves no room at all. */
  fill(): void;
  /** Gives the room back. */
  free(): void;
}

/** Everything a long run writes fits well; it takes memory only as it is used, and for as long as it is full. */
const largeEnough = "768m";
const step = 65_536;

/** In bytes. */
function roomOf(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * Undefined where nobody may mount one.
 *
 * @param size as `mount` takes it.
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
    // Lazily: what is still open in it goes with its process.
    execFileSync("umount", ["-l", path], { stdio: "ignore" });
    rmSync(path, { recursive: true });
  };
  process.once("exit", unmount);
  const ballast = join(path, "ballast");
  return {
    path,
    fill() {
      for (let room = roomOf(path); room > 0; room = Math.min(roomOf(path), room - step)) {
        // Others took some of it meanwhile: then a little less.
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
