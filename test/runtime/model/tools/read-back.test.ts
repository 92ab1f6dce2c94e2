import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Workspace } from "../../../../src/core/workspaces/workspace.ts";
import { openPath, readFolder } from "../../../../src/runtime/agents/model/tools/sandbox/folder.ts";
import { commandSandbox } from "../../../../src/runtime/agents/model/tools/sandbox/sandbox.ts";
import type { LogLine } from "../../../support/service.ts";

const unremovable = vi.hoisted(() => ({ paths: [] as string[] }));
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof import("node:fs/promises")>()),
  // As `rm` fails when a folder is replaced while it is removed.
  rm: async (path: string) => {
    unremovable.paths.push(path);
    throw Object.assign(new Error("EISDIR"), { code: "EISDIR" });
  },
}));

const outer = realpathSync(mkdtempSync(join(tmpdir(), "read-back-")));
const [folder, host] = [join(outer, "workspace"), join(outer, "host")];
for (const made of [folder, host, join(folder, "real")]) mkdirSync(made);
writeFileSync(join(host, "secret"), "of the host");
writeFileSync(join(folder, "real", "own"), "of the folder");
symlinkSync(host, join(folder, "swapped"));
symlinkSync(join(host, "secret"), join(folder, "link"));
vi.stubEnv("TMPDIR", outer);
afterAll(() => rmSync(outer, { recursive: true }));

const exchanged = { reason: "invalid_argument", message: "it was replaced while it was read" };

const { platform } = process;
describe.each(["linux", "darwin"])("on %s", (system) => {
  // Without /proc another method is used, which must be safe here too.
  beforeAll(() => void Object.defineProperty(process, "platform", { value: system }));
  afterAll(() => void Object.defineProperty(process, "platform", { value: platform }));

  test("a file of the folder is opened", async () => {
    await using handle = await openPath(join(folder, "real", "own"), 0);
    expect(await handle.readFile("utf8")).toBe("of the folder");
  });

  test("a file below a folder that has become a link is not read, for any target", async () => {
    await expect(openPath(join(folder, "swapped", "secret"), 0)).rejects.toMatchObject(exchanged);
    await expect(openPath(join(folder, "link"), 0)).rejects.toMatchObject({ code: "ELOOP" });
  });

  test("a folder that has become a link, or is below one, is not listed", async () => {
    mkdirSync(join(host, "inner"), { recursive: true });
    await expect(readFolder(join(folder, "swapped", "inner"))).rejects.toMatchObject(exchanged);
    await expect(readFolder(join(folder, "swapped"))).rejects.toMatchObject({ code: expect.stringMatching(/^(ELOOP|ENOTDIR)$/) });
    expect((await readFolder(join(folder, "real"))).map(({ name }) => name)).toEqual(["own"]);
  });
});

test("a folder that cannot be removed does not fail the run, and the log names it", async () => {
  const logged: Pick<LogLine, "level" | "fields">[] = [];
  const written: string[] = [];
  const workspace: Pick<Workspace, "list" | "remove" | "write"> = {
    list: async () => [],
    remove: async () => true,
    async write(path) {
      written.push(path);
      return { path, bytes: 0, sha256: "", updatedAt: 0 };
    },
  };
  const run = commandSandbox(
    { command: ["/bin/sh", "-c"], user: null },
    (level, _text, fields = {}) => void logged.push({ level, fields }),
  );
  const using = { workspace: workspace as Workspace, seconds: 60, signal: new AbortController().signal };
  expect(await run("printf x >made", using)).toMatchObject({ exit_code: 0, changed: ["made"] });
  expect(written).toEqual(["made"]);
  expect(logged).toEqual([{ level: "warn", fields: { folder: unremovable.paths[0], code: "EISDIR" } }]);
  expect(readdirSync(outer)).toHaveLength(3);
});
