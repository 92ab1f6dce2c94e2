import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Server, startPeer } from "./servers.ts";

/** Other servers for agents' tasks; they are not part of the project, and are installed when they are first wanted. */
export interface Peers {
  /** Null where they cannot be installed or do not start: then they are left out. */
  start(name: string, headers?: Readonly<Record<string, string>>): Promise<Server | null>;
}

const root = fileURLToPath(new URL("..", import.meta.url));

export function peersIn(folder: string, say: (text: string) => void): Peers {
  let installed: boolean | undefined;

  function install(): boolean {
    if (spawnSync("npm", ["ls", "--prefix", "bench", "--depth=0"], { cwd: root }).status === 0) return true;
    say("installing the peers of bench/package.json");
    // By the lock. Not `npm ci`: it refuses where a registry lacks packages for other platforms. What npm says must not
    // stand between lines of JSON.
    const { status } = spawnSync("npm", ["install", "--prefix", "bench", "--no-save"], {
      cwd: root,
      stdio: ["ignore", process.stderr, process.stderr],
    });
    if (status !== 0) say("*** the peers of bench/package.json cannot be installed: THEY ARE LEFT OUT ***");
    return status === 0;
  }

  return {
    async start(name, headers) {
      installed ??= install();
      if (!installed) return null;
      try {
        return await startPeer(name, mkdtempSync(join(folder, "peer-")), headers);
      } catch (thrown) {
        say(`*** ${name} does not start and is LEFT OUT: ${thrown instanceof Error ? thrown.message : thrown} ***`);
        return null;
      }
    },
  };
}
