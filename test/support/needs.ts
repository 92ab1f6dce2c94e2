import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject, TestRunner } from "vitest";
import { depth } from "./depth.ts";
import { hasTool, installLine, type ToolName } from "./tools.ts";

/**
 * Whether this machine lacks one of these tools: for `test.skipIf(lacks("ruby"))` and `describe.skipIf`.
 * Vitest lists the missing ones at the end of the run (`run.ts`).
 *
 * @throws Error with the tool and its install command, where `CI=true`: there every test must run, except in
 * a slice of the deep tests.
 */
export function lacks(...tools: readonly ToolName[]): boolean {
  const missing = tools.filter((tool) => !hasTool(tool));
  for (const tool of missing) writeFileSync(join(inject("sharedFolder"), `missing-${tool}`), "");
  if (missing.length > 0 && process.env["CI"] === "true" && depth !== "slice")
    throw new Error(missing.map((tool) => `${tool} is missing: ${installLine(tool)}`).join("\n"));
  return missing.length > 0;
}

/**
 * Skips the running test where one of these tools is missing: for helpers of many tests.
 *
 * @throws like `lacks`, and to end the skipped test.
 */
export function need(...tools: readonly ToolName[]): void {
  if (!lacks(...tools)) return;
  const running = TestRunner.getCurrentTest();
  if (running === undefined)
    throw new Error(`${tools.join(", ")}: not all are installed; skip the suite by lacks()`);
  running.context.skip(`needs ${tools.join(", ")}`);
}

/** Like `need`, for shell lines: bash, and the tools in them that not every machine has. */
export const needInShell = (lines: string): void =>
  need("bash", ...called.filter((tool) => lines.includes(`${tool} `)));

const called = ["curl", "jq", "openssl"] as const;
