import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

/** The source of a program. */
export interface Build {
  /**
   * `0.2.0` for the commit of the release, otherwise a version of SemVer 2.0: `0.2.0+12.abcdef12` is 12
   * commits after the release, and `0.2.0+abcdef12` has no release, or its clone lacks that commit. `.dirty`
   * at the end: files of git were changed.
   */
  readonly version: string;
  /** The full hash of the commit, in hex; empty where it is not known. */
  readonly commit: string;
}

const limitMs = 2_000;

/**
 * Asks git for the build of a clone. Without an answer in 2 seconds, such as in an unpacked archive, only the
 * version is known.
 */
export async function buildOfClone(folder = resolve(import.meta.dirname, "../..")): Promise<Build> {
  const jsonOf = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const git = async (...words: readonly string[]): Promise<string> => {
    // Not a repository around the folder.
    const place = ["--no-optional-locks", "--git-dir=.git", "--work-tree=."];
    return (
      await promisify(execFile)("git", [...place, ...words], { cwd: folder, timeout: limitMs })
    ).stdout.trim();
  };
  const { version }: Build = jsonOf("package.json");
  try {
    const [commit = "", dirty] = (
      await git("describe", "--exclude=*", "--always", "--abbrev=40", "--dirty=.dirty")
    ).split(".");
    const releases: readonly Build[] = jsonOf("releases.json");
    const release = releases.find((each) => each.version === version);
    const counted =
      release && (await git("rev-list", "--count", `${release.commit}..HEAD`).catch(() => undefined));
    // The release is the commit after the one that its entry names.
    const after = counted && String(Number(counted) - 1);
    if (after === "0" && !dirty) return { version, commit };
    return { version: `${version}+${[after, commit.slice(0, 8), dirty].filter(Boolean).join(".")}`, commit };
  } catch {
    return { version, commit: "" };
  }
}
