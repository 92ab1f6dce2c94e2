import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { holdFolder, makeFolder, tightenFiles } from "../../src/store/folder.ts";

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

describe("a data folder", () => {
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  test("is made with those above it, for this user alone, and nothing is left in it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a", "b");
    makeFolder(path, "DATA_DIR");
    expect([await modeOf(join(folder.path, "a")), await modeOf(path)]).toEqual([0o700, 0o700]);
    expect(await readdir(path)).toEqual([]);
  });

  test("that cannot be made or written is reported in one sentence with the setting and the cause", async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "file");
    await writeFile(file, "");
    for (const [path, cause] of [
      [file, "ENOTDIR"],
      [join(file, "below"), "ENOTDIR"],
      // Node's own recursive mkdir never ends here.
      ["/proc/x/y", "ENOENT"],
      [join(folder.path, "x".repeat(300)), "ENAMETOOLONG"],
    ] as const) {
      expect(() => makeFolder(path, "DATA_DIR")).toThrow(new RegExp(`^DATA_DIR: the folder ${path} cannot be written: ${cause}: [^\n]+$`));
    }
  });

  test("that others can enter is reported, and our files in it are closed to them", async () => {
    await using folder = await temporaryFolder();
    const [database, files, missing] = ["platform.db", "files", "first-key"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
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
    expect([await modeOf(database), await modeOf(files), await modeOf(folder.path)]).toEqual([0o600, 0o700, 0o755]);
    await chmod(folder.path, 0o700);
    expect(tightenFiles(folder.path, [database, files, missing])).toBeNull();
    await chmod(database, 0o640);
    expect(tightenFiles(folder.path, [database, files, missing])).toBe(`closed to other users: ${database}`);
  });
});
