import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The shell variables that had these meanings before, and the one name of each in all pages and examples. */
const renamed: Readonly<Record<string, string>> = {
  BASE: "ATP_URL",
  BASE_URL: "ATP_URL",
  KEY: "ATP_KEY",
  CONSENT: "CONSENT_URL",
};
const used = new RegExp(`\\$\\{?(${Object.keys(renamed).join("|")})\\b`, "g");

/** Pages that a person reads from the first line to the last. */
const limits: readonly (readonly [RegExp, number])[] = [
  [/^docs\/(guides|quickstart|operate)\//, 3000],
  [/^docs\/releases\//, 1500],
];
/** The characters of a line of the pages of releases, which people also read in a terminal. */
const lineMax = 160;
const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length;

/** The old names in a page or an example. */
export const oldNames = (text: string): readonly string[] =>
  [...text.matchAll(used)].map(
    ([found, name = ""]) => `${found}: the name of this value is ${renamed[name]}`,
  );

/** What is too long in a page. */
export function lengthComplaints(path: string, text: string): readonly string[] {
  const words = countWords(text);
  const [, most = words] = limits.find(([pages]) => pages.test(path)) ?? [];
  const long = /^(CHANGELOG\.md|docs\/releases\/)/.test(path)
    ? text.split("\n").findIndex((line) => line.length > lineMax)
    : -1;
  return [
    ...(words > most
      ? [`${words} words; a page there has at most ${most}: move details to docs/internals/`]
      : []),
    ...(long >= 0 ? [`line ${long + 1} has more than ${lineMax} characters: break it`] : []),
  ];
}

/** What is wrong with the pages for users and the examples, one line each. */
export function pageComplaints(project: string): string[] {
  const paths = globSync(["README.md", "CHANGELOG.md", "docs/**/*.md", "examples/**/*.{md,sh,ts,mjs,py}"], {
    cwd: project,
  });
  return paths
    .filter((path) => !path.includes("node_modules"))
    .toSorted()
    .flatMap((path) => {
      const text = readFileSync(join(project, path), "utf8");
      return [...oldNames(text), ...lengthComplaints(path, text)].map((complaint) => `${path}: ${complaint}`);
    });
}
