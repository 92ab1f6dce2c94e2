import { describe, expect, test } from "vitest";
import { toolNames } from "../../../../src/config/models.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import { pdfOf } from "../../../support/pdf.ts";

const rig: ToolRig = await toolRig();
const restrictedRig: ToolRig = await toolRig(
  {},
  { without_tools: toolNames.filter((name) => name !== "list_files") },
);

const use = (name: string, input = {}): Use => ({ name, input });
const write = (path: string, content = "x") => use("write_file", { path, content });
const read = (path: string, more = {}) => use("read_file", { path, ...more });
const part = (filename: string, bytes: string | Buffer, type = "text/plain") => ({
  type: "file",
  filename,
  file_data: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`,
});
const results = async (id: string) => (await rig.useOutcomes(id)).map(({ result }) => result);

describe("the workspace's tools", () => {
  test("write, list, read and delete files, which stay for the task's later turns", async () => {
    const id = await rig.uses([
      write("notes/a.md", "Grüße"),
      write("b.txt"),
      use("list_files"),
      read("notes/a.md"),
      use("delete_file", { path: "b.txt" }),
    ]);
    expect(await rig.useOutcomes(id)).toMatchObject([
      {
        tool: "write_file",
        status: "success",
        brief: "Write notes/a.md",
        result: { path: "notes/a.md", bytes: 7 },
      },
      { status: "success" },
      { result: { workspace: [{ path: "b.txt", bytes: 1 }, { path: "notes/a.md" }], attachments: [] } },
      { brief: "Read notes/a.md", result: { text: "Grüße", next: null } },
      { result: { deleted: "b.txt" } },
    ]);
    rig.plays(use("list_files"));
    await rig.send(id, "And now?");
    await rig.reach(id, "stopped");
    expect((await results(id)).at(-1)).toMatchObject({ workspace: [{ path: "notes/a.md" }] });
  });

  test.each([
    ["a path outside the workspace", read("../../etc/passwd"), "path: must not contain .."],
    ["an absolute path", read("/etc/passwd"), "path: must be relative"],
    ["a missing file", read("nothing.txt"), "file not found"],
    ["deletion of a missing file", use("delete_file", { path: "nothing.txt" }), "file not found"],
    ["attaching a missing file", use("attach_result", { path: "nothing.txt" }), "file not found"],
    ["a missing attachment", use("read_attachment", { name: "nothing.txt" }), "file not found"],
    ["a write outside the workspace", write("../x"), "path: must not contain .."],
    ["invalid input", use("read_file", { file: "a" }), "The input does not fit"],
    ["unknown members", read("a", { encoding: "x" }), "The input does not fit"],
  ])("refuse %s, with our own error text", async (_, wrong, why) => {
    expect(await rig.useOutcomes(await rig.uses([wrong]))).toMatchObject([
      { status: "error", result: expect.stringContaining(why) },
    ]);
  });

  test("see no files of another task, even of the same person", async () => {
    await rig.uses([write("mine.txt", "one task's")]);
    expect(await results(await rig.uses([use("list_files"), read("mine.txt")]))).toMatchObject([
      { workspace: [] },
      "file not found",
    ]);
  });

  test("are deleted with their task", async () => {
    const id = await rig.uses([write("a.txt")]);
    expect(await rig.service.store.workspace.list(id)).toHaveLength(1);
    await rig.ann.v2("task.delete", { task_id: id });
    expect(await rig.service.store.workspace.list(id)).toEqual([]);
  });
});

describe("attach_result", () => {
  test("delivers a file to the user, once, with unchanged bytes", async () => {
    const id = await rig.uses([
      write("out/sums.csv", "a,b\n1,2\n"),
      use("attach_result", { path: "out/sums.csv" }),
    ]);
    const attachments = (await rig.events(id)).flatMap(
      ({ assistant_message: message }) => message?.["attachments"] ?? [],
    );
    expect(attachments).toMatchObject([
      { filename: "sums.csv", content_type: "text/csv", url: expect.stringContaining("/") },
    ]);
  });

  test("refuses an invalid file name", async () => {
    const named = (filename: string) => use("attach_result", { path: "a.txt", filename });
    const id = await rig.uses([write("a.txt"), named("run.sh"), named("../a.txt"), named("a\u202etxt.exe")]);
    expect((await rig.useOutcomes(id)).map(({ status }) => status)).toEqual([
      "success",
      "error",
      "error",
      "error",
    ]);
    expect(
      (await rig.events(id)).flatMap(({ assistant_message: message }) => message?.["attachments"] ?? []),
    ).toEqual([]);
  });
});

describe("read_attachment", () => {
  const content = [
    { type: "text", text: "Look" },
    part("a.txt", "older"),
    part("a.txt", "newer"),
    part("t.csv", "n;m\n1;2\n", "text/csv"),
    part("v.json", '{"a":[1,2]}', "application/json"),
    part("d.pdf", pdfOf(["A page"]), "application/pdf"),
  ];

  test("reads the user's files by their type", async () => {
    const attachment = (name: string, more = {}) => use("read_attachment", { name, ...more });
    const id = await rig.uses(
      [
        attachment("a.txt"),
        attachment("a.txt (2)"),
        attachment("t.csv"),
        attachment("v.json", { pointer: "/a/1" }),
        attachment("d.pdf"),
        attachment("t.csv", { save_as: "data/t.csv" }),
        read("data/t.csv"),
      ],
      content,
    );
    expect(await results(id)).toMatchObject([
      { text: "newer" },
      { text: "older" },
      { columns: ["n", "m"], rows: [["1", "2"]] },
      { value: 2 },
      { pages: 1, texts: ["A page"] },
      { saved: "data/t.csv", bytes: 8 },
      { rows: [["1", "2"]] },
    ]);
  });

  test("reads it in later turns too", async () => {
    const id = await rig.uses([], content);
    rig.plays(use("list_files"), use("read_attachment", { name: "a.txt" }));
    await rig.send(id, "Again");
    await rig.reach(id, "stopped");
    expect(await results(id)).toMatchObject([
      { attachments: [{ name: "d.pdf" }, {}, {}, { name: "a.txt" }, { name: "a.txt (2)" }] },
      { text: "newer" },
    ]);
  });
});

test("a model can be without tools", async () => {
  await restrictedRig.uses([]);
  expect(restrictedRig.server.requests.at(-1)?.tools).toEqual(["update_plan", "list_files"]);
});

test("every tool has a name by which it can be disabled", async () => {
  await rig.uses([]);
  const there = new Set(rig.server.requests.at(-1)?.tools);
  expect([...toolNames].filter((name) => !there.has(name))).toEqual([
    "use_skill",
    "browse_task",
    "run_command",
  ]);
});
