import { hashPassword } from "../../src/core/sign-in/password.ts";
import { addPasswords } from "../fuzz/platform/people.ts";
import { openBrowser } from "../sign-in/browser.ts";
import { startServer } from "../support/server-process.ts";
import { startPlatform } from "./platform.ts";
import { excessOf, type Sample, watchLiveness } from "./probe/liveness.ts";
import { refused } from "./table/attacks.ts";
import { callers, warmUp } from "./warm-up.ts";

/** Many requests at once, with the wait of others. */
export interface Scenario {
  readonly name: string;
  /** Resolves with what was measured, and whether each answer was right. */
  run(): Promise<{ readonly measured: string; readonly isRight: boolean }>;
}

const at = (sorted: readonly number[], part: number): string => (sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN).toFixed(0);
const ascending = (samples: readonly Sample[], time: (sample: Sample) => number) => samples.map(time).toSorted((a, b) => a - b);

const bodiesMs = 25_000;
const costly = /^(99,000 names of 300 bytes|11 million empty objects in message.content|2 million different names), /;

/** Bodies of 30 MB that are refused, of one guest to four operations at a time. */
async function sendBodies(): ReturnType<Scenario["run"]> {
  const attacks = refused.filter(({ name }) => costly.test(name)).slice(0, 4);
  await using platform = await startPlatform(callers + 1);
  using liveness = await watchLiveness(platform.port, platform.pid);
  await warmUp(platform);
  const idle = await liveness.idle();
  await liveness.since();
  const guest = platform.attacker("guest");
  const until = performance.now() + bodiesMs;
  const answers: string[] = [];
  const repeat = async ({ send }: (typeof attacks)[number]) => {
    while (performance.now() < until && platform.isAlive()) answers.push(await send(guest));
  };
  await Promise.all(attacks.map(repeat));
  const samples = await liveness.since();
  const [seen, own] = [ascending(samples, ({ server }) => server), ascending(samples, (sample) => excessOf(sample, idle))];
  const wrong = answers.filter((answer) => !/^(?:413|429|503|200 8|200 resource_exhausted)/.test(answer));
  const measured = `${answers.length} bodies, ${wrong.length > 0 ? `wrong: ${wrong[0]}` : "all refused"}; /livez p50 ${at(seen, 0.5)} ms, p99 ${at(seen, 0.99)} ms, longest ${at(seen, 1)} ms, of it by the server ${at(own, 1)} ms`;
  return { measured, isRight: platform.isAlive() && wrong.length === 0 };
}

const networks = 16;
const waitingOfEach = 20;
const floodMs = 15_000;
const email = "known@example.com";
const password = "correct horse battery staple";

/** Sign-ins with wrong passwords from 16 networks, as many of each as may wait, while a person signs in again in a known browser. */
async function floodSignIn(): ReturnType<Scenario["run"]> {
  await using server = await startServer({ RATE_LIMITS: "default", TRUST_PROXY: "x-forwarded-for" });
  await addPasswords(server.dataDir, [{ email, stored: await hashPassword(password, { account: "" }) }]);
  const known = openBrowser(server.url);
  const signIn = async (browser = openBrowser(server.url), typed = password, from = "192.0.2.1") => {
    const headers = { "x-forwarded-for": from };
    const page = await browser.get("/sign-in", headers);
    return (await browser.submit(page, "/sign-in", { email, password: typed }, headers)).status;
  };
  const first = await signIn(known);
  let isOver = false;
  let attempts = 0;
  const attack = async (network: number, nth: number) => {
    // A new address for each attempt, so that only the queue bounds them.
    for (let address = nth; !isOver; address += waitingOfEach, attempts += 1)
      await signIn(openBrowser(server.url), "wrong", `198.18.${network}.${(address % 250) + 1}`);
  };
  const all = Array.from({ length: networks * waitingOfEach }, (_, nth) => attack(Math.floor(nth / waitingOfEach), nth % waitingOfEach));
  const times: number[] = [];
  const answers = [first];
  for (const until = performance.now() + floodMs; performance.now() < until; ) {
    const begun = performance.now();
    answers.push(await signIn(known));
    times.push(performance.now() - begun);
  }
  isOver = true;
  await Promise.all(all);
  const sorted = times.toSorted((a, b) => a - b);
  const measured = `${attempts} attempts; ${times.length} sign-ins in the known browser, p50 ${at(sorted, 0.5)} ms, longest ${at(sorted, 1)} ms`;
  return { measured, isRight: answers.every((status) => status === 303) };
}

export const scenarios: readonly Scenario[] = [
  { name: "large bodies of one guest to four operations at a time", run: sendBodies },
  { name: "sign-ins from 16 networks at a time", run: floodSignIn },
];
