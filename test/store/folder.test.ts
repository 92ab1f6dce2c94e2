import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockFolder, makeFolder, tightenFiles } from "../../src/store/folder.ts";

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "test-folder-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Starts a process that holds the folder, until it is killed with SIGKILL. */
async function startHolder(folder: string) {
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

test("a second server on one folder is refused with an error that names the folder", async () => {
  await using folder = await temporaryFolder();
  const held = await lockFolder(folder.path);
  const refusal = await lockFolder(folder.path).catch((thrown: unknown) => thrown);
  expect(refusal).toMatchObject({
    reason: "failed_precondition",
    message: expect.stringContaining(folder.path),
  });
  await held.release();
  await (await lockFolder(folder.path)).release();
});

test("a folder is created, and two folders have separate locks", async () => {
  await using folder = await temporaryFolder();
  const one = await lockFolder(join(folder.path, "a", "b"));
  const other = await lockFolder(join(folder.path, "a", "c"));
  await one.release();
  await other.release();
});

test("another process's lock is detected, and ends with the process however it ends", async () => {
  await using folder = await temporaryFolder();
  await using other = await startHolder(folder.path);
  await expect(lockFolder(folder.path)).rejects.toMatchObject({ reason: "failed_precondition" });
  await other.kill();
  await (await lockFolder(folder.path)).release();
});

describe("a data folder", () => {
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  test("is created with its parents, only this user can enter it, and it stays empty", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a", "b");
    makeFolder(path, "DATA_DIR");
    expect([await modeOf(join(folder.path, "a")), await modeOf(path)]).toEqual([0o700, 0o700]);
    expect(await readdir(path)).toEqual([]);
  });

  test("that cannot be created or written is reported in one sentence with the setting and the cause", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    await writeFile(file, "");
    for (const [path, cause] of [
      [file, "ENOTDIR"],
      [join(file, "below"), "ENOTDIR"],
      // Node's own recursive mkdir never returns here.
      ["/proc/x/y", "ENOENT"],
      [join(folder.path, "x".repeat(300)), "ENAMETOOLONG"],
    ] as const) {
      expect(() => makeFolder(path, "DATA_DIR")).toThrow(
        new RegExp(`^DATA_DIR: the folder ${path} cannot be written: ${cause}: [^\n]+$`),
      );
    }
  });

  test("that other users can enter is reported, and our files in it are closed to them", async () => {
    await using folder = await temporaryFolder();
    const [database, files, missing] = ["platform.db", "files", "first-key"].map((name) =>
      join(folder.path, name),
    ) as [string, string, string];
    await writeFile(database, "");
    await mkdir(files);
    for (const [path, mode] of [
      [database, 0o644],
      [files, 0o755],
      [folder.path, 0o755],
    ] as const)
      await chmod(path, mode);
    expect(tightenFiles(folder.path, [database, files, missing])).toBe(
      `other users of this machine can enter the data folder ${folder.path} (mode 0755), which should have mode 0700; closed to other users: ${database}, ${files}`,
    );
    expect([await modeOf(database), await modeOf(files), await modeOf(folder.path)]).toEqual([
      0o600, 0o700, 0o755,
    ]);
    await chmod(folder.path, 0o700);
    expect(tightenFiles(folder.path, [database, files, missing])).toBeNull();
    await chmod(database, 0o640);
    expect(tightenFiles(folder.path, [database, files, missing])).toBe(`closed to other users: ${database}`);
  });
});
