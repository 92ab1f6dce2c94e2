// `npm run check`: everything that is to hold besides the tests. One line per check, what a failed
// one has to say below it, and at the end `N passed, N failed`.
import { checks } from "./check/checks.ts";

let failed = 0;
for (const { name, complaint } of checks) {
  const text = await complaint().catch((error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
  failed += text === null ? 0 : 1;
  console.log(text === null ? `pass  ${name}` : `FAIL  ${name}\n${text.trimEnd()}`);
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
