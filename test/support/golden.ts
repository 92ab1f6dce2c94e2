import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

/**
 * Compares with a file under test/golden; `UPDATE_GOLDEN=1` rewrites it, so that a change shows as a diff.
 */
export function expectGolden(name: string, text: string): void {
  const file = new URL(`../golden/${name}`, import.meta.url);
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
}
