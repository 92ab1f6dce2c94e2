import { setImmediate as tick } from "node:timers/promises";
import { expect, test } from "vitest";
import { type HashTurn, hashQueue } from "../../src/core/sign-in/hash-queue.ts";
import { passwordTurns } from "../../src/core/sign-in/password.ts";
import { wideNetwork } from "../../src/pipeline/limit.ts";
import { goodPassword, openSignInPlatform } from "./people-rig.ts";

/** A queue whose hashes end when the test says so, and the names of those that have begun. */
function heldQueue() {
  const queue = hashQueue();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  return {
    begun,
    refused,
    ask(name: string, turn: HashTurn) {
      const work = () => {
        begun.push(name);
        return new Promise<void>((resolve) => void ends.push(resolve));
      };
      queue(turn, work).catch(() => void refused.push(name));
    },
    /** Ends the hash that began first. */
    async end() {
      ends.shift()?.();
      await tick();
    },
  };
}

/** As many attempts as can wait from each of 16 networks. */
function attack(ask: ReturnType<typeof heldQueue>["ask"]): void {
  for (let nth = 0; nth < 21; nth += 1)
    for (let network = 0; network < 16; network += 1)
      ask(`attack ${network}`, { network: `10.0.${network}` });
}

test("a browser that the account knows has its turn at once while 16 networks attack", async () => {
  const { ask, begun } = heldQueue();
  attack(ask);
  await tick();
  expect(begun).toEqual(["attack 0"]);
  ask("known", { account: "ann" });
  await tick();
  expect(begun).toEqual(["attack 0", "known"]);
});

test("another network has its turn after one of each attacker, and one network cannot fill the queue", async () => {
  const { ask, begun, refused, end } = heldQueue();
  attack(ask);
  ask("honest", { network: "192.0.2" });
  await tick();
  expect(refused).not.toContain("honest");
  // The first attacker began before all others waited, so it is in line a second time.
  for (let turns = 0; turns < 17; turns += 1) await end();
  expect(begun).toContain("honest");
  expect(begun.filter((name) => name === "attack 3")).toHaveLength(1);
});

test("at most 20 of one network or account wait, and accounts do not take each other's turns", async () => {
  const { ask, begun, refused, end } = heldQueue();
  for (let nth = 0; nth < 30; nth += 1) ask("mallory", { account: "mallory" });
  await tick();
  expect([begun.length, refused.length]).toEqual([2, 8]);
  ask("ann", { account: "ann" });
  await end();
  await end();
  expect(begun.slice(2)).toContain("ann");
});

test.each([
  ["192.0.2.77", "192.0.2"],
  ["::ffff:192.0.2.77", "192.0.2"],
  ["2001:db8:7:1::5", "2001:db8:7"],
  ["2001:db8::5", "2001:db8:0"],
])("%s belongs to the network %s", (address, network) => {
  expect(wideNetwork(address)).toBe(network);
});

test("at the page of sign-in the addresses of a /24 or /48 share their turns, and another network and a known browser do not", async () => {
  await using platform = await openSignInPlatform("sqlite", { TRUST_PROXY: "x-forwarded-for" });
  const email = "known@example.com";
  await platform.member({ email });
  const known = platform.browser();
  await platform.signIn(known, email);
  const signIn = async (from: string, by = platform.browser()) => {
    const headers = { "x-forwarded-for": from };
    return (
      await by.submit(
        await by.get("/sign-in", headers),
        "/sign-in",
        { email, password: goodPassword },
        headers,
      )
    ).status;
  };
  const held = Promise.withResolvers<void>();
  const turns = ["198.18.7", "2001:db8:7"].flatMap((network) =>
    Array.from({ length: network.includes(":") ? 20 : 21 }, () =>
      passwordTurns({ network }, () => held.promise),
    ),
  );
  try {
    for (const from of ["198.18.7.1", "198.18.7.254", "2001:db8:7:1::1", "2001:db8:7:ffff::1"])
      expect(await signIn(from), from).toBe(503);
    expect(await signIn("198.18.7.1", known)).toBe(303);
    const others = Promise.all([signIn("198.18.8.1"), signIn("2001:db8:8::1")]);
    held.resolve();
    expect(await others).toEqual([303, 303]);
  } finally {
    held.resolve();
    await Promise.all(turns);
  }
});
