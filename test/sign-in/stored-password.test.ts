import { describe, expect } from "vitest";
import { hashPassword, isOutdated, verifyPassword } from "../../src/core/sign-in/password.ts";
import { sample, share } from "../support/depth.ts";
import { sampledTest } from "../support/sampled.ts";
import { goodPassword } from "./people-rig.ts";

const test = sampledTest(3);
const turn = { account: "ann" };

describe("a stored password", () => {
  test("is scrypt with its parameters and its own salt, and never the text", async () => {
    const [one, other] = await Promise.all([
      hashPassword(goodPassword, turn),
      hashPassword(goodPassword, turn),
    ]);
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(other).not.toBe(one);
    expect(await verifyPassword(goodPassword, one, turn)).toBe(true);
    expect(await verifyPassword(`${goodPassword} `, one, turn)).toBe(false);
  });

  test("is the same for every composition of the characters (NFKC)", async () => {
    const stored = await hashPassword("caf\u00e9 in the morning", turn);
    expect(await verifyPassword("cafe\u0301 in the morning", stored, turn)).toBe(true);
  });

  test("counts as outdated when its parameters are cheaper, and is checked with these parameters", async () => {
    const cheap = "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$";
    expect(isOutdated(`${cheap}${"A".repeat(43)}`)).toBe(true);
    expect(isOutdated(await hashPassword(goodPassword, turn))).toBe(false);
  });

  test("that is missing or unreadable matches no password", async () => {
    const none = share([null, "", "plain", "$scrypt$ln=15,r=8,p=3$x$y"], 1, 2);
    for (const stored of none) expect(await verifyPassword("", stored, turn)).toBe(false);
  });

  test("is checked in parallel with other work: many at once leave the event loop and the memory free", async () => {
    const many = sample(24, 10);
    let turns = 0;
    const before = process.memoryUsage().rss;
    let most = before;
    const timer = setInterval(() => {
      turns += 1;
      most = Math.max(most, process.memoryUsage().rss);
    }, 5);
    await Promise.all(
      Array.from({ length: many }, (_, nth) => verifyPassword("x", null, { account: String(nth) })),
    );
    clearInterval(timer);
    expect(turns).toBeGreaterThan((100 * many) / 24);
    // Two at a time take 64 MB; all of them would take 32 MB each.
    expect(most - before).toBeLessThan((400 * 2 ** 20 * many) / 24);
  });

  test("is refused under a flood of attempts, instead of queued without limit", async () => {
    const cheap = `$scrypt$ln=4,r=8,p=1$${"A".repeat(22)}$${"A".repeat(43)}`;
    const all = await Promise.allSettled(
      Array.from({ length: 230 }, () => verifyPassword("x", cheap, { network: "192.0.2" })),
    );
    const refused = all.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(230 - 21);
    for (const each of refused) expect(each).toMatchObject({ reason: { reason: "unavailable" } });
    expect(await verifyPassword("x", null, { network: "192.0.2" })).toBe(false);
  });
});
