import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { anchorOf } from "./operation.ts";

/** A section of the specification, or a row of its table that has its number in the first cell. */
export interface Section {
  /** How it is cited: `spec/api.md 9.5`, or `spec/enterprise.md 13, row 21`. */
  readonly name: string;
  /** Its file below `docs/`. */
  readonly page: string;
  /** The anchor of its heading. */
  readonly anchor: string;
}

/** The sections of a page, in order. */
function sectionsOf(path: string): Section[] {
  const page = `spec/${basename(path)}`;
  let section: Section = { name: page, page, anchor: "" };
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, heading, number] = /^#+ ((\d+[a-z]?(?:\.\d+)*)\b.*)$/.exec(line) ?? [];
      const row = /^\| (\d{1,2}) \|/.exec(line)?.[1];
      if (heading !== undefined) section = { name: `${page} ${number}`, page, anchor: anchorOf(heading) };
      return heading !== undefined
        ? [section]
        : row === undefined
          ? []
          : [{ ...section, name: `${section.name}, row ${row}` }];
    });
}

/** The sections of all pages of the specification below the project's folder. */
export const specification = (root: string): readonly Section[] =>
  globSync(join(root, "docs/spec/*.md")).flatMap(sectionsOf);
