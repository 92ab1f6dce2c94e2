import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { holdFolder } from "../../src/store/folder.ts";

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "test-folder-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A process that holds the folder, until it is killed as hard as can be. */
async function holder(folder: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "processes", "hold.ts"), folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  await once(child.stdout, "data");
  const kill = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  return { kill, [Symbol.asyncDispose]: kill };
}

test("a second server on one folder is refused, and told which", async () => {
  await using folder = await temporaryFolder();
  const held = await holdFolder(folder.path);
  const refusal = await holdFolder(folder.path).catch((thrown: unknown) => thrown);
  expect(refusal).toMatchObject({ reason: "precondition", message: expect.stringContaining(folder.path) });
  await held.release();
  await (await holdFolder(folder.path)).release();
});

test("a folder is made, and two folders are two", async () => {
  await using folder = await temporaryFolder();
  const one = await holdFolder(join(folder.path, "a", "b"));
  const other = await holdFolder(join(folder.path, "a", "c"));
  await one.release();
  await other.release();
});

test("another process's hold is seen, and ends with the process however it dies", async () => {
  await using folder = await temporaryFolder();
  await using other = await holder(folder.path);
  await expect(holdFolder(folder.path)).rejects.toMatchObject({ reason: "precondition" });
  await other.kill();
  await (await holdFolder(folder.path)).release();
});
