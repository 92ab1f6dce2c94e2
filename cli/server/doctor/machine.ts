import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../../src/config/config.ts";
import { ownershipNote } from "../../../src/store/folder.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** The nearest folder that exists. */
const existing = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : existing(dirname(folder));

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
const leastPercent = { warn: 10, fail: 3 };

export const disk = ({ dataDir }: Pick<Config, "dataDir">): Check => ({
  name: "disk",
  advice: "Check that DATA_DIR names a folder of a disk that works.",
  async run() {
    const { bavail, blocks, bsize } = await statfs(existing(dataDir));
    const percent = blocks === 0 ? 100 : Math.floor((bavail / blocks) * 100);
    const found = `${gigabytes(bavail * bsize)} of ${gigabytes(blocks * bsize)} are free for ${dataDir} (${percent} %)`;
    const advice = "Free space or enlarge the disk: a server on a full disk refuses every change.";
    return [
      percent < leastPercent.fail
        ? fail(found, advice)
        : percent < leastPercent.warn
          ? warn(found, advice)
          : ok(found),
    ];
  },
});

const others = 0o077;

function openToOthers(path: string): boolean {
  return existsSync(path) && (statSync(path).mode & others) > 0;
}

/** The files with secrets: those of the data folder, and those that settings name. */
function secretFiles(
  dataDir: string,
  env: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): readonly string[] {
  const named = [...secrets.map((name) => `${name}_FILE`), "CONFIG_FILE", "MODELS_FILE"].flatMap(
    (name) => env[name] || [],
  );
  return [join(dataDir, "encryption-key"), join(dataDir, "first-key"), ...named];
}

export const permissions = (
  { dataDir }: Pick<Config, "dataDir">,
  env: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[],
): Check => ({
  name: "permissions",
  advice: "Run the command as the user of the server.",
  async run() {
    if (!existsSync(dataDir)) return [missingFolder(dataDir)];
    const findings: Finding[] = [];
    if (!canWrite(dataDir))
      findings.push(
        fail(
          `${dataDir} cannot be written${ownershipNote(dataDir)}`,
          `Give it to the user of the server: chown -R USER ${dataDir}`,
        ),
      );
    if (openToOthers(dataDir))
      findings.push(warn(`other users can enter ${dataDir}`, `chmod 700 ${dataDir}`));
    for (const path of secretFiles(dataDir, env, secrets))
      if (openToOthers(path)) findings.push(warn(`other users can read ${path}`, `chmod 600 ${path}`));
    return findings.length > 0
      ? findings
      : [ok(`only this user can read ${dataDir} and the files of secrets`)];
  },
});

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missingFolder(dataDir: string): Finding {
  const parent = existing(dataDir);
  if (canWrite(parent)) return ok(`${dataDir} does not exist yet: the first start creates it`);
  return fail(
    `${dataDir} does not exist, and ${parent} cannot be written${ownershipNote(parent)}`,
    `Create ${dataDir} for the user of the server.`,
  );
}
