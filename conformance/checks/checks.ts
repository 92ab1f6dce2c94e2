import { answerChecks } from "./answers.ts";
import type { Check } from "./check.ts";
import { troubleChecks } from "./troubles.ts";

/** All checks; those that take longest begin first. */
export const checks: readonly Check[] = [...troubleChecks, ...answerChecks];
