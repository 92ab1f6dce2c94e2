// `npm run fuzz -- [--seed N] [--runs N] [--first N]`: generated requests over every operation and wire.
import { parseArgs } from "node:util";
import { describeFailure } from "./failing.ts";
import { fuzz } from "./run.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, runs: { type: "string" }, first: { type: "string" } },
});
const number = (text: string | undefined, fallback: number): number => {
  const value = text === undefined ? fallback : Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
};

const seed = number(values.seed, Math.floor(Date.now() / 1000) % 1_000_000);
const runs = number(values.runs, 100_000);
const first = number(values.first, 0);
const begun = performance.now();
const seconds = (): number => (performance.now() - begun) / 1000;

console.log(`seed ${seed}, ${runs} requests`);
const { tally, faults } = await fuzz({
  ...{ seed, runs, first },
  onProgress: ({ sent, complaints }) =>
    console.log(
      `${sent} of ${runs}, ${Math.round(sent / seconds())} a second, ${complaints.length} complaints`,
    ),
});
console.log(`\n${tally.table()}\n\n${tally.sent} requests in ${seconds().toFixed(1)} s`);
for (const complaint of tally.complaints) console.log(`\n${describeFailure(seed, complaint)}`);
for (const fault of faults) console.log(`\nFAULT  ${fault}`);
const failed = tally.complaints.length + faults.length;
console.log(failed === 0 ? "\nnothing to complain about" : `\n${failed} complaints`);
process.exitCode = failed === 0 ? 0 : 1;
