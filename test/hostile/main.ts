// `npm run hostile -- [--only PATTERN] [--rounds N] [--accepted]`: sends every attack whose name matches, and
// prints the answers and their cost; then, with `--accepted`, as many bodies as BODY_MEMORY accepts, and
// more; then the scenarios whose name matches, many requests at once, with the wait of others; then, without
// `--only`, runs the tests that attack rules.
import { parseArgs } from "node:util";
import { memoryOf, resetPeak } from "../support/process-memory.ts";
import { startPlatform } from "./platform.ts";
import { watchLiveness } from "./probe/liveness.ts";
import { attackRules } from "./rules.ts";
import { type Result, run, tries } from "./run.ts";
import { scenarios } from "./scenarios.ts";
import { accounts, sendAccepted } from "./table/accepted.ts";
import { refused, slowAttacks, within } from "./table/attacks.ts";
import { callers, warmUp } from "./warm-up.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "1" },
    accepted: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const pattern = new RegExp(values.only);
const chosen = [...refused, ...slowAttacks, ...within].filter(({ name }) => pattern.test(name));
const MB = 1024 ** 2;

/** Attacks a server, prints its answers, and returns how many are wrong. */
async function attackServer(): Promise<number> {
  await using platform = await startPlatform(chosen.length * rounds * tries + callers + accounts);
  using liveness = await watchLiveness(platform.port, platform.pid);
  await warmUp(platform);
  const idle = await liveness.idle();
  console.log(`idle ${idle.toFixed(1)} ms, resident ${Math.round(memoryOf(platform.pid).resident / MB)} MB`);
  resetPeak(platform.pid);
  let wrong = 0;
  for (const attack of Array.from({ length: rounds }, () => chosen).flat()) {
    if (!platform.isAlive()) break;
    const result = await run({ platform, liveness, idle }, attack);
    if (!result.expected.includes(result.answer)) wrong += 1;
    print(result, platform.isAlive() ? memoryOf(platform.pid).peak : 0);
  }
  if (values.accepted) console.log(`accepted: ${(await sendAccepted(platform)).toSorted().join(", ")}`);
  if (platform.isAlive()) console.log(`peak ${Math.round(memoryOf(platform.pid).peak / MB)} MB`);
  return platform.isAlive() ? wrong : Number.POSITIVE_INFINITY;
}

function print({ name, expected, answer, took, excess, cpu, resident }: Result, peak: number): void {
  const right = expected.includes(answer);
  const memory = `${Math.round(resident / MB)} MB, peak ${Math.round(peak / MB)} MB`;
  const cost = `${took.toFixed(0)} ms, CPU ${cpu.all} ms (main thread ${cpu.main.toFixed(0)} ms), /livez +${excess.toFixed(0)} ms, ${memory}`;
  console.log(
    `${right ? "ok   " : "WRONG"} ${name}: ${answer} (${cost})${right ? "" : `, expected ${expected.join(" or ")}`}`,
  );
}

/** Runs the scenarios, and returns how many had a wrong answer. */
async function runScenarios(): Promise<number> {
  let wrong = 0;
  for (const { name, run: begin } of scenarios.filter((one) => pattern.test(one.name))) {
    const { measured, isRight } = await begin();
    console.log(`${isRight ? "ok   " : "WRONG"} ${name}: ${measured}`);
    if (!isRight) wrong += 1;
  }
  return wrong;
}

const wrong = chosen.length > 0 ? await attackServer() : 0;
console.log(wrong === Number.POSITIVE_INFINITY ? "the server is dead" : `${wrong} wrong answers`);
const failed = await runScenarios();
const broken = values.only === "" ? await attackRules() : 0;
process.exitCode = wrong + failed + broken > 0 ? 1 : 0;
