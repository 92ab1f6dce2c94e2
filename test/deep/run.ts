import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Depth } from "../support/depth.ts";
import { commandOf, type Step } from "./families.ts";

/** The outcome of a step. */
export interface Outcome {
  readonly step: Step;
  readonly seconds: number;
  readonly passed: number;
  /** What failed, each with its error. */
  readonly failed: readonly string[];
}

export interface RunOptions {
  readonly depth: Exclude<Depth, "short">;
  readonly seed: number;
}

/** Runs the test files, two at a time, then the commands, each alone. */
export async function runSteps(steps: readonly Step[], options: RunOptions): Promise<readonly Outcome[]> {
  const files = steps.filter((step) => commandOf(step) === undefined);
  const outcomes = files.length > 0 ? [...(await runFiles(files, options))] : [];
  for (const step of steps.filter((one) => commandOf(one) !== undefined))
    outcomes.push(await runCommand(step, options));
  return outcomes;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

async function runFiles(steps: readonly Step[], { depth, seed }: RunOptions): Promise<readonly Outcome[]> {
  const folder = mkdtempSync(join(tmpdir(), "deep-"));
  const file = join(folder, "report.json");
  const words = [
    "run",
    ...steps.map(({ name }) => name),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${file}`,
  ];
  try {
    const code = await runProgram("vitest", words, { TEST_DEPTH: depth, TEST_SEED: String(seed) });
    const { testResults }: Report = JSON.parse(readFileSync(file, "utf8"));
    const outcomes = steps.map((step) =>
      outcomeOf(
        step,
        testResults.find(({ name }) => relative(".", name) === step.name),
      ),
    );
    const isExplained = code === 0 || outcomes.some(({ failed }) => failed.length > 0);
    return isExplained ? outcomes : [...outcomes, failedTo(steps, `vitest ended with ${code}`)];
  } catch (thrown) {
    return [failedTo(steps, `vitest made no report: ${thrown}`)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outcomeOf(step: Step, result: Report["testResults"][number] | undefined): Outcome {
  if (result === undefined) return { step, seconds: 0, passed: 0, failed: ["was not run"] };
  const { startTime, endTime, message, assertionResults } = result;
  const failed = assertionResults.flatMap(({ status, fullName, failureMessages }) =>
    status === "failed" ? [`${fullName}: ${failureMessages.join("\n")}`] : [],
  );
  const passed = assertionResults.filter(({ status }) => status === "passed").length;
  return {
    step,
    seconds: (endTime - startTime) / 1000,
    passed,
    failed: failed.length === 0 && message ? [message] : failed,
  };
}

function failedTo([step]: readonly Step[], why: string): Outcome {
  if (step === undefined) throw new Error(why);
  return { step, seconds: 0, passed: 0, failed: [why] };
}

async function runCommand(step: Step, { depth, seed }: RunOptions): Promise<Outcome> {
  const begun = performance.now();
  const { script = "", [depth]: words = [] } = commandOf(step) ?? {};
  // An attack has no random choices.
  const seedOption = script === "hostile" ? [] : ["--seed", String(seed)];
  const code = await runProgram("npm", ["run", script, "--", ...words, ...seedOption], {});
  const failed = code === 0 ? [] : [`ended with ${code}`];
  return { step, seconds: (performance.now() - begun) / 1000, passed: code === 0 ? 1 : 0, failed };
}

async function runProgram(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number | null> {
  const child = spawn(program, words, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  const [code] = await once(child, "close");
  return code;
}
