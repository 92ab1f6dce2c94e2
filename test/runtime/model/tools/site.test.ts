import { describe, expect, test } from "vitest";
import { siteFilesMax } from "../../../../src/core/websites/checkpoint.ts";
import type { WorkspaceFile } from "../../../../src/core/workspaces/workspace.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";

const rig: ToolRig = await toolRig();

const write = (path: string, content = "x"): Use => ({ name: "write_file", input: { path, content } });
const save = (more: Readonly<Record<string, string>> = {}): Use => ({
  name: "save_site",
  input: { folder: "site", title: "Tea", message: "First", ...more },
});
const checkpoints = async (id: string) => {
  const { status, body } = await rig.ann.v2("website.listCheckpoints", { task_id: id });
  return status === 200 ? body["data"] : status;
};
/** The requested paths that a task's newest checkpoint has. */
async function filesOf(id: string, paths: readonly string[]): Promise<readonly string[]> {
  const { store } = rig.service;
  const site = await store.websites.ofTask(id);
  const checkpoint = site && (await store.checkpoints.latest(site.id));
  const found = await Promise.all(
    paths.map(async (path) => (checkpoint ? store.checkpoints.file(checkpoint.id, [path]) : null)),
  );
  return found.flatMap((file) => (file ? `${file.path} ${file.bytes} ${file.contentType}` : []));
}

describe("save_site", () => {
  test("saves a folder of the workspace, and only it, as a checkpoint of the task's site", async () => {
    const id = await rig.uses([
      write("site/index.html", "<h1>Tea</h1>"),
      write("site/css/a.css", "h1{}"),
      write("site-notes.txt"),
      write("notes.txt"),
      save(),
    ]);
    expect((await rig.useOutcomes(id)).at(-1)).toEqual({
      tool: "save_site",
      status: "success",
      brief: "Save the website Tea",
      result: { saved: { title: "Tea", files: 2, bytes: 16 } },
    });
    expect(await checkpoints(id)).toMatchObject([{ message: "First", status: "success" }]);
    const requestedPaths = [
      "index.html",
      "css/a.css",
      "notes.txt",
      "site-notes.txt",
      "-notes.txt",
      "../notes.txt",
      "site/index.html",
    ];
    expect(await filesOf(id, requestedPaths)).toEqual([
      "index.html 12 text/html; charset=utf-8",
      "css/a.css 4 text/css; charset=utf-8",
    ]);
    expect((await rig.service.store.websites.ofTask(id))?.title).toBe("Tea");
  });

  test("creates a further checkpoint of the same site each time, from the folder's current content", async () => {
    const id = await rig.uses([
      ...[write("site/index.html", "one"), save({ folder: "./site/" })],
      ...[write("site/index.html", "three"), save({ message: "Second", title: "Coffee" })],
    ]);
    expect(await checkpoints(id)).toMatchObject([{ message: "Second" }, { message: "First" }]);
    expect(await filesOf(id, ["index.html"])).toEqual(["index.html 5 text/html; charset=utf-8"]);
    expect((await rig.service.store.websites.ofTask(id))?.title, "the first title counts").toBe("Tea");
  });

  test.each([
    ["a folder outside the workspace", [save({ folder: "../site" })], "must not contain .."],
    ["an absolute folder", [save({ folder: "/etc" })], "must be relative"],
    ["a missing folder", [save()], "files: must be 1 to"],
    ["a file instead of a folder", [write("site", "<p>"), save()], "files: must be 1 to"],
    [
      "a folder without a home page",
      [write("site/home.html"), save()],
      "there is no index.html in the folder",
    ],
    [
      "hidden files",
      [write("site/index.html"), write("site/.git/config"), save()],
      '".git/config" must not have parts',
    ],
    [
      "an executable",
      [write("site/index.html"), write("site/get.exe"), save()],
      '"get.exe" must not be an executable',
    ],
    [
      "a title of blanks",
      [write("site/index.html"), save({ title: " " })],
      "title: must have 1 to 255 characters",
    ],
    [
      "a title that is too long",
      [write("site/index.html"), save({ title: "x".repeat(256) })],
      "The input does not fit",
    ],
    [
      "a message that is too long",
      [write("site/index.html"), save({ message: "x".repeat(1001) })],
      "The input does not fit",
    ],
    ["unknown members", [write("site/index.html"), save({ publish: "yes" })], "The input does not fit"],
  ])("refuses %s, with our own error text, and saves nothing", async (_, uses, why) => {
    const id = await rig.uses(uses);
    expect((await rig.useOutcomes(id)).at(-1)).toMatchObject({
      tool: "save_site",
      status: "error",
      result: expect.stringContaining(why),
    });
    expect(await checkpoints(id)).toBe(404);
  });

  test.each([
    [
      "files",
      Array.from({ length: siteFilesMax + 1 }, (_, i) => [`site/${i}.html`, 1] as const),
      "files: must be 1 to 1000",
    ],
    [
      "bytes",
      [
        ["site/index.html", 60 * 1024 ** 2],
        ["site/film.mp4", 60 * 1024 ** 2],
      ] as const,
      "104857600 bytes together",
    ],
  ])("refuses more %s than a site may have before it reads one", async (_, files, why) => {
    const id = await rig.uses([write("a.txt")]);
    const { store } = rig.service;
    const [knownFiles] = await store.workspace.list(id);
    // Rows as if the agent had written the files, because only rows are checked.
    await store.change(async (tx) => {
      for (const [path, bytes] of files)
        await tx.workspace.put({ ...(knownFiles as WorkspaceFile), path, bytes });
    });
    rig.plays(save());
    await rig.send(id, "And now?");
    await rig.reach(id, "stopped");
    expect((await rig.useOutcomes(id)).at(-1)).toMatchObject({
      status: "error",
      result: expect.stringContaining(why),
    });
    expect(await checkpoints(id)).toBe(404);
  });
});
