// Adds up what the tests, the checks and the deep tests counted; a run that failed without saying of what
// counts as one failure.
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
/** What a command printed: the failures with their errors, and the sum in its last line. */
function told(name) {
  return counted(name, () => {
    const text = read(`${name}.txt`);
    for (const [failure] of text.matchAll(/^FAIL {2}.* > .*(\n {6}.*)*/gm)) console.log(failure);
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(text.trimEnd().split("\n").at(-1));
    return { passed: Number(passed), failed: Number(failed) };
  });
}
/**
 * The packages with known faults of high or critical severity; a registry that does not answer is not a
 * failure.
 */
function audited() {
  let report;
  try {
    report = JSON.parse(read("audit.json"));
  } catch {
    report = {};
  }
  if (report.vulnerabilities === undefined) {
    console.log("npm audit: not checked, the registry did not answer it");
    return { passed: 0, failed: 0 };
  }
  const bad = Object.values(report.vulnerabilities).filter(
    ({ severity }) => severity === "high" || severity === "critical",
  );
  for (const { name, severity, range } of bad) console.log(`FAIL  npm audit > ${name} ${range}: ${severity}`);
  return bad.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: bad.length };
}

const parts = [tests, told("checks"), told("deep"), audited()];

/** The slowest steps, each a file of tests or a check. */
function slowest(count) {
  const steps = [];
  try {
    for (const { name, startTime, endTime } of JSON.parse(read("tests.json")).testResults)
      steps.push({ name: `test: ${relative(".", name)}`, seconds: (endTime - startTime) / 1000 });
  } catch {
    // The tests made no report, which counts as a failure above.
  }
  for (const part of ["checks", "deep"])
    for (const [, name, seconds] of read(`${part}.txt`).matchAll(/^(?:pass|FAIL) {2}(.+) \((\d+\.\d) s\)$/gm))
      steps.push({ name: `${part}: ${name}`, seconds: Number(seconds) });
  return steps.toSorted((a, b) => b.seconds - a.seconds).slice(0, count);
}
console.log("The slowest steps:");
for (const { name, seconds } of slowest(10)) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);

const sum = (what) => parts.reduce((all, part) => all + part[what], 0);
process.exitCode = sum("failed") > 0 ? 1 : 0;
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
