import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The shell variables that had these meanings before, and the one name of each in all pages and examples. */
const renamed: Readonly<Record<string, string>> = { BASE: "ATP_URL", BASE_URL: "ATP_URL", KEY: "ATP_KEY", CONSENT: "CONSENT_URL" };
const used = new RegExp(`\\$\\{?(${Object.keys(renamed).join("|")})\\b`, "g");

/** What is wrong with the pages for users and the examples, one line each. */
export function pageComplaints(project: string): string[] {
  const paths = globSync(["README.md", "docs/**/*.md", "examples/**/*.{md,sh,ts,mjs,py}"], { cwd: project });
  return paths
    .filter((path) => !path.includes("node_modules"))
    .toSorted()
    .flatMap((path) => {
      const text = readFileSync(join(project, path), "utf8");
      return [...text.matchAll(used)].map(([found, name = ""]) => `${path}: ${found}: this value is ${renamed[name]} in all pages`);
    });
}
