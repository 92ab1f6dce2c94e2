// Measures figures beside their floors and peers. Standard output has nothing but lines of JSON, and those only on demand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compareWith } from "./against.ts";
import { databasesIn, Missing } from "./databases.ts";
import { endure } from "./endurance.ts";
import type { Figure, Stage } from "./figure.ts";
import { chosenFigures, figureNames } from "./figures.ts";
import { peersIn } from "./peers.ts";
import { type Line, textOf } from "./report.ts";

/** The word that asks for it in place of figures. */
const endurance = "endurance";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function measured(figure: Figure, stage: Stage): Promise<readonly Line[]> {
  await using stack = new AsyncDisposableStack();
  try {
    return await figure.measure({ ...stage, stack });
  } catch (thrown) {
    if (!(thrown instanceof Missing)) throw thrown;
    say(`*** ${thrown.message}: ${figure.names.join(" and ")} ARE LEFT OUT ***`);
    return [];
  }
}

const options = {
  json: { type: "boolean", default: false },
  watchers: { type: "string", default: "10000" },
  minutes: { type: "string", default: "10" },
  against: { type: "string" },
} as const;

async function main(): Promise<void> {
  const { positionals: wanted, values } = parseArgs({ allowPositionals: true, options });
  const unknown = wanted.find((name) => name !== endurance && !figureNames.includes(name));
  if (unknown !== undefined) throw new Error(`there is no figure ${unknown}; there are ${[...figureNames, endurance].join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      say(`*** ended by ${signal} ***`);
      process.exit(1);
    });
  const tell = (line: Line | Parameters<Parameters<typeof endure>[2]>[0]) => {
    say(textOf(line));
    if (values.json) process.stdout.write(`${JSON.stringify(line)}\n`);
  };
  await using stack = new AsyncDisposableStack();
  if (values.against !== undefined) {
    await compareWith(resolve(values.against), stack, tell);
    return;
  }
  await using databases = databasesIn(folder, say);
  const stage: Stage = { databases, peers: peersIn(folder, say), stack };
  const names = wanted.filter((name) => name !== endurance);
  const figures = wanted.includes(endurance) && names.length === 0 ? [] : chosenFigures(names);
  for (const figure of figures)
    for (const line of await measured(figure, stage)) if (names.length === 0 || names.includes(line.figure)) tell(line);
  if (wanted.includes(endurance)) await endure(stage, { watchers: Number(values.watchers), minutes: Number(values.minutes) }, tell);
}

try {
  await main();
} catch (thrown) {
  say(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  process.exitCode = 1;
}
