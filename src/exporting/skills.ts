import type { ArchiveRows, Packed, PackedSkill } from "../core/exports/archive-rows.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { skillEntryName } from "./entry-name.ts";
import { merged, one } from "./json.ts";
import { bytesOf } from "./kept-bytes.ts";
import { skillRow, type Writers } from "./written.ts";
import type { Entry } from "./zip.ts";

/** Skills read at once. */
const skillsMax = 100;

/** The skills that an archive packs, oldest first. */
async function* skillsOf(rows: Pick<ArchiveRows, "skills">, wanted: Packed): AsyncGenerator<PackedSkill> {
  for (let after: PackedSkill | null = null; ; ) {
    const page: readonly PackedSkill[] = await rows.skills(wanted, after, skillsMax);
    yield* page;
    if (page.length < skillsMax) return;
    after = page.at(-1) ?? null;
  }
}

/** The rows of `skill.json`. */
export async function* skillRows(
  rows: Pick<ArchiveRows, "skills">,
  wanted: Packed,
  writers: Pick<Writers, "skill">,
): AsyncGenerator<AsyncIterable<string>> {
  for await (const skill of skillsOf(rows, wanted)) yield one(merged(writers.skill(skill), skillRow(skill)));
}

/** The ZIP of each skill that is not deleted, as it is kept: sent through piece by piece, never whole in memory. */
export async function* skillEntries(rows: Pick<ArchiveRows, "skills">, wanted: Packed, blobs: Pick<Blobs, "read">): AsyncGenerator<Entry> {
  for await (const skill of skillsOf(rows, { ...wanted, includeDeleted: false })) {
    const bytes = await bytesOf(blobs, skill.blobId);
    if (bytes) yield { name: skillEntryName(skill), bytes, size: skill.bytes, compress: false };
  }
}
