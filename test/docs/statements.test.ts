import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { titlesOf } from "../../scripts/check/titles.ts";
import {
  compatibilityPage,
  proofOf,
  readSubjects,
  subjectFiles,
} from "../../scripts/reference/compatibility.ts";
import { titleOf } from "../../scripts/reference/operation.ts";
import { specification } from "../../scripts/reference/sections.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { root } from "../support/server-process.ts";

const rows = readSubjects(root).flatMap((subject) => subject.rows);
const proven = rows.flatMap((row) => ("test" in row ? [{ ...row, proof: proofOf(row.test) }] : []));

/** The titles of a file's tests with their groups: `group > group > title`. */
const pathsIn = (file: string): readonly string[] =>
  titlesOf(file, readFileSync(join(root, file), "utf8")).flatMap(({ groups, text, isTest }) =>
    isTest ? [[...groups, text].join(" > ")] : [],
  );

describe("docs/reference/compatibility.md", () => {
  test("is made of every file of docs/reference/compatibility", () => {
    const files = globSync(join(root, "docs/reference/compatibility/*")).map((path) =>
      basename(path, ".yaml"),
    );
    expect(files.toSorted()).toEqual(subjectFiles.toSorted());
    expect(readFileSync(join(root, "docs/reference/compatibility.md"), "utf8")).toBe(compatibilityPage(root));
  });

  test("has at least 150 statements, each once and as a sentence", () => {
    const sentences = rows.map(({ says }) => says);
    expect(sentences.length).toBeGreaterThanOrEqual(150);
    expect(sentences.filter((each, i) => sentences.indexOf(each) !== i)).toEqual([]);
    expect(sentences.filter((each) => !/^[A-Z0-9`].*\.$/.test(each))).toEqual([]);
  });

  test("cites only sections of the specification and pages that exist", () => {
    const sections = new Set(specification(root).map(({ name }) => name));
    const missing = rows.filter(({ spec }) => !sections.has(spec) && !existsSync(join(root, "docs", spec)));
    expect(missing.map(({ spec }) => spec)).toEqual([]);
  });

  test("names one test for each statement that works, with groups where the title alone occurs twice", () => {
    const byFile = Map.groupBy(proven, ({ proof: [file] }) => file);
    const missing = [...byFile].flatMap(([file, own]) => {
      const paths = existsSync(join(root, file)) ? pathsIn(file) : [];
      return own.flatMap(({ test: name, proof: [, title] }) => {
        const found = paths.filter((path) => path === title || path.endsWith(` > ${title}`)).length;
        return found === 1 ? [] : [`${name}: ${found}`];
      });
    });
    expect(
      missing,
      "tests that were renamed or removed: correct their rows in docs/reference/compatibility/",
    ).toEqual([]);
  });

  test("names every operation in a statement that works", () => {
    const text = proven.map(({ says }) => says).join("\n");
    const missing = operationTable()
      .all.map(titleOf)
      .filter((name) => !text.includes(`\`${name}\``));
    expect(missing, "state what each of them does, with its test, in docs/reference/compatibility/").toEqual(
      [],
    );
  });

  test("says of every statement that does not work why it is left out", () => {
    const reasons = rows.flatMap((row) => ("left out" in row ? [row["left out"]] : []));
    expect(reasons.filter((reason) => reason.length < 20)).toEqual([]);
  });
});
