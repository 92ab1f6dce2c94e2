// `npm run check`: all checks in addition to the tests, two at a time. Prints one line per check, the output
// of failed checks below their lines, and at the end `N passed, N failed`. `npm run check -- TEXT` runs those
// with TEXT in their name.
import { checks } from "./check/checks.ts";

const [text = ""] = process.argv.slice(2);
const wanted = checks.filter(({ name }) => name.includes(text));
if (wanted.length === 0)
  throw new Error(
    `no check has ${text} in its name; the checks are ${checks.map(({ name }) => name).join(", ")}`,
  );
let failed = 0;

async function run({ name, complaint }: (typeof checks)[number]): Promise<void> {
  const begun = performance.now();
  const text = await complaint().catch((error: unknown) =>
    error instanceof Error ? (error.stack ?? error.message) : String(error),
  );
  failed += text === null ? 0 : 1;
  const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  console.log(text === null ? `pass  ${name} (${took})` : `FAIL  ${name} (${took})\n${text.trimEnd()}`);
}

const waiting = wanted.values();
async function runWaiting(): Promise<void> {
  for (const check of waiting) await run(check);
}
await Promise.all([runWaiting(), runWaiting()]);
console.log(`${wanted.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
