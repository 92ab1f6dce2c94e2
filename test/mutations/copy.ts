import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutation, Place } from "./mutation.ts";

const root = join(import.meta.dirname, "../..");
/** The results of tests are in the checkout itself, and .git may be a folder that a program writes. */
const notCopied = new Set([".git", ".dev", "dist"]);

/** A copy of the checkout in which one mutation at a time is applied. */
export interface Copy extends Disposable {
  readonly folder: string;
  /** Applies a mutation; the returned function restores the file. */
  apply(mutation: Mutation, place: Place): () => void;
  /** What the compiler says about the copy; null if it compiles. */
  complaint(): string | null;
  /** The first failed test of these files, or of all, when none is named; null if all pass. */
  firstFailure(files: readonly string[]): string | null;
}

/** Hard links where the file system allows it, so that a copy needs no room. */
export function copyCheckout(): Copy {
  const folder = mkdtempSync(join(tmpdir(), "mutations-"));
  for (const name of readdirSync(root).filter((each) => !notCopied.has(each))) {
    const linked = spawnSync("cp", ["-al", join(root, name), folder]);
    if (linked.status !== 0) execFileSync("cp", ["-a", "--remove-destination", join(root, name), folder]);
  }
  const run = (command: string, words: readonly string[]) =>
    spawnSync(join(folder, "node_modules/.bin", command), words, {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
  return {
    folder,
    apply({ new: text }, { path, at, end }) {
      const file = join(folder, path);
      const before = readFileSync(file, "utf8");
      replace(file, before.slice(0, at) + text + before.slice(end));
      return () => replace(file, before);
    },
    complaint() {
      const { status, stdout } = run("tsc", ["--project", "test/mutations"]);
      return status === 0 ? null : stdout.split("\n").slice(0, 3).join("\n");
    },
    firstFailure(files) {
      const report = join(folder, "report.json");
      rmSync(report, { force: true });
      const { status } = run("vitest", [
        "run",
        "--bail",
        "1",
        "--reporter",
        "json",
        "--outputFile",
        report,
        ...files,
      ]);
      return status === 0 ? null : failureIn(report);
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A new file: the old one may be a link to that of the checkout. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function failureIn(report: string): string {
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report; // vitest wrote it
  const all = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status === "failed")
      .map(({ fullName }) => `${name.split("/test/").at(-1)} > ${fullName}`),
  );
  return all[0] ?? testResults.find(({ message }) => message)?.message?.split("\n")[0] ?? "the run failed";
}
