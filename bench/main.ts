// Measures figures with their floors and peers. Standard output has only lines of JSON, and only with --json.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Dialect } from "../src/store/statements.ts";
import { comparedNames, compareWith } from "./against.ts";
import { runConsole } from "./console.ts";
import { databasesIn, MissingDependency } from "./databases.ts";
import { runEndurance } from "./endurance.ts";
import type { Figure, Stage } from "./figure.ts";
import { figureNames, selectFigures } from "./figures.ts";
import { runGrowth } from "./growth.ts";
import { runLoop } from "./loop.ts";
import { runMigrations } from "./migrations.ts";
import { runOpen } from "./open.ts";
import { peersIn } from "./peers.ts";
import { formatLine, type Line } from "./report.ts";
import { runTestMode } from "./test-mode.ts";
import { runWrites } from "./writes.ts";
import { runYears } from "./years.ts";

/**
 * The arguments that request tests instead of figures: of endurance, fixed rates, the console, growth, years,
 * an upgrade, writes, test mode, a contributor's wait.
 */
const endurance = "endurance";
const webApplication = "console";
const twoYears = "years";
const upgrade = "migrations";
const testMode = "test-mode";
const contributor = "loop";
const fixedRates = "open";
const moreTasks = "growth";
const databaseWrites = "writes";
const tests: readonly string[] = [
  endurance,
  fixedRates,
  webApplication,
  moreTasks,
  twoYears,
  upgrade,
  databaseWrites,
  testMode,
  contributor,
];

const dialects: readonly Dialect[] = ["sqlite", "postgresql"];

/** Tasks of a large installation. */
const largeTasks = 200_000;

const print = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs a measurement; what it needs may be missing on this machine. */
async function unlessMissing<T>(what: string, run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (thrown) {
    if (!(thrown instanceof MissingDependency)) throw thrown;
    print(`*** ${thrown.message}: ${what} ARE SKIPPED ***`);
    return undefined;
  }
}

/** The databases of `--database`; all without it. */
function dialectsOf(name: string | undefined): readonly Dialect[] {
  const found = dialects.filter((dialect) => name === undefined || dialect === name);
  if (found.length === 0) throw new Error(`--database must be one of ${dialects.join(", ")}`);
  return found;
}

async function measure(figure: Figure, stage: Stage): Promise<readonly Line[]> {
  await using stack = new AsyncDisposableStack();
  const lines = await unlessMissing(figure.names.join(" and "), () => figure.measure({ ...stage, stack }));
  return lines ?? [];
}

const options = {
  json: { type: "boolean", default: false },
  watchers: { type: "string", default: "10000" },
  minutes: { type: "string", default: "10" },
  tasks: { type: "string", default: "50000" },
  database: { type: "string" },
  sizes: { type: "string", default: "10000,1000000" },
  rate: { type: "string", default: "25" },
  seconds: { type: "string", default: "10" },
  large: { type: "boolean", default: false },
  against: { type: "string" },
} as const;

async function main(): Promise<void> {
  const { positionals: requested, values } = parseArgs({ allowPositionals: true, options });
  const known = values.against === undefined ? [...figureNames, ...tests] : comparedNames;
  const unknown = requested.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`unknown figure ${unknown}; the figures are ${known.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      print(`*** ended by ${signal} ***`);
      process.exit(1);
    });
  const report = (line: Line | Parameters<Parameters<typeof runEndurance>[2]>[0]) => {
    print(formatLine(line));
    if (values.json) process.stdout.write(`${JSON.stringify(line)}\n`);
  };
  await using stack = new AsyncDisposableStack();
  if (values.against !== undefined) {
    const other = resolve(values.against);
    await unlessMissing("the comparisons on it", () => compareWith(other, requested, stack, report));
    return;
  }
  await using databases = databasesIn(folder, print);
  const stage: Stage = {
    databases,
    peers: peersIn(folder, print),
    sizes: values.sizes.split(",").map(Number),
    stack,
  };
  const names = requested.filter((name) => !tests.includes(name));
  const figures = requested.length > 0 && names.length === 0 ? [] : selectFigures(names);
  for (const figure of figures)
    for (const line of await measure(figure, stage))
      if (names.length === 0 || names.includes(line.figure)) report(line);
  if (requested.includes(fixedRates))
    await unlessMissing("its rates", () =>
      runOpen(
        stage,
        { rate: Number(values.rate), seconds: Number(values.seconds), dialects: dialectsOf(values.database) },
        report,
      ),
    );
  if (requested.includes(webApplication)) await unlessMissing("its pages", () => runConsole(stage, report));
  if (requested.includes(moreTasks))
    await unlessMissing("its databases", () =>
      runGrowth(stage, { dialects: dialectsOf(values.database), isLarge: values.large }, report),
    );
  if (requested.includes(twoYears))
    await unlessMissing("its databases", () =>
      runYears(
        stage,
        { tasksEach: Number(values.tasks), dialects: dialectsOf(values.database) },
        report,
        print,
      ),
    );
  if (requested.includes(upgrade))
    await unlessMissing("its database", () =>
      runMigrations({ tasks: largeTasks, events: 5 * largeTasks }, report),
    );
  if (requested.includes(databaseWrites))
    await unlessMissing("its figures", () => runWrites(stage, { tasks: 500, idleSeconds: 60 }, report));
  if (requested.includes(testMode)) {
    const measured = await runTestMode(print);
    if (values.json) process.stdout.write(`${JSON.stringify({ figure: testMode, ...measured })}\n`);
  }
  if (requested.includes(contributor)) {
    const measured = await runLoop(print);
    if (values.json) process.stdout.write(`${JSON.stringify({ figure: contributor, ...measured })}\n`);
  }
  if (requested.includes(endurance))
    await runEndurance(stage, { watchers: Number(values.watchers), minutes: Number(values.minutes) }, report);
}

try {
  await main();
} catch (thrown) {
  print(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  process.exitCode = 1;
}
