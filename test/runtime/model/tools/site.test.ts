import { describe, expect, test } from "vitest";
import { siteFilesMax } from "../../../../src/core/websites/checkpoint.ts";
import type { WorkspaceFile } from "../../../../src/core/workspaces/workspace.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import { visit } from "../../../websites/site.ts";

const rig: ToolRig = await toolRig();

const write = (path: string, content = "x"): Use => ({ name: "write", input: { path, content } });
const publish = (more: Readonly<Record<string, string>> = {}): Use => ({
  name: "publish_site",
  input: { folder: "site", title: "Tea", message: "First", ...more },
});
/** The model makes these uses, and the user approves, as `input`, each one that waits. Returns the task. */
async function approved(uses: readonly Use[], input: object = { accept: true }): Promise<string> {
  rig.plays(...uses);
  const id = await rig.create("Make a site");
  for (const { name } of uses) {
    if (name !== "publish_site") continue;
    await rig.reach(id, "waiting");
    const { body } = await rig.ann.v2("task.detail", { task_id: id });
    const { waiting_for_event_id: event_id } = body["task"].status_detail;
    await rig.ann.v2("task.confirmAction", { task_id: id, event_id, input });
  }
  await rig.reach(id, "stopped");
  return id;
}
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

describe("publish_site", () => {
  test("saves a folder of the workspace, and only it, as a checkpoint of the task's site", async () => {
    const id = await approved([
      write("site/index.html", "<h1>Tea</h1>"),
      write("site/css/a.css", "h1{}"),
      write("site-notes.txt"),
      write("notes.txt"),
      publish(),
    ]);
    expect((await rig.useOutcomes(id)).at(-1)).toEqual({
      tool: "publish_site",
      status: "success",
      brief: "Publish the website Tea",
      result: { address: expect.any(String), visibility: "private", title: "Tea", files: 2, bytes: 16 },
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
    const id = await approved([
      ...[write("site/index.html", "one"), publish({ folder: "./site/" })],
      ...[write("site/index.html", "three"), publish({ message: "Second", title: "Coffee" })],
    ]);
    expect(await checkpoints(id)).toMatchObject([{ message: "Second" }, { message: "First" }]);
    expect(await filesOf(id, ["index.html"])).toEqual(["index.html 5 text/html; charset=utf-8"]);
    expect((await rig.service.store.websites.ofTask(id))?.title, "the first title counts").toBe("Tea");
  });

  test.each([
    [{ accept: true, visibility: "public" }, 200, "public"],
    [{ accept: true, visibility: "team" }, 302, "team"],
  ])("publishes what the user approves as %j, and returns the address", async (input, status, visibility) => {
    const id = await approved([write("site/index.html", "<h1>Tea</h1>"), publish()], input);
    const { result } = (await rig.useOutcomes(id)).at(-1) ?? {};
    const site = await rig.service.store.websites.ofTask(id);
    expect(result).toMatchObject({
      address: expect.stringContaining(`//${site?.label}.localhost`),
      visibility,
    });
    await expect
      .poll(async () => (await rig.ann.v2("website.status", { task_id: id })).body["publish_status"])
      .toBe("published");
    const seen = await visit(rig.service.nodes[0]?.url ?? "", `${site?.label}.localhost`);
    expect([seen.status, seen.text.includes("Tea")]).toEqual([status, status === 200]);
  });

  test("shows all files before the approval, and publishes nothing else: a later change asks again", async () => {
    const site = write("site/index.html", "<h1>Tea</h1>");
    rig.server.play([
      { calls: [site] },
      { calls: [publish(), write("site/index.html", "<h1>Changed</h1>")] },
      { calls: [publish()] },
      { text: "Done." },
    ]);
    const id = await rig.create("Make a site");
    const shown: unknown[] = [];
    for (const _ of [1, 2]) {
      await rig.reach(id, "waiting");
      const { body } = await rig.ann.v2("task.detail", { task_id: id });
      const { waiting_for_event_id: event_id, tool } = body["task"].status_detail;
      shown.push(tool.params);
      await rig.ann.v2("task.confirmAction", { task_id: id, event_id, input: { accept: true } });
    }
    await rig.reach(id, "stopped");
    const request = { title: "Tea", message: "First", folder: "site", sha256: expect.any(String) };
    expect(shown).toEqual([
      { ...request, files: ["index.html: 12 bytes"] },
      { ...request, files: ["index.html: 16 bytes"] },
    ]);
    expect(await filesOf(id, ["index.html"])).toEqual(["index.html 16 text/html; charset=utf-8"]);
    expect(await checkpoints(id)).toHaveLength(1);
  });

  test("publishes and saves nothing when the user writes instead of an approval", async () => {
    rig.plays(write("site/index.html"), publish());
    const id = await rig.create("Make a site");
    await rig.reach(id, "waiting");
    rig.plays();
    await rig.send(id, "Rather not");
    await rig.reach(id, "stopped");
    expect(await checkpoints(id)).toBe(404);
  });

  test.each([
    ["a folder outside the workspace", [publish({ folder: "../site" })], "must not contain .."],
    ["an absolute folder", [publish({ folder: "/etc" })], "must be relative"],
    ["a missing folder", [publish()], "files: must be 1 to"],
    ["a file instead of a folder", [write("site", "<p>"), publish()], "files: must be 1 to"],
    [
      "a folder without a home page",
      [write("site/home.html"), publish()],
      "there is no index.html in the folder",
    ],
    [
      "hidden files",
      [write("site/index.html"), write("site/.git/config"), publish()],
      '".git/config" must not have parts',
    ],
    [
      "an executable",
      [write("site/index.html"), write("site/get.exe"), publish()],
      '"get.exe" must not be an executable',
    ],
    [
      "a title of blanks",
      [write("site/index.html"), publish({ title: " " })],
      "title: must have 1 to 255 characters",
    ],
    [
      "a title that is too long",
      [write("site/index.html"), publish({ title: "x".repeat(256) })],
      "The input does not fit",
    ],
    [
      "a message that is too long",
      [write("site/index.html"), publish({ message: "x".repeat(1001) })],
      "The input does not fit",
    ],
    ["unknown members", [write("site/index.html"), publish({ publish: "yes" })], "The input does not fit"],
  ])("refuses %s, with our own error text, and saves nothing", async (_, uses, why) => {
    const id = await rig.uses(uses);
    expect((await rig.useOutcomes(id)).at(-1)).toMatchObject({
      tool: "publish_site",
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
    rig.plays(publish());
    await rig.send(id, "And now?");
    await rig.reach(id, "stopped");
    expect((await rig.useOutcomes(id)).at(-1)).toMatchObject({
      status: "error",
      result: expect.stringContaining(why),
    });
    expect(await checkpoints(id)).toBe(404);
  });
});
