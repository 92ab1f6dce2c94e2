import { expect } from "vitest";
import type { Service } from "./service.ts";

/** Resolves when the timed jobs of the start have ended: no statement was made in the last four looks. */
export async function atRest({ statements }: Pick<Service, "statements">): Promise<void> {
  const seen: number[] = [];
  await expect
    .poll(() => seen.push(statements.length) > 4 && seen.at(-1) === seen.at(-5), { interval: 100 })
    .toBe(true);
}
