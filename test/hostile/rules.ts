import { families } from "../deep/families.ts";
import { runSteps } from "../deep/run.ts";

/**
 * Files of `npm test` with attacks on rules: they need a moved clock, or a model or receiver of the attacker.
 */
const files: readonly string[] = [
  "test/a2a/push-sender.test.ts",
  "test/a2a/push.test.ts",
  "test/oauth/unverified.test.ts",
  "test/oauth/registration.test.ts",
  "test/runtime/model/fetch-policy.test.ts",
  "test/runtime/model/injections.test.ts",
  "test/runtime/model/tools/sandbox.test.ts",
  "test/sign-in/hash-queue.test.ts",
  "test/sign-in/password.test.ts",
];

/** Runs these files in full, prints what failed, and returns how many tests did. */
export async function attackRules(): Promise<number> {
  const steps = families
    .filter(({ name }) => name === "hostile")
    .flatMap((family) => files.map((name) => ({ family, name })));
  const outcomes = await runSteps(steps, { depth: "full", seed: 1 });
  const failed = outcomes.flatMap((outcome) => outcome.failed);
  for (const what of failed) console.log(`WRONG ${what}`);
  return failed.length;
}
