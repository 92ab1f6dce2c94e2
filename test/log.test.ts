import { describe, expect, test } from "vitest";
import { described } from "../src/log.ts";

describe("an error in the process log", () => {
  test("has its name, text, stack and code, and those of what is behind it", () => {
    const thrown = new TypeError("outer", { cause: Object.assign(new Error("inner"), { code: "57P01" }) });
    expect(described(thrown, 5)).toEqual({
      ...{ type: "TypeError", message: "outer", stack: expect.stringContaining("outer") },
      cause: { type: "Error", message: "inner", stack: expect.any(String), code: "57P01" },
    });
  });

  test("has nothing of what else hangs on it", () => {
    const thrown = Object.assign(new Error("cut"), { client: { password: "quite secret" }, detail: "Key (email)=(ann@example.com)" });
    expect(JSON.stringify(described(thrown, 5))).not.toMatch(/secret|ann@/);
  });

  test("ends somewhere, also where it is its own cause", () => {
    const thrown = new Error("round");
    thrown.cause = thrown;
    expect(JSON.stringify(described(thrown, 3)).match(/"message":"round"/g)).toHaveLength(4);
  });

  test("tells of several that came together", () => {
    const thrown = new AggregateError([new Error("first"), new Error("second")]);
    expect(described(thrown, 5)).toMatchObject({ errors: [{ message: "first" }, { message: "second" }] });
  });

  test("may be anything", () => {
    for (const thrown of ["text", null, undefined, 7]) expect(described(thrown, 5)).toBe(thrown);
  });
});
