import { setImmediate as turnOfLoop } from "node:timers/promises";
import { Failure } from "../../../../core/failure.ts";
import { compileGlob, compilePattern } from "../../../../core/linear-pattern.ts";
import { baseName, type Workspace, type WorkspaceEntry } from "../../../../core/workspaces/workspace.ts";
import { head, type Tool } from "../tool.ts";
import { createTool, successResult } from "./create-tool.ts";
import { linesOf } from "./reading/text.ts";

/** The most entries of a result, their characters, and the characters of a line. */
const hitsMax = 200;
const charactersMax = 24_000;
const lineMax = 300;
/** The longest time of a search, and of a part of it during which the process does nothing else. */
const searchMs = 5_000;
const busyMs = 10;

const globSchema = { type: "string", minLength: 1, maxLength: 500 } as const;

/** Lists files of the workspace. */
export const glob: Tool = createTool<{ readonly pattern?: string }>({
  name: "glob",
  description:
    "Lists the files of your workspace whose paths match, for example src/**/*.ts; without a pattern all. The user's files are in inputs/.",
  properties: { pattern: globSchema },
  required: [],
  reads: () => true,
  brief: ({ pattern }) => `List ${pattern ?? "files"}`,
  async use({ pattern = "**" }, { turn: { workspace } }) {
    const files = await filesLike(workspace, pattern);
    const hits = openHits<{ path: string; bytes: number }>();
    for (const { path, bytes } of files) if (!hits.add({ path, bytes }, path.length + 30)) break;
    const more = files.length - hits.all.length;
    return successResult({ files: hits.all, ...(more > 0 ? { more } : {}) });
  },
});

/** The files that a pattern of paths, or the path of a file or folder, names. */
async function filesLike(
  { find, list }: Workspace,
  pattern: string,
): Promise<readonly Pick<WorkspaceEntry, "path" | "bytes">[]> {
  const plain = pattern.replace(/^(\.?\/)+/, "").replace(/\/+$/, "");
  const fixed = /^[^*?[{]*/.exec(plain)?.[0] ?? "";
  if (plain !== "" && fixed === plain) {
    const file = await find(plain);
    return file ? [file] : list(`${plain}/`);
  }
  const matches = compileGlob(plain === "" ? "**" : plain);
  return (await list(fixed.slice(0, fixed.lastIndexOf("/") + 1))).filter(({ path }) => matches(path));
}

/** Collects entries up to the limits of a result. `add` is false for one that does not fit. */
function openHits<Hit>() {
  const all: Hit[] = [];
  let charactersLeft = charactersMax;
  return {
    all,
    add(hit: Hit, characters: number): boolean {
      if (all.length >= hitsMax || characters > charactersLeft) return false;
      charactersLeft -= characters;
      return all.push(hit) > 0;
    },
  };
}

interface GrepInput {
  readonly pattern: string;
  readonly files?: string;
  readonly ignore_case?: boolean;
}

/** Searches lines in files of the workspace. */
export const grep: Tool = createTool<GrepInput>({
  name: "grep",
  description:
    "Finds the lines of your text files that match a regular expression (without references and lookaround), at most 200.",
  properties: {
    pattern: { type: "string", minLength: 1, maxLength: 500 },
    files: { ...globSchema, description: "A pattern of paths, as in glob." },
    ignore_case: { type: "boolean" },
  },
  required: ["pattern"],
  reads: () => true,
  brief: ({ pattern }) => `Search ${pattern}`,
  async use({ pattern, files = "**", ignore_case: ignoreCase = false }, { turn }) {
    const { workspace, clock, signal } = turn;
    const matches = compilePattern(pattern, { ignoreCase });
    const deadline = clock.monotonic() + searchMs;
    let turnedAt = clock.monotonic();
    const hits = openHits<string>();
    for (const { path } of await filesLike(workspace, files)) {
      signal.throwIfAborted();
      let number = 0;
      try {
        for await (const line of linesOf({ filename: baseName(path), read: () => workspace.read(path) })) {
          number += 1;
          if (clock.monotonic() - turnedAt > busyMs) {
            await turnOfLoop();
            turnedAt = clock.monotonic();
          }
          if (clock.monotonic() > deadline)
            return successResult({ hits: hits.all, note: `Stopped after 5 seconds, in ${path}.` });
          const text = line.replace(/\r?\n$/, "");
          if (!matches(text)) continue;
          const hit = `${path}:${number}: ${head(text.trim(), lineMax)}`;
          if (!hits.add(hit, hit.length)) return successResult({ hits: hits.all, note: "There are more." });
        }
      } catch (thrown) {
        // The file is not text.
        if (!(thrown instanceof Failure && thrown.reason === "invalid_argument")) throw thrown;
      }
    }
    return successResult({ hits: hits.all });
  },
});
