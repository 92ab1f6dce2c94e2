import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Server, startPeer } from "./servers.ts";

/** Other servers for agents' tasks; they are not part of the project and are installed when first needed. */
export interface Peers {
  /** Returns null if they cannot be installed or do not start: they are skipped then. */
  start(
    name: string,
    headers?: Readonly<Record<string, string>>,
    env?: Readonly<Record<string, string>>,
  ): Promise<Server | null>;
}

const root = fileURLToPath(new URL("..", import.meta.url));

export function peersIn(folder: string, print: (text: string) => void): Peers {
  let installed: boolean | undefined;

  function install(): boolean {
    if (spawnSync("npm", ["ls", "--prefix", "bench", "--depth=0"], { cwd: root }).status === 0) return true;
    print("installing the peers of bench/package.json");
    // Uses the lock file. Not `npm ci`: it fails if a registry lacks packages for other platforms. npm's
    // output must not be mixed with lines of JSON.
    const { status } = spawnSync("npm", ["install", "--prefix", "bench", "--no-save"], {
      cwd: root,
      stdio: ["ignore", process.stderr, process.stderr],
    });
    if (status !== 0) print("*** the peers of bench/package.json cannot be installed: THEY ARE SKIPPED ***");
    return status === 0;
  }

  return {
    async start(name, headers, env) {
      installed ??= install();
      if (!installed) return null;
      try {
        return await startPeer(name, mkdtempSync(join(folder, "peer-")), headers, env);
      } catch (thrown) {
        print(
          `*** ${name} does not start and is SKIPPED: ${thrown instanceof Error ? thrown.message : thrown} ***`,
        );
        return null;
      }
    },
  };
}
