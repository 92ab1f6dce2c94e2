// Adds up what the tests and the checks counted; a run that failed without saying of what counts as one failure.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

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

/** Prints the failed tests with the first lines of their errors: the end of a log is what is read first. */
function printFailures({ testResults }) {
  for (const { name, message, assertionResults } of testResults) {
    const failures = assertionResults.filter(({ status }) => status === "failed");
    if (failures.length === 0 && message) console.log(`FAIL  ${relative(".", name)}: ${firstLines(message)}`);
    for (const { fullName, failureMessages } of failures)
      console.log(`FAIL  ${relative(".", name)} > ${fullName}: ${firstLines(failureMessages.join("\n"))}`);
  }
}
const firstLines = (text) => text.split("\n").slice(0, 3).join("\n      ").slice(0, 500);

const tests = counted("tests", () => {
  const report = JSON.parse(read("tests.json"));
  printFailures(report);
  return { passed: report.numPassedTests, failed: report.numFailedTests };
});
const checks = counted("checks", () => {
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(read("checks.txt"));
  return { passed: Number(passed), failed: Number(failed) };
});

const failed = tests.failed + checks.failed;
process.exitCode = failed > 0 ? 1 : 0;
console.log(`${tests.passed + checks.passed} passed, ${failed} failed`);
