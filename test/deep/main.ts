// `npm run test:deep [-- NAME … | --minutes N] [--seed S]`: the families of deep tests in full, those that
// are named, or a slice of all.
import { randomInt } from "node:crypto";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { families, type Step, stepsInOrder } from "./families.ts";
import { type Outcome, runSteps } from "./run.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    "open-responses": { type: "string" },
    tck: { type: "string" },
  },
});
const { tck, "open-responses": openResponses } = values;
if (openResponses !== undefined) process.env["OPEN_RESPONSES"] = resolve(openResponses);
if (tck !== undefined) process.env["A2A_TCK"] = resolve(tck);
const seed = Number(values.seed);
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
const chosen = families.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const unknown = positionals.filter((name) => !families.some((family) => family.name === name));
if (unknown.length > 0 || !Number.isSafeInteger(seed) || Number.isNaN(minutes)) {
  console.error(
    `usage: npm run test:deep [-- NAME … | --minutes N] [--seed S] [--open-responses DIR] [--tck DIR]\n\nnames: ${families.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}

const hasKits = chosen.some(({ name }) => name === "kits");
if (openResponses === undefined && hasKits)
  console.info(
    "not run: Open Responses. It needs --open-responses DIR, a checkout with its packages, and bun on the path",
  );
if (tck === undefined && hasKits)
  console.info(
    "not run: the test kit of A2A. It needs --tck DIR, a checkout of a2aproject/a2a-tck, and its packages for Python",
  );

const begun = performance.now();
const elapsed = (): number => (performance.now() - begun) / 1000;
const steps = stepsInOrder(chosen, seed);
const commandLine = [
  "npm run test:deep --",
  ...positionals,
  ...(minutes === undefined ? [] : ["--minutes", minutes]),
  "--seed",
  seed,
].join(" ");
console.log(`${commandLine}\n`);

/** Steps of a slice that start together. */
const together = 4;

/** Starts the next steps while there is time for steps as long as the longest so far. */
async function slice(
  seconds: number,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly left: readonly Step[] }> {
  const outcomes: Outcome[] = [];
  let longest = 0;
  for (let next = 0; next < steps.length; next += together) {
    if (elapsed() + longest > seconds) return { outcomes, left: steps.slice(next) };
    const before = elapsed();
    outcomes.push(...(await runSteps(steps.slice(next, next + together), { depth: "slice", seed })));
    longest = Math.max(longest, elapsed() - before);
  }
  return { outcomes, left: [] };
}

const { outcomes, left } =
  minutes === undefined
    ? { outcomes: await runSteps(steps, { depth: "full", seed }), left: [] }
    : await slice(minutes * 60);

console.log(`\n${commandLine}, ${(elapsed() / 60).toFixed(1)} minutes:`);
for (const { step, seconds, failed } of outcomes)
  console.log(
    `${failed.length === 0 ? "pass" : "FAIL"}  ${step.family.name}: ${step.name} (${seconds.toFixed(1)} s)`,
  );
for (const { name } of families) {
  const names = left.filter(({ family }) => family.name === name).map((step) => step.name);
  if (names.length > 0) console.log(`did not run  ${name}: ${names.join(", ")}`);
}
const firstLines = (text: string): string => text.split("\n").slice(0, 3).join("\n      ").slice(0, 500);
for (const { step, failed } of outcomes)
  for (const what of failed) console.log(`FAIL  ${step.name} > ${firstLines(what)}`);
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
const failures = outcomes.reduce((sum, { failed }) => sum + failed.length, 0);
console.log(`${passed} passed, ${failures} failed`);
process.exitCode = failures > 0 ? 1 : 0;
