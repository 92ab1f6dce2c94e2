import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The file with the digest of every other file of a release, in the format of `sha256sum --check`. */
const sumsFile = "SHA256SUMS";
const provenanceFile = "provenance.unsigned.intoto.json";

const digestOf = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

/** What a release was built from, and with. */
export interface Inputs {
  readonly version: string;
  readonly commit: string;
  /** Names and versions. */
  readonly tools: Readonly<Record<string, string>>;
  /** The files that name what is installed, by their paths in the repository. */
  readonly locks: readonly string[];
}

/**
 * Writes how the files of a folder were made: an in-toto statement v1 with SLSA provenance v1. It is not
 * signed: it says what the builder claims, and an attestation of the workflow that publishes a release is
 * what proves it.
 */
export function writeProvenance(
  folder: string,
  root: string,
  { version, commit, tools, locks }: Inputs,
): void {
  const subject = readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, digest: { sha256: digestOf(join(folder, name)) } }));
  const resolvedDependencies = [
    { uri: "git+repository", digest: { gitCommit: commit } },
    ...locks.map((name) => ({ name, digest: { sha256: digestOf(join(root, name)) } })),
  ];
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:agent-task-platform:release",
        externalParameters: { version, commit },
        resolvedDependencies,
      },
      runDetails: { builder: { id: "urn:agent-task-platform:unsigned", version: tools } },
    },
  };
  writeFileSync(join(folder, provenanceFile), `${JSON.stringify(statement, null, 2)}\n`);
}

/** Writes the digests of all files of a folder. */
export function writeSums(folder: string): void {
  const names = readdirSync(folder).toSorted();
  writeFileSync(
    join(folder, sumsFile),
    names.map((name) => `${digestOf(join(folder, name))}  ${name}\n`).join(""),
  );
}
