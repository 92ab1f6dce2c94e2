import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { syncFolder } from "../adapters/storage/durable-file.ts";
import type { Erased } from "../core/erasure/erasure.ts";
import { causeText, Failure } from "../core/failure.ts";
import { parseJson } from "../core/json.ts";

const lineSchema = z.object({
  kind: z.enum(["person", "space"]),
  subject: z.string().min(1).max(200),
  at: z.iso.datetime(),
});

/** The list of erasures outside of the database: a backup that is older than an erasure does not have it. */
export const erasureListPath = (dataDir: string): string => join(dataDir, "erasures.jsonl");

/** Adds what the list does not have yet. When it resolves, the lines are on the disk. */
export async function recordErasures(dataDir: string, erased: readonly Erased[], now: number): Promise<void> {
  const path = erasureListPath(dataDir);
  const { entries, endsLine } = await readList(path);
  const known = new Set(entries.map(keyOf));
  const at = new Date(now).toISOString();
  const lines = erased
    .filter((each) => !known.has(keyOf(each)))
    .map(({ kind, subject }) => `${JSON.stringify({ kind, subject, at })}\n`);
  if (lines.length === 0) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(`${endsLine ? "" : "\n"}${lines.join("")}`);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dataDir);
}

/**
 * @throws Failure `failed_precondition` for a file that cannot be read or has another form; a missing file is
 * an empty list
 */
export const readErasures = async (path: string): Promise<readonly Erased[]> =>
  (await readList(path)).entries;

const keyOf = ({ kind, subject }: Erased): string => `${kind} ${subject}`;

async function readList(path: string): Promise<{ entries: readonly Erased[]; endsLine: boolean }> {
  const text = await readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return "";
    throw new Failure(
      "failed_precondition",
      `the list of erasures ${path} cannot be read: ${causeText(thrown)}`,
    );
  });
  const entries = text.split("\n").flatMap((line, index) => {
    if (isCut(line)) return [];
    const parsed = lineSchema.safeParse(parseJson(line));
    if (parsed.success) return [{ kind: parsed.data.kind, subject: parsed.data.subject }];
    throw new Failure("failed_precondition", `${path} has another form in line ${index + 1}`);
  });
  return { entries, endsLine: text === "" || text.endsWith("\n") };
}

/** Empty, or cut by a crash. An erasure begins only after its line is complete. */
const isCut = (line: string): boolean => !line.endsWith("}") && '{"kind":"'.startsWith(line.slice(0, 9));
