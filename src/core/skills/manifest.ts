import { parse } from "yaml";
import { invalid } from "../failure.ts";
import type { SkillFile } from "./files.ts";

/** The file that makes a folder a skill. */
export const manifestPath = "SKILL.md";

/** What a skill says of itself. */
export interface Manifest {
  readonly name: string;
  readonly description: string;
}

const frontMatterMax = 16_384;
const nameMax = 64;
const descriptionMax = 1_024;

const frontMatter = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
/** Something to be seen, and nothing that shows a text as another. */
const nameForm = /^(?=\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]*(?<=\S)$/u;
const hidden = /[\p{Cs}\p{Bidi_Control}]|(?![\n\r\t])\p{Cc}/u;

/**
 * Reads the front matter of a skill's SKILL.md.
 *
 * @param at where the skill came from, for refusals.
 * @throws Failure `invalid` when there is none, or it says no name.
 */
export function manifestOf(at: string, files: readonly SkillFile[]): Manifest {
  const file = files.find(({ path }) => path === manifestPath);
  if (!file) throw invalid(at, `has no ${manifestPath}`);
  const [, yaml] = frontMatter.exec(textOf(at, file).slice(0, frontMatterMax)) ?? [];
  if (yaml === undefined) throw invalid(at, `${manifestPath} must begin with front matter between two lines of ---, of at most 16 KB`);
  const { name, description = "" } = membersOf(at, yaml);
  if (typeof name !== "string" || !nameForm.test(name) || [...name].length > nameMax)
    throw invalid(
      at,
      `name in ${manifestPath} must have 1 to ${nameMax} characters, no blank at its ends, no control or bidirectional characters`,
    );
  const told = typeof description === "string" ? description.trim() : undefined;
  if (told === undefined || [...told].length > descriptionMax || hidden.test(told))
    throw invalid(
      at,
      `description in ${manifestPath} must be a text of at most ${descriptionMax} characters, without control or bidirectional ones`,
    );
  return { name, description: told };
}

function textOf(at: string, { bytes }: SkillFile): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid(at, `${manifestPath} must be UTF-8`);
  }
}

/** Plain YAML: no tags of its own, no aliases, nothing twice. */
function membersOf(at: string, yaml: string): Readonly<Record<string, unknown>> {
  const refused = () => invalid(at, `the front matter of ${manifestPath} must be YAML, without aliases, with name and description`);
  let read: unknown;
  try {
    read = parse(yaml, { schema: "core", maxAliasCount: 0, uniqueKeys: true, prettyErrors: false, logLevel: "error" });
  } catch {
    throw refused();
  }
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw refused();
  return { ...read };
}
