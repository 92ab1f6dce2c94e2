// `node test/deep/slow.ts REPORT.json`: the tests of a run that took more than 3 s and have no line in
// slow.yml. REPORT.json is vitest's, by `npm test -- --reporter=json --outputFile=REPORT.json`. The times of
// a busy machine say nothing: run it by name on a quiet one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";

const secondsMax = 3;

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly duration?: number }[];
  }[];
}

const { positionals } = parseArgs({ allowPositionals: true });
const { testResults } = JSON.parse(readFileSync(positionals[0] ?? "", "utf8")) as Report; // vitest wrote it
const listed = parse(readFileSync(join(import.meta.dirname, "slow.yml"), "utf8")) as Readonly<
  Record<string, string>
>;

/** A test is the same on both databases. */
const nameOf = (file: string, title: string): string =>
  `${file.split("/test/").at(-1)?.replace(".test.ts", "")} > ${title.replace(/ \((sqlite|postgresql)\)/, "")}`;
const slow = testResults
  .flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, duration = 0 }) => ({
      name: nameOf(name, fullName),
      seconds: duration / 1000,
    })),
  )
  .filter(
    ({ name, seconds }) => seconds > secondsMax && !Object.keys(listed).some((each) => name.startsWith(each)),
  );
for (const { name, seconds } of slow.toSorted((a, b) => b.seconds - a.seconds))
  console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}`);
console.log(
  `${slow.length} tests over ${secondsMax} s are not in test/deep/slow.yml, which has ${Object.keys(listed).length} lines`,
);
process.exitCode = slow.length > 0 ? 1 : 0;
