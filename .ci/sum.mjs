// Adds up what the tests and the checks counted; a run that failed without saying of what counts as one failure.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? ".";
const read = (name) => readFileSync(join(folder, name), "utf8");

function counted(name, count) {
  const failed = read(`${name}.status`).trim() !== "0";
  try {
    const counts = count();
    return { passed: counts.passed, failed: failed ? Math.max(1, counts.failed) : counts.failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}

const tests = counted("tests", () => {
  const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(read("tests.json"));
  return { passed, failed };
});
const checks = counted("checks", () => {
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(read("checks.txt"));
  return { passed: Number(passed), failed: Number(failed) };
});

const failed = tests.failed + checks.failed;
process.exitCode = failed > 0 ? 1 : 0;
console.log(`${tests.passed + checks.passed} passed, ${failed} failed`);
