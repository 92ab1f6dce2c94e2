import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { objectLimits } from "../../scripts/reference/objects.ts";

const texts = globSync(["docs/**/*.{md,yaml}", "proto/**/*.proto", "README.md"], {
  exclude: ["docs/internals/**", "docs/releases/**"],
}).map((path) => ({
  path,
  // A comment of several lines is one text.
  text: readFileSync(path, "utf8").replace(/\s*\n\s*(\/\/|\*)?\s*/g, " "),
}));

test("every text that says how many objects there are at most has the number of the code", () => {
  const numbers = new Map(objectLimits.map(({ what, max }) => [what, max.toLocaleString("en-US")]));
  const said = new RegExp(
    `(?:at most|holds|beyond|has|have|at) ([\\d,]+) (${[...numbers.keys()].join("|")})\\b(?! and list)`,
    "g",
  );
  const found = texts.flatMap(({ path, text }) =>
    [...text.matchAll(said)].map(([, number = "", what = ""]) => ({
      path,
      number,
      what,
      expected: numbers.get(what),
    })),
  );
  console.info(`read ${found.length} numbers`);
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter(({ number, expected }) => number !== expected)).toEqual([]);
});
