// `npm run check`: all checks in addition to the tests. Prints one line per check, the output of
// failed checks below their lines, and at the end `N passed, N failed`.
import { checks } from "./check/checks.ts";

let failed = 0;
for (const { name, complaint } of checks) {
  const begun = performance.now();
  const text = await complaint().catch((error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
  failed += text === null ? 0 : 1;
  const took = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  console.log(text === null ? `pass  ${name} (${took})` : `FAIL  ${name} (${took})\n${text.trimEnd()}`);
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
