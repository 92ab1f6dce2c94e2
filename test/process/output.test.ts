import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { patientOutput } from "../../src/start/process/output.ts";
import { ownEnvironment, root } from "../support/server-process.ts";

const folder = mkdtempSync(join(tmpdir(), "output-"));
const path = join(folder, "pipe");
beforeAll(() => execFileSync("mkfifo", [path]));
afterAll(() => rmSync(folder, { recursive: true }));

/** A pipe of which the test reads what it wants. */
function openPipe() {
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const output = patientOutput(openSync(path, O_WRONLY | O_NONBLOCK));
  const buffer = Buffer.alloc(1024 * 1024);
  let got = "";
  /** Everything so far. */
  const read = () => {
    try {
      got += buffer.toString("utf8", 0, readSync(reader, buffer));
    } catch {
      // Nothing has come.
    }
    return got;
  };
  return { output, read, leave: () => closeSync(reader) };
}

const line = (index: number) => `${String(index).padStart(9, "0")}\n`;

test("text that a reader has no room for waits, keeps its order, and arrives when there is room", async () => {
  const { output, read, leave } = openPipe();
  const lines = Array.from({ length: 50_000 }, (_, index) => line(index));
  for (const each of lines) output.write(each);
  await expect.poll(() => read().length, { interval: 1 }).toBe(lines.join("").length);
  expect(read()).toBe(lines.join(""));
  leave();
});

test("beyond 1 MiB text is dropped, and a line has the number", async () => {
  const { output, read, leave } = openPipe();
  const part = `${"x".repeat(99_999)}\n`;
  for (let count = 0; count < 20; count += 1) output.write(part);
  await expect.poll(read, { interval: 1 }).toMatch(/"dropped":\d+/);
  const [, dropped] = /"dropped":(\d+)/.exec(read()) ?? [];
  expect(read().match(/x\n/g)).toHaveLength(20 - Number(dropped));
  leave();
});

test("a write without a reader throws nothing", () => {
  const { output, leave } = openPipe();
  leave();
  for (let count = 0; count < 3; count += 1) output.write("lost\n");
});

test("the log of a process whose terminal is closed, or full, neither ends nor blocks it", async () => {
  const program = `
    import { processLog } from "./src/observability/log.ts";
    import { writeFileSync } from "node:fs";
    process.on("SIGHUP", () => undefined);
    const log = processLog("info");
    const fill = (count) => { for (let i = 0; i < count; i += 1) log("info", "x".repeat(1000)); };
    fill(500);
    writeFileSync(process.env.DONE, "full");
    process.once("SIGUSR2", () => { fill(3); setTimeout(() => { fill(3); writeFileSync(process.env.DONE, "closed"); process.exit(0); }, 50); });
    setInterval(() => undefined, 1000);
  `;
  const done = join(folder, "done");
  const env = { ...ownEnvironment(), DONE: done };
  const words = ["-qefc", `exec ${process.execPath} --input-type=module -e '${program}'`, "/dev/null"];
  // Its output is not read: the terminal becomes full.
  const terminal = spawn("script", words, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
  const said = () => {
    try {
      return readFileSync(done, "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(said, { timeout: 60_000 }).toBe("full");
  const pid = Number(readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, "utf8"));
  terminal.kill("SIGKILL");
  terminal.stdout.destroy();
  await once(terminal, "close");
  process.kill(pid, "SIGUSR2");
  await expect.poll(said, { timeout: 10_000 }).toBe("closed");
});
