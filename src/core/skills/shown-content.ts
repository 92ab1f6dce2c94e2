import { invalidArgument, notFound } from "../failure.ts";
import type { OpenSkill, SkillContent } from "./content.ts";
import { quotePath } from "./files.ts";
import type { Skill } from "./skill.ts";

/** The most bytes of a file that are shown as text. */
export const shownBytesMax = 256 * 1024;

export interface ShownContent {
  readonly skill: Skill;
  /** The files by path, with their sizes in bytes. */
  readonly files: Awaited<ReturnType<SkillContent["list"]>>;
  readonly path: string;
  readonly text: string;
  /** The file is longer than the text. */
  readonly isCut: boolean;
}

/**
 * @throws Failure `not_found` for a path without a file, `invalid_argument` for a file that is not a text in
 * UTF-8.
 */
export async function readShown(openSkill: OpenSkill, skill: Skill, path: string): Promise<ShownContent> {
  const content = openSkill(skill);
  const files = await content.list();
  const normalized = path.normalize("NFC");
  const file = files.find((each) => each.path.normalize("NFC") === normalized);
  if (!file) throw notFound("file of the skill", "path");
  // One byte more shows whether the file continues, also when the content was replaced after the list was
  // read.
  const bytes = await content.read(file.path, shownBytesMax + 1);
  const isCut = bytes.byteLength > shownBytesMax;
  return {
    skill,
    files,
    path: file.path,
    text: decode(file.path, bytes.subarray(0, shownBytesMax), isCut),
    isCut,
  };
}

/** Leaves out the first bytes of a character that the limit cuts. */
function decode(path: string, bytes: Uint8Array, isCut: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    throw invalidArgument("path", `${quotePath(path)} is not a text in UTF-8`);
  }
}
