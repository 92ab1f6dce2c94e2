import { spawn } from "node:child_process";
import { once } from "node:events";
import { readlinkSync, watch } from "node:fs";
import { join } from "node:path";

/** The sources of generated code. */
const sources = ["proto", "prisma/models", "buf.gen.yaml", "buf.gen.console.yaml", "api/openapi.json"];
/** Links to the generated code, whose targets have the digest of its sources. */
const links = ["proto", "prisma", "tools", "browser-proto"];
/** An editor may write a file in several steps. */
const settleMs = 50;

/**
 * Generates code again whenever a schema is saved, and then calls `changed` if it differs. The set-up prints
 * an error, and the next save tries again.
 *
 * @returns what ends it.
 */
export function watchSchemas(root: string, changed: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let last = Promise.resolve();
  const targets = () => links.map((name) => readlinkSync(join(root, "src/gen", name))).join();
  const generate = async (): Promise<void> => {
    const before = targets();
    await once(
      spawn(process.execPath, ["scripts/setup.mjs", "--code"], {
        cwd: root,
        stdio: ["ignore", "inherit", "inherit"],
      }),
      "exit",
    );
    if (targets() !== before) await changed();
  };
  const saved = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      last = last.then(generate);
    }, settleMs);
  };
  const watchers = sources.map((path) => watch(join(root, path), { recursive: true }, saved));
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
