import { inject, TestRunner } from "vitest";
import type { ToolName } from "./tools.ts";

/**
 * Whether this machine lacks one of these tools: for `test.skipIf(lacks("ruby"))` and `describe.skipIf`. Vitest
 * lists the missing ones at the end of the run (`tools.ts`).
 *
 * @throws Error naming the tool and the line that installs it, where `CI=true`: there every test has to run.
 */
export function lacks(...tools: readonly ToolName[]): boolean {
  const missing = inject("missingTools");
  const lines = tools.flatMap((tool) => (missing[tool] === undefined ? [] : [`${tool} is missing: ${missing[tool]}`]));
  if (lines.length > 0 && process.env["CI"] === "true") throw new Error(lines.join("\n"));
  return lines.length > 0;
}

/**
 * Skips the test that is running where one of these tools is missing: for helpers that many tests call.
 *
 * @throws as `lacks`, and to end the test that is skipped.
 */
export function need(...tools: readonly ToolName[]): void {
  if (!lacks(...tools)) return;
  const running = TestRunner.getCurrentTest();
  if (running === undefined) throw new Error(`${tools.join(", ")}: not all are installed; skip the suite by lacks()`);
  running.context.skip(`needs ${tools.join(", ")}`);
}

/** As `need`, for lines of a shell: bash, and what they call of the tools that are not on every machine. */
export const needInShell = (lines: string): void => need("bash", ...called.filter((tool) => lines.includes(`${tool} `)));

const called = ["curl", "jq", "openssl"] as const;
