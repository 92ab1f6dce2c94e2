import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSubjects } from "../../scripts/reference/compatibility.ts";
import { specification } from "../../scripts/reference/sections.ts";
import { expectGolden } from "../support/golden.ts";
import { root } from "../support/server-process.ts";

/** How a section of the specification is cited below `spec/`: `api.md 9.5`, or `enterprise.md 13, row 21`. */
type Section = string;

const names = specification(root).map(({ name }) => name.replace(/^spec\//, ""));
const sections = new Set(names);

const cited = "src proto prisma/models test docs scripts bench eval conformance README.md CHANGELOG.md".split(
  " ",
);
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...cited], {
  cwd: root,
  encoding: "utf8",
})
  .trim()
  .split("\n")
  .filter(
    (path) =>
      /\.(ts|mjs|md|yaml|proto|prisma)$/.test(path) &&
      !path.startsWith("docs/spec/") &&
      path !== "test/docs/specification.test.ts",
  );

const number = String.raw`\d+[a-z]?(?:\.\d+)*\b`;
const citation = new RegExp(
  String.raw`spec\/([a-z\d]+\.md)((?: (?:rows? )?${number}(?:,? and|, row|, rows|,| to)?)*)`,
  "g",
);

/**
 * The sections that a text cites: `spec/api.md 8.1, 8.2 and 9` are three. A line break within a comment
 * counts as a space.
 */
function citationsIn(text: string): Section[] {
  const joined = text.replaceAll(/\n[ \t]*(?:\*|\/\/+|#|>)?[ \t]*/g, " ");
  return [...joined.matchAll(citation)].flatMap(([, page = "", list = ""]) => {
    const rows = list.split(/\brows? /);
    const numbers = [...(rows[0] ?? "").matchAll(new RegExp(number, "g"))].map(
      ([found]) => `${page} ${found}`,
    );
    const inTable = rows
      .slice(1)
      .flatMap((part) => [...part.matchAll(/\d+/g)].map(([row]) => `${numbers.at(-1)}, row ${row}`));
    return numbers.length === 0 ? [page] : [...numbers, ...inTable];
  });
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const exists = (section: Section): boolean =>
  sections.has(section) || [...sections].some((each) => each.startsWith(`${section} `));

describe("the specification", () => {
  test("has every section that code, schema, tests and docs cite", () => {
    expect(
      files.flatMap((path) =>
        citationsIn(read(path)).flatMap((each) => (exists(each) ? [] : [`${path}: spec/${each}`])),
      ),
    ).toEqual([]);
  });

  test("is cited as spec/PAGE.md NUMBER, never by another path", () => {
    const stray =
      /contract\/[a-z0-9]+\.md|(?<![\w/.-])(?:api|v1|v2|oauth|webhooks|enterprise|decisions|clients)\.md \d/;
    expect(files.filter((path) => stray.test(read(path)))).toEqual([]);
  });

  test("numbers every section once", () => {
    expect(names.filter((each, i) => names.indexOf(each) !== i)).toEqual([]);
  });

  test("lists the sections that no test and no statement of compatibility.md cites (golden/sections-without-tests.txt)", () => {
    const stated = readSubjects(root).flatMap(({ rows }) =>
      rows.map(({ spec }) => spec.replace(/^spec\//, "")),
    );
    const tested = new Set([
      ...files.filter((path) => path.startsWith("test/")).flatMap((path) => citationsIn(read(path))),
      ...stated,
    ]);
    const untested = [...sections].filter((each) => !each.includes(", row ") && !tested.has(each));
    expectGolden("sections-without-tests.txt", `${untested.toSorted().join("\n")}\n`);
  });
});
