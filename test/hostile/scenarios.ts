import { setTimeout as delay } from "node:timers/promises";
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

const at = (sorted: readonly number[], part: number): string =>
  (sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN).toFixed(0);
const ascending = (samples: readonly Sample[], time: (sample: Sample) => number) =>
  samples.map(time).toSorted((a, b) => a - b);

const bodiesMs = 25_000;
const costly =
  /^(99,000 names of 300 bytes|11 million empty objects in message.content|2 million different names), /;

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
  const [seen, own] = [
    ascending(samples, ({ server }) => server),
    ascending(samples, (sample) => excessOf(sample, idle)),
  ];
  const wrong = answers.filter((answer) => !/^(?:413|429|503|200 8|200 resource_exhausted)/.test(answer));
  const measured = `${answers.length} bodies, ${wrong.length > 0 ? `wrong: ${wrong[0]}` : "all refused"}; /livez p50 ${at(seen, 0.5)} ms, p99 ${at(seen, 0.99)} ms, longest ${at(seen, 1)} ms, of it by the server ${at(own, 1)} ms`;
  return { measured, isRight: platform.isAlive() && wrong.length === 0 };
}

const networks = 16;
/** As many attempts as the limit of one address allows. */
const attemptMs = 2_000;
const floodMs = 20_000;
const email = "known@example.com";
const password = "correct horse battery staple";

/**
 * Sign-ins with wrong passwords from 16 networks, twice as many as the server can check, while a person signs
 * in again in a known browser.
 */
async function floodSignIn(): ReturnType<Scenario["run"]> {
  await using server = await startServer({ RATE_LIMITS: "default", TRUST_PROXY: "x-forwarded-for" });
  await addPasswords(server.dataDir, [{ email, stored: await hashPassword(password, { account: "" }) }]);
  const browser = openBrowser(server.url);
  const signIn = async (from: string, by = openBrowser(server.url), typed = { email, password }) => {
    const headers = { "x-forwarded-for": from };
    return (await by.submit(await by.get("/sign-in", headers), "/sign-in", typed, headers)).status;
  };
  const answers: number[] = [];
  const again = async () => {
    const begun = performance.now();
    answers.push(await signIn("192.0.2.1", browser));
    return performance.now() - begun;
  };
  await again();
  const alone = [await again(), await again(), await again()];
  const attempts: Promise<number>[] = [];
  const attempt = (from: string, name: string) =>
    attempts.push(signIn(from, undefined, { email: `${name}@example.com`, password }));
  const attack = async (network: number) => {
    for (let nth = 0; nth < floodMs / attemptMs; nth += 1, await delay(attemptMs))
      attempt(`198.18.${network}.1`, `${network}-${nth}`);
  };
  // Of one network 20 wait, from any of its addresses.
  for (let nth = 1; nth <= 80; nth += 1) attempt(`198.19.0.${nth}`, `${nth}`);
  const attacks = Promise.all(Array.from({ length: networks }, (_, network) => attack(network)));
  const times: number[] = [];
  for (let nth = 0; nth < 5; nth += 1, await delay(attemptMs)) times.push(await again());
  await attacks;
  const statuses = await Promise.all(attempts);
  const [before, during] = [alone, times].map((some) => some.toSorted((a, b) => a - b)) as [
    number[],
    number[],
  ]; // Two lists.
  const refusedOnes = statuses.filter((status) => status === 503).length;
  const measured = `${statuses.length} attempts, ${refusedOnes} refused; a known browser signs in after p50 ${at(during, 0.5)} ms, at most ${at(during, 1)} ms, and alone after ${at(before, 0.5)} ms`;
  return { measured, isRight: answers.every((status) => status === 303) && refusedOnes > 0 };
}

export const scenarios: readonly Scenario[] = [
  { name: "large bodies of one guest to four operations at a time", run: sendBodies },
  { name: "sign-ins from 16 networks at a time", run: floodSignIn },
];
