import { describe, expect, test } from "vitest";
import { Budget, connectionGuard } from "../../src/http/budget.ts";

describe("a budget", () => {
  test("gives each holder up to its limit, and all together up to the shared limit", () => {
    const budget = new Budget({ total: 10, perHolder: 4 });
    expect([budget.take("a", 4), budget.take("a", 1)]).toEqual([true, false]);
    expect([budget.take("b", 4), budget.take("c", 3), budget.take("c", 2)]).toEqual([true, false, true]);
    expect(budget.held).toBe(10);
  });

  test("reserves nothing when it refuses, and reuses what was released", () => {
    const budget = new Budget({ total: 10, perHolder: 4 });
    budget.take("a", 3);
    expect(budget.take("a", 2)).toBe(false);
    expect(budget.held).toBe(3);
    budget.release("a", 2);
    expect([budget.take("a", 3), budget.held]).toEqual([true, 4]);
  });

  test("remembers only holders that hold something", () => {
    const budget = new Budget({ total: 10, perHolder: 4 });
    for (const holder of ["a", "b", "c"]) {
      budget.take(holder, 1);
      budget.release(holder, 1);
    }
    expect([budget.holders, budget.held]).toEqual([0, 0]);
  });
});

describe("connections of one address", () => {
  test("are refused beyond the limit, until one of them has ended", () => {
    const enter = connectionGuard(2);
    const [first, second] = [enter("192.0.2.1"), enter("192.0.2.1")];
    expect([first, second].map((leave) => leave !== null)).toEqual([true, true]);
    expect(enter("192.0.2.1")).toBeNull();
    expect(enter("192.0.2.2")).not.toBeNull();
    first?.();
    expect(enter("192.0.2.1")).not.toBeNull();
  });

  test("count together for a /64 of IPv6", () => {
    const enter = connectionGuard(1);
    expect(enter("2001:db8:1:2::1")).not.toBeNull();
    expect(enter("2001:db8:1:2:ffff::9")).toBeNull();
    expect(enter("2001:db8:1:3::1")).not.toBeNull();
  });

  test.each([
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "::ffff:127.0.0.1",
  ])("are not limited for this machine: %s", (address) => {
    const enter = connectionGuard(1);
    expect([enter(address), enter(address), enter(address)]).not.toContain(null);
  });

  test("are not limited when no limit is set", () => {
    const enter = connectionGuard(null);
    expect([enter("192.0.2.1"), enter("192.0.2.1")]).not.toContain(null);
  });

  test("whose address is no longer known count together", () => {
    const enter = connectionGuard(1);
    expect([enter(""), enter("")].map((leave) => leave !== null)).toEqual([true, false]);
  });
});
