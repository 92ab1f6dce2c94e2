import { spawn } from "node:child_process";
import { existsSync, globSync, readFileSync, realpathSync } from "node:fs";
import { setPriority } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import mime from "mime";
import type { Log } from "../../core/log.ts";
import { type Asset, isCompressedCopy } from "../send-asset.ts";

/** The built site: a link to a folder whose name has the digest of its sources (scripts/setup.mjs). */
const builtFolder = fileURLToPath(new URL("../../gen/docs", import.meta.url));
const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const niceness = 19;

export interface Site {
  /** Changes with the content. */
  readonly etag: string;
  /**
   * Sources of the build's own scripts that stand inside pages, as a security policy names them:
   * `'sha256-…'`.
   */
  readonly scripts: readonly string[];
  /** Files by address below `/docs/`: `""`, `guides/v2`, `assets/app.js`. */
  readonly files: ReadonlyMap<string, Asset>;
}

/** Opens the site that was built last; null if there is none. */
export function openSite(built = builtFolder): Site | null {
  if (!existsSync(built)) return null;
  const folder = realpathSync(built);
  const names = globSync("**/*.*", { cwd: folder }).filter((name) => !isCompressedCopy(name));
  const files = names.map((name): [string, Asset] => [
    name.replaceAll("\\", "/").replace(/(^index)?\.html$/, ""),
    { type: typeOf(name), path: join(folder, name) },
  ]);
  const scripts: string[] = JSON.parse(readFileSync(join(folder, "scripts.json"), "utf8"));
  return { etag: `W/"${basename(folder)}"`, scripts, files: new Map(files) };
}

const typeOf = (name: string): string => {
  const type = mime.getType(name) ?? "application/octet-stream";
  return type.startsWith("text/") ? `${type}; charset=utf-8` : type;
};

/** Builds the site of a checkout, if `docs/` or `site/` changed. */
const setUp: readonly string[] = [process.execPath, "scripts/setup.mjs", "--docs"];

/**
 * Builds the site by a command. Without a network, or when the build fails, the log says why.
 *
 * @param signal ends the command and all processes that it started. The end of this process does too.
 */
export async function buildSite(log: Log, signal: AbortSignal, [file = "", ...words] = setUp): Promise<void> {
  // Its own group of processes: npm and VitePress are below it.
  const child = spawn(file, words, { cwd: checkout, detached: true, stdio: ["ignore", "ignore", "pipe"] });
  const end = () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, "SIGKILL");
  signal.addEventListener("abort", end);
  process.once("exit", end);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-1_000);
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
    if (child.pid !== undefined) setPriority(child.pid, niceness);
  });
  signal.removeEventListener("abort", end);
  process.removeListener("exit", end);
  if (code === 0 || signal.aborted) return;
  log("warn", "the site of the documentation was not built; /docs/ answers with Markdown", {
    reason: said.trim().split("\n").at(-1),
  });
}
