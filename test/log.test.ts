import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Failure } from "../src/core/failure.ts";
import { runInSpan, untraced } from "../src/core/trace.ts";
import { describeError, type LogPaths, processLog } from "../src/observability/log.ts";

describe("an error in the process log", () => {
  test("has its name, text, stack and code, and those of its cause", () => {
    const thrown = new TypeError("outer", { cause: Object.assign(new Error("inner"), { code: "57P01" }) });
    expect(describeError(thrown, 5)).toEqual({
      ...{ type: "TypeError", message: "outer", stack: expect.stringContaining("outer") },
      cause: { type: "Error", message: "inner", stack: expect.any(String), code: "57P01" },
    });
  });

  test("has none of its other properties", () => {
    const thrown = Object.assign(new Error("cut"), {
      client: { password: "quite secret" },
      detail: "Key (email)=(ann@example.com)",
    });
    expect(JSON.stringify(describeError(thrown, 5))).not.toMatch(/secret|ann@/);
  });

  test("is cut off at a depth, also when it is its own cause", () => {
    const thrown = new Error("round");
    thrown.cause = thrown;
    expect(JSON.stringify(describeError(thrown, 3)).match(/"message":"round"/g)).toHaveLength(4);
  });

  test("lists the errors of an aggregate", () => {
    const thrown = new AggregateError([new Error("first"), new Error("second")]);
    expect(describeError(thrown, 5)).toMatchObject({ errors: [{ message: "first" }, { message: "second" }] });
  });

  test("may be any value", () => {
    for (const thrown of ["text", null, undefined, 7]) expect(describeError(thrown, 5)).toBe(thrown);
  });
});

/** A log whose lines a test reads. */
function logged(places?: LogPaths) {
  const lines: { readonly msg: string; readonly [field: string]: unknown }[] = [];
  return {
    log: processLog("info", places, { write: (line) => void lines.push(JSON.parse(line)) }),
    lines,
    texts: () => lines.map(({ msg }) => msg),
  };
}

const driverError = (code: string, message: string) => Object.assign(new Error(message), { code });
const away = (cause: Error) =>
  new Failure("unavailable", "the database is not available, try again", { cause });

describe("a line with a cause", () => {
  test.each([
    ["SQLITE_FULL", "database or disk is full", "SQLITE_FULL: database or disk is full (/srv/x/platform.db)"],
    ["ENOSPC", "ENOSPC: no space left on device, write", "ENOSPC: no space left on device, write (/srv/x)"],
    [
      "ENOSPC",
      "ENOSPC: no space left on device, open '/srv/x/files/a'",
      "ENOSPC: no space left on device, open '/srv/x/files/a'",
    ],
    ["57P03", "the database system is starting up", "57P03: the database system is starting up"],
  ])("has the innermost cause in its text: %s, %s", (code, message, head) => {
    const { log, lines } = logged({ database: "/srv/x/platform.db", folder: "/srv/x" });
    log("error", "taking jobs failed", { kind: "run", cause: away(driverError(code, message)) });
    expect(lines).toMatchObject([
      {
        msg: `taking jobs failed: ${head}`,
        kind: "run",
        cause: { message: expect.stringContaining("not available") },
      },
    ]);
  });
});

test("a line within a trace has its id, and goes to a second destination with the same level, without driver errors' members", () => {
  const lines: { readonly msg: string; readonly traceId?: string }[] = [];
  const also: unknown[] = [];
  const log = processLog(
    "info",
    {},
    { write: (line) => void lines.push(JSON.parse(line)) },
    (...line) => void also.push(line),
  );
  const trace = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    isSampled: true,
    isTrusted: true,
  };
  const span = untraced.begin({ name: "call" }, trace);
  runInSpan(span, () => log("info", "inside"));
  log("info", "outside");
  log("debug", "too detailed");
  log("error", "failed", {
    cause: Object.assign(new Error("cut"), { client: { password: "quite secret" } }),
  });
  expect(lines.map(({ msg, traceId }) => [msg, traceId])).toEqual([
    ["inside", trace.traceId],
    ["outside", undefined],
    ["failed: cut", undefined],
  ]);
  expect(also).toEqual([
    ["info", "inside", {}],
    ["info", "outside", {}],
    ["error", "failed: cut", { cause: expect.objectContaining({ message: "cut" }) }],
  ]);
  expect(JSON.stringify([lines, also])).not.toContain("quite secret");
});

describe("a line that is repeated", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const refused = () => driverError("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432");

  test("is written once, and then counted every minute without its stack, and its end is written", () => {
    const { log, lines, texts } = logged();
    for (let half = 0; half < 50; half += 1) {
      log("error", "taking jobs failed", { kind: "run", cause: refused() });
      vi.advanceTimersByTime(500);
    }
    vi.advanceTimersByTime(120_000);
    expect(texts()).toEqual([
      "taking jobs failed: connect ECONNREFUSED 127.0.0.1:5432",
      "taking jobs failed: connect ECONNREFUSED 127.0.0.1:5432 (repeated 49 times in the last 60 s)",
      "over: taking jobs failed: connect ECONNREFUSED 127.0.0.1:5432 (50 times in 120 s)",
    ]);
    expect(lines[1]).toMatchObject({ kind: "run" });
    expect(lines[1]).not.toHaveProperty("cause");
  });

  test("is written in full again when it was not repeated for a minute", () => {
    const { log, texts } = logged();
    for (let minute = 0; minute < 3; minute += 1) {
      log("warn", "a connector failed", { connectorId: "c" });
      vi.advanceTimersByTime(60_000);
    }
    expect(texts()).toEqual(["a connector failed", "a connector failed", "a connector failed"]);
  });

  test("is the same line when level, text, fields and root cause are equal; info is always written", () => {
    const { log, texts } = logged();
    log("error", "failed", { kind: "run" });
    log("warn", "failed", { kind: "run" });
    log("error", "failed", { kind: "deliver" });
    log("error", "failed", { kind: "run", cause: refused() });
    for (let i = 0; i < 2; i += 1) log("info", "ready");
    expect(texts()).toEqual([
      "failed",
      "failed",
      "failed",
      "failed: connect ECONNREFUSED 127.0.0.1:5432",
      "ready",
      "ready",
    ]);
  });

  test("is no longer counted after 200 newer lines, and its count is written", () => {
    const { log, texts } = logged();
    for (let i = 0; i < 2; i += 1) log("error", "oldest");
    for (let i = 0; i < 200; i += 1) log("error", "other", { i });
    expect(texts().filter((text) => text !== "other")).toEqual([
      "oldest",
      "oldest (repeated once in the last 0 s)",
    ]);
    log("error", "oldest");
    expect(texts().at(-1)).toBe("oldest");
  });
});
