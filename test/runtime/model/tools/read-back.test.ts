import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Workspace } from "../../../../src/core/workspaces/workspace.ts";
import { copyBack, openPath, readFolder } from "../../../../src/runtime/agents/model/tools/sandbox/folder.ts";
import { commandSandbox } from "../../../../src/runtime/agents/model/tools/sandbox/sandbox.ts";
import type { LogLine } from "../../../support/service.ts";

const unremovable = vi.hoisted(() => ({ paths: [] as string[] }));
/** Runs around each `open`: where another process can act. */
const around = vi.hoisted(() => ({ open: (_moment: "before" | "after", _path: string): void => undefined }));
vi.mock("node:fs/promises", async (original) => ({
  ...(await original<typeof import("node:fs/promises")>()),
  async open(path: string, ...rest: []) {
    around.open("before", path);
    const { open } = await original<typeof import("node:fs/promises")>();
    return open(path, ...rest).finally(() => around.open("after", path));
  },
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
    await expect(readFolder(join(folder, "swapped"))).rejects.toMatchObject({
      code: expect.stringMatching(/^(ELOOP|ENOTDIR)$/),
    });
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

/**
 * The read-back of `top/a/b/file`, with `top/a` a link to the same names on the host between two moments,
 * counted over all opened paths.
 */
async function copyWhileSwapped(from: number, to: number) {
  const top = mkdtempSync(join(outer, "swap-"));
  const [real, elsewhere, aside] = [join(top, "a"), join(host, "a"), join(outer, "aside")];
  for (const [place, said] of [
    [real, "of the folder"],
    [elsewhere, "of the host"],
  ] as const) {
    mkdirSync(join(place, "b"), { recursive: true });
    writeFileSync(join(place, "b", "file"), said);
  }
  let moment = 0;
  around.open = () => {
    if (moment === from) {
      renameSync(real, aside);
      symlinkSync(elsewhere, real);
    }
    if (moment === to) {
      rmSync(real);
      renameSync(aside, real);
    }
    moment += 1;
  };
  const copied: string[] = [];
  const workspace = {
    remove: async () => true,
    async write(_path: string, content: Parameters<typeof text>[0]) {
      copied.push(await text(content));
    },
  };
  await copyBack(workspace as unknown as Workspace, top, new Map()).finally(() => {
    around.open = () => undefined;
    rmSync(aside, { recursive: true, force: true });
    rmSync(top, { recursive: true, force: true });
  });
  return { copied, moments: moment };
}

test("a folder that is a link between any two moments of the read-back gives no byte of another folder", async () => {
  const { copied, moments } = await copyWhileSwapped(-1, -1);
  // The three folders and the file, each before and after it is opened.
  expect({ copied, moments }).toEqual({ copied: ["of the folder"], moments: 8 });
  for (let from = 0; from < moments; from += 1)
    for (let to = from + 1; to <= moments; to += 1) {
      const { copied: found } = await copyWhileSwapped(from, to);
      expect(found, `a link from ${from} to ${to}`).not.toContain("of the host");
    }
});
