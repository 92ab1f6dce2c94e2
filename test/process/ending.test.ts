import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownEnvironment } from "../support/server-process.ts";

/** A limit that no test reaches. */
const farMs = 3_600_000;

/** A program that ends in one of the ways of `program.ts`. */
function start(way: string, limitMs: number, pipe?: string) {
  const words = [
    join(import.meta.dirname, "program.ts"),
    way,
    `${limitMs}`,
    ...(pipe === undefined ? [] : [pipe]),
  ];
  const child = spawn(process.execPath, words, { env: ownEnvironment() });
  let [out, err] = ["", ""];
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, err }));
  /** Resolves once the program has written this word. */
  const says = (word: string) =>
    new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        out += chunk;
        if (out.includes(word)) resolve();
      });
      void ended.then(() => reject(new Error(err)));
    });
  return { child, says, ended };
}

test.each([
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
] as const)("%s asks for the end, also if it arrives three times at once", async (signal) => {
  const { child, says, ended } = start("prompt", farMs);
  await says("ready");
  for (let count = 0; count < 3; count += 1) child.kill(signal);
  expect(await ended).toEqual({ code: 0, signal: null, err: "" });
});

test.each([
  ["SIGHUP", "SIGINT"],
  ["SIGINT", "SIGTERM"],
  ["SIGTERM", "SIGHUP"],
] as const)("a second signal ends the process with code 1: %s, then %s", async (first, second) => {
  const { child, says, ended } = start("waits", farMs);
  await says("ready");
  child.kill(first);
  await says("asked");
  child.kill(second);
  expect(await ended).toEqual({ code: 1, signal: null, err: "" });
});

test("a second signal ends a process whose other thread is in a native call", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "ending-"));
  const pipe = join(folder.path, "pipe");
  execFileSync("mkfifo", [pipe]);
  const { child, says, ended } = start("waits", farMs, pipe);
  await says("ready");
  // Opens once the thread is in its call, which then waits for the end of the pipe.
  await using _writer = await open(pipe, "w");
  child.kill("SIGTERM");
  await says("asked");
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: null, signal: "SIGKILL" });
});

test.each([
  "waits",
  "blocks",
])("a process whose end %s is killed at the limit, and the log says what was open", async (way) => {
  const { child, says, ended } = start(way, 300);
  await says("ready");
  child.kill("SIGTERM");
  const { signal, err } = await ended;
  expect(signal).toBe("SIGKILL");
  expect(JSON.parse(err)).toMatchObject({
    level: 50,
    open: ["calls"],
    msg: expect.stringContaining("open: calls"),
  });
});
