// Measures figures beside their floors and peers. Standard output has nothing but lines of JSON, and those only on demand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { databasesIn, Missing } from "./databases.ts";
import type { Figure } from "./figure.ts";
import { chosenFigures, figureNames } from "./figures.ts";
import { peersIn } from "./peers.ts";
import { type Line, textOf } from "./report.ts";

const say = (text: string): void => void process.stderr.write(`${text}\n`);

async function measured(figure: Figure, parts: Pick<Parameters<Figure["measure"]>[0], "databases" | "peers">): Promise<readonly Line[]> {
  await using stack = new AsyncDisposableStack();
  try {
    return await figure.measure({ ...parts, stack });
  } catch (thrown) {
    if (!(thrown instanceof Missing)) throw thrown;
    say(`*** ${thrown.message}: ${figure.names.join(" and ")} ARE LEFT OUT ***`);
    return [];
  }
}

async function main(): Promise<void> {
  const { positionals: wanted, values } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean", default: false } } });
  const unknown = wanted.find((name) => !figureNames.includes(name));
  if (unknown !== undefined) throw new Error(`there is no figure ${unknown}; there are ${figureNames.join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  await using databases = databasesIn(folder, say);
  const peers = peersIn(folder, say);
  for (const figure of chosenFigures(wanted)) {
    for (const line of await measured(figure, { databases, peers })) {
      if (wanted.length > 0 && !wanted.includes(line.figure)) continue;
      say(textOf(line));
      if (values.json) process.stdout.write(`${JSON.stringify(line)}\n`);
    }
  }
}

try {
  await main();
} catch (thrown) {
  say(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  process.exitCode = 1;
}
