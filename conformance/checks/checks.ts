import { answerChecks } from "./answers.ts";
import type { Check } from "./check.ts";
import { faultChecks } from "./faults.ts";

/** All checks; the slowest start first. */
export const checks: readonly Check[] = [...faultChecks, ...answerChecks];
