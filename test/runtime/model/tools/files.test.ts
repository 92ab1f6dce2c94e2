import { describe, expect, test } from "vitest";
import { toolNames } from "../../../../src/config/models.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import { pdfOf } from "../../../support/pdf.ts";

const rig: ToolRig = await toolRig();
const bare: ToolRig = await toolRig({}, { without_tools: toolNames.filter((name) => name !== "list_files") });

const use = (name: string, input = {}): Use => ({ name, input });
const write = (path: string, content = "x") => use("write_file", { path, content });
const read = (path: string, more = {}) => use("read_file", { path, ...more });
const part = (filename: string, bytes: string | Buffer, type = "text/plain") => ({
  type: "file",
  filename,
  file_data: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`,
});
const results = async (id: string) => (await rig.came(id)).map(({ result }) => result);

describe("the workspace's tools", () => {
  test("write, list, read and delete files, which stay for the task's later turns", async () => {
    const id = await rig.uses([
      write("notes/a.md", "Grüße"),
      write("b.txt"),
      use("list_files"),
      read("notes/a.md"),
      use("delete_file", { path: "b.txt" }),
    ]);
    expect(await rig.came(id)).toMatchObject([
      { tool: "write_file", status: "success", brief: "Write notes/a.md", result: { path: "notes/a.md", bytes: 7 } },
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
    ["a path out of it", read("../../etc/passwd"), "path: must not hold .."],
    ["an absolute path", read("/etc/passwd"), "path: must be relative"],
    ["a file that is not there", read("nothing.txt"), "file not found"],
    ["deleting what is not there", use("delete_file", { path: "nothing.txt" }), "file not found"],
    ["attaching what is not there", use("attach_result", { path: "nothing.txt" }), "file not found"],
    ["an attachment that is not there", use("read_attachment", { name: "nothing.txt" }), "file not found"],
    ["writing out of it", write("../x"), "path: must not hold .."],
    ["input that does not fit", use("read_file", { file: "a" }), "The input does not fit"],
    ["members that it does not have", read("a", { encoding: "x" }), "The input does not fit"],
  ])("refuse %s, in words of our own", async (_, wrong, why) => {
    expect(await rig.came(await rig.uses([wrong]))).toMatchObject([{ status: "error", result: expect.stringContaining(why) }]);
  });

  test("know nothing of another task's files, of the same person's neither", async () => {
    await rig.uses([write("mine.txt", "one task's")]);
    expect(await results(await rig.uses([use("list_files"), read("mine.txt")]))).toMatchObject([{ workspace: [] }, "file not found"]);
  });

  test("go with their task", async () => {
    const id = await rig.uses([write("a.txt")]);
    expect(await rig.service.store.workspace.list(id)).toHaveLength(1);
    await rig.ann.v2("task.delete", { task_id: id });
    expect(await rig.service.store.workspace.list(id)).toEqual([]);
  });
});

describe("attach_result", () => {
  test("hands a file to the user, once, with its bytes as they are", async () => {
    const id = await rig.uses([write("out/sums.csv", "a,b\n1,2\n"), use("attach_result", { path: "out/sums.csv" })]);
    const told = (await rig.events(id)).flatMap(({ assistant_message: said }) => said?.["attachments"] ?? []);
    expect(told).toMatchObject([{ filename: "sums.csv", content_type: "text/csv", url: expect.stringContaining("/") }]);
  });

  test("refuses a name that no file may have", async () => {
    const named = (filename: string) => use("attach_result", { path: "a.txt", filename });
    const id = await rig.uses([write("a.txt"), named("run.sh"), named("../a.txt"), named("a\u202etxt.exe")]);
    expect((await rig.came(id)).map(({ status }) => status)).toEqual(["success", "error", "error", "error"]);
    expect((await rig.events(id)).flatMap(({ assistant_message: said }) => said?.["attachments"] ?? [])).toEqual([]);
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

  test("reads what the user has sent as what it is", async () => {
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

test("a model may be without tools", async () => {
  await bare.uses([]);
  expect(bare.server.requests.at(-1)?.tools).toEqual(["update_plan", "list_files"]);
});

test("every tool has the name by which a model may be without it", async () => {
  await rig.uses([]);
  const there = new Set(rig.server.requests.at(-1)?.tools);
  const subtasks = ["start_subtask", "list_subtasks", "read_subtask"];
  expect([...toolNames].filter((name) => !there.has(name))).toEqual([...subtasks, "use_skill", "browse_task", "run_command"]);
});
