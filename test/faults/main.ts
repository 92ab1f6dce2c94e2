import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { longPlans } from "./harness/plans.ts";
import { evidenceOf, reportOf } from "./harness/report.ts";
import { type Outcome, runFaults } from "./harness/run.ts";
import { type SetUpName, setUpNames } from "./harness/set-up.ts";

/** The page of a report, after its introduction. */
const page = "docs/internals/reliability.md";
const mark = "<!-- the report -->\n";

const { values: asked } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: randomBytes(4).toString("hex") },
    on: { type: "string", default: setUpNames.join(",") },
    keep: { type: "boolean", default: false },
  },
});

/** Seconds per kill, including other faults, as measured on two cores. */
const secondsPerKill: Readonly<Record<SetUpName, number>> = { sqlite: 2, postgresql: 1.3 };

/**
 * Ctrl-C: the current rounds are the last, and are checked. Any end of this process ends its child processes.
 */
const enough = new AbortController();
process.once("SIGINT", () => {
  enough.abort();
  process.once("SIGINT", () => process.exit(130));
});
process.once("SIGTERM", () => process.exit(143));

const setUps = setUpNames.filter((name) => asked.on.split(",").includes(name));
/** Both then take about the same time: a single process has no peer to take over. */
const shares: Readonly<Record<SetUpName, number>> = { sqlite: 2, postgresql: 3 };
const allShares = setUps.reduce((sum, name) => sum + shares[name], 0);
const killsOn = (name: SetUpName): number => Math.round((Number(asked.kills) * shares[name]) / allShares);
const minutes = Math.ceil(Math.max(...setUps.map((name) => killsOn(name) * secondsPerKill[name] + 60)) / 60);
const killCounts = setUps.map((name) => `${killsOn(name)} kills on ${name}`).join(" and ");
console.log(`Seed ${asked.seed}, ${killCounts}, at the same time: about ${minutes} minutes.`);

/** One set-up's run and its report; null where its database is not installed. */
async function runOn(setUp: SetUpName): Promise<string | null> {
  const tell = (line: string) => console.log(`${setUp.padEnd(10)} ${line}`);
  const outcome = await runFaults({
    setUp,
    plan: longPlans[setUp](killsOn(setUp)),
    seed: asked.seed,
    enough: enough.signal,
    report: tell,
  });
  if (outcome === undefined) console.error("\n*** No PostgreSQL: ITS FAULTS ARE SKIPPED ***\n");
  return outcome ? judged(outcome) : null;
}

const reports = await Promise.all(setUps.map(runOn));
const only = setUps.length < setUpNames.length ? ` --on ${setUps.join(",")}` : "";
const command = `npm run test:faults -- --kills ${asked.kills} --seed ${asked.seed}${only}`;
const early = enough.signal.aborted ? ", ended early" : "";
const report = [
  `\`${command}\`${early}, on Node ${process.version}:`,
  ...reports.filter((text) => text !== null),
].join("\n\n");
console.log(`\n${report}`);
if (asked.keep) writeFileSync(page, `${readFileSync(page, "utf8").split(mark)[0]}${mark}\n${report}\n`);

/** The report of a set-up; a violation makes the process end with 1. */
function judged(outcome: Outcome): string {
  if (outcome.violations.length > 0) {
    process.exitCode = 1;
    const file = join(tmpdir(), `faults-${outcome.setUp}-${outcome.seed}.txt`);
    writeFileSync(file, evidenceOf(outcome));
    console.error(`The histories of what is wrong: ${file}`);
  }
  return reportOf(outcome);
}
