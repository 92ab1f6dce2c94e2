// `npm run hostile -- [--only PATTERN] [--rounds N] [--accepted]`: sends every attack whose name matches, and prints the answers and
// their cost; then, with `--accepted`, as many bodies as BODY_MEMORY accepts, and more.
import { parseArgs } from "node:util";
import { memoryOf, resetPeak } from "../support/process-memory.ts";
import { startPlatform } from "./platform.ts";
import { watchLiveness } from "./probe/liveness.ts";
import { run } from "./run.ts";
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
const chosen = [...refused, ...slowAttacks, ...within].filter(({ name }) => new RegExp(values.only).test(name));
const MB = 1024 ** 2;

await using platform = await startPlatform(chosen.length * rounds * 3 + callers + accounts);
using liveness = await watchLiveness(platform.port, platform.pid);
await warmUp(platform);
const idle = await liveness.idle();
const before = memoryOf(platform.pid);
resetPeak(platform.pid);
console.log(`idle ${idle.toFixed(1)} ms, resident ${Math.round(before.resident / MB)} MB`);
let wrong = 0;
for (let round = 0; round < rounds; round++)
  for (const attack of chosen) {
    if (!platform.isAlive()) break;
    const { name, expected, answer, took, excess, cpu, resident } = await run({ platform, liveness, idle }, attack);
    const right = expected.includes(answer);
    if (!right) wrong += 1;
    const cost = `${took.toFixed(0)} ms, CPU ${cpu.all} ms (main thread ${cpu.main.toFixed(0)} ms), /livez +${excess.toFixed(0)} ms, ${Math.round(resident / MB)} MB, peak ${Math.round((platform.isAlive() ? memoryOf(platform.pid).peak : 0) / MB)} MB`;
    console.log(`${right ? "ok   " : "WRONG"} ${name}: ${answer} (${cost})${right ? "" : `, expected ${expected.join(" or ")}`}`);
  }
if (values.accepted) console.log(`accepted: ${(await sendAccepted(platform)).toSorted().join(", ")}`);
if (platform.isAlive()) console.log(`peak ${Math.round(memoryOf(platform.pid).peak / MB)} MB`);
console.log(platform.isAlive() ? `${wrong} wrong answers` : "the server is dead");
process.exitCode = wrong > 0 || !platform.isAlive() ? 1 : 0;
