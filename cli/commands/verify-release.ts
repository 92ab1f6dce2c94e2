import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Cli, command } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import { argument, exactly, jsonFlags } from "../frame/parameters.ts";

const sumsFile = "SHA256SUMS";

interface Verified {
  readonly file: string;
  readonly verdict: "ok" | "changed" | "missing" | "not in SHA256SUMS";
}

const columns = [
  { title: "RESULT", text: ({ verdict }: Verified) => verdict },
  { title: "FILE", text: ({ file }: Verified) => file },
];

export const verifyRelease = command({
  brief: "Compare the files of a release with their digests",
  about:
    "It reads SHA256SUMS in the folder. The exit code is 1 when a file was changed, is missing or is not in SHA256SUMS. It shows that the files belong together, not who made them: compare the digest of SHA256SUMS with one that you got elsewhere.",
  examples: ["atp verify-release dist/release/0.2.0"],
  parameters: {
    flags: jsonFlags,
    positional: exactly(argument("Folder with the files of a release", "FOLDER")),
  },
  run: async ({ print }: Cli, _flags: object, folder: string) => {
    const verified = await verify(folder);
    print.list(verified, columns, "");
    const wrong = verified.filter(({ verdict }) => verdict !== "ok");
    if (wrong.length > 0)
      throw new CommandError(
        `${wrong.length} of ${verified.length} files are not as released: get the release again`,
      );
  },
});

/** @throws CommandError for a folder without digests */
async function verify(folder: string): Promise<readonly Verified[]> {
  const path = join(folder, sumsFile);
  if (!existsSync(path))
    throw new CommandError(`${path} is missing: give the folder with the files of a release`);
  const sums = [...readFileSync(path, "utf8").matchAll(/^([0-9a-f]{64}) [ *]([^/\n]+)$/gm)];
  if (sums.length === 0) throw new CommandError(`${path} has no digest`);
  const known = await Promise.all(
    sums.map(async ([, digest = "", file = ""]) => ({
      file,
      verdict: await verdictOn(join(folder, file), digest),
    })),
  );
  const names = new Set([sumsFile, ...known.map(({ file }) => file)]);
  const others = readdirSync(folder).filter((file) => !names.has(file));
  return [...known, ...others.map((file): Verified => ({ file, verdict: "not in SHA256SUMS" }))];
}

async function verdictOn(path: string, digest: string): Promise<Verified["verdict"]> {
  if (!existsSync(path)) return "missing";
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex") === digest ? "ok" : "changed";
}
