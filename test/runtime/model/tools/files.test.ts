import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/core/json.ts";
import { toolNames } from "../../../../src/core/permissions/tool-names.ts";
import { type ToolRig, toolRig, type Use } from "../../../support/model/tool-rig.ts";
import { pdfOf } from "../../../support/pdf.ts";

const rig: ToolRig = await toolRig();
const restrictedRig: ToolRig = await toolRig(
  {},
  { without_tools: [...toolNames.filter((name) => name !== "glob" && name !== "read"), "read_attachment"] },
);

const use = (name: string, input = {}): Use => ({ name, input });
const write = (path: string, content = "x") => use("write", { path, content });
const read = (path: string, more = {}) => use("read", { path, ...more });
const edit = (path: string, old: string, next: string, more = {}) =>
  use("edit", { path, old, new: next, ...more });
const part = (filename: string, bytes: string | Buffer, type = "text/plain") => ({
  type: "file",
  filename,
  file_data: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`,
});
const results = async (id: string) => (await rig.useOutcomes(id)).map(({ result }) => result);
/** The results of uses in a new task. */
const resultsOf = async (...uses: readonly Use[]) => results(await rig.uses(uses));
/** The user's next message in a task, for which the model makes these uses; returns their results. */
async function later(id: string, content: unknown, ...uses: readonly Use[]): Promise<readonly Json[]> {
  const before = (await results(id)).length;
  rig.plays(...uses);
  await rig.send(id, content);
  await rig.reach(id, "stopped");
  return (await results(id)).slice(before);
}

describe("the workspace's tools", () => {
  test("write, list, read and delete files, which stay for the task's later turns", async () => {
    const id = await rig.uses([
      write("notes/a.md", "Grüße"),
      write("b.txt"),
      use("glob"),
      read("notes/a.md"),
      use("delete", { path: "b.txt" }),
    ]);
    expect(await rig.useOutcomes(id)).toMatchObject([
      {
        tool: "write",
        status: "success",
        brief: "Write notes/a.md",
        result: { path: "notes/a.md", bytes: 7 },
      },
      { status: "success" },
      { result: { files: [{ path: "b.txt", bytes: 1 }, { path: "notes/a.md" }] } },
      { brief: "Read notes/a.md", result: { text: "Grüße", next: null } },
      { result: { deleted: "b.txt" } },
    ]);
    expect(await later(id, "And now?", use("glob"))).toEqual([{ files: [{ path: "notes/a.md", bytes: 7 }] }]);
  });

  test.each([
    ["a path outside the workspace", read("../../etc/passwd"), "path: must not contain .."],
    ["an absolute path", read("/etc/passwd"), "path: must be relative"],
    ["a missing file", read("nothing.txt"), "file not found"],
    ["deletion of a missing file", use("delete", { path: "nothing.txt" }), "file not found"],
    ["an edit of a missing file", edit("nothing.txt", "a", "b"), "file not found"],
    ["delivery of a missing file", use("deliver", { files: [{ path: "nothing.txt" }] }), "file not found"],
    ["a write outside the workspace", write("../x"), "path: must not contain .."],
    ["invalid input", use("read", { file: "a" }), "The input does not fit"],
    ["unknown members", read("a", { encoding: "x" }), "The input does not fit"],
    ["a pattern that needs backtracking", use("grep", { pattern: "(a)\\1" }), "pattern: must not refer"],
    ["the name of an earlier release", use("list_files"), "The tool is called glob now."],
  ])("refuse %s, with our own error text", async (_, wrong, why) => {
    expect(await rig.useOutcomes(await rig.uses([wrong]))).toMatchObject([
      { status: "error", result: expect.stringContaining(why) },
    ]);
  });

  test("name the file that was probably meant", async () => {
    expect((await resultsOf(write("notes/plan.md"), read("notes/plam.md")))[1]).toBe(
      "file not found; did you mean notes/plan.md?",
    );
  });

  test("see no files of another task, even of the same person", async () => {
    await rig.uses([write("mine.txt", "one task's")]);
    expect(await resultsOf(use("glob"), use("grep", { pattern: "task" }), read("mine.txt"))).toEqual([
      { files: [] },
      { hits: [] },
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

describe("read", () => {
  const lines = Array.from({ length: 30 }, (_, nth) => `line ${nth + 1}\r\n`);

  test("reads lines, rows and pages from a number on, as many as requested", async () => {
    const table = "n;m\n1;2\n3;4\n5;6\n";
    expect(
      await resultsOf(
        write("a.txt", lines.join("")),
        read("a.txt", { from: 3, count: 2 }),
        read("a.txt", { from: 30 }),
        write("t.csv", table),
        read("t.csv", { from: 2, count: 1 }),
        read("t.csv", { raw: true }),
      ),
    ).toMatchObject([
      {},
      { text: "line 3\r\nline 4\r\n", next: 5 },
      { text: "line 30\r\n", next: null },
      {},
      { columns: ["n", "m"], rows: [["3", "4"]], next: 3 },
      { text: table },
    ]);
  });

  test("returns the source of a page, which can be edited", async () => {
    expect((await resultsOf(write("a.html", "<b>Tea</b>"), read("a.html")))[1]).toMatchObject({
      text: "<b>Tea</b>",
    });
  });
});

describe("edit", () => {
  test("replaces a text that is there once, keeps the line ends of the file, and does all when asked to", async () => {
    expect(
      await resultsOf(
        write("a.txt", "one\r\ntwo\r\nthree\r\n"),
        edit("a.txt", "one\ntwo", "1\n2\n2.5"),
        read("a.txt"),
        write("b.txt", "a b a\na"),
        edit("b.txt", "a", "c"),
        edit("b.txt", "a", "c", { all: true }),
        read("b.txt"),
      ),
    ).toMatchObject([
      {},
      { replaced: 1 },
      { text: "1\r\n2\r\n2.5\r\nthree\r\n" },
      {},
      expect.stringContaining("is in the file 3 times, from lines 1, 1, 2."),
      { replaced: 3 },
      { text: "c b c\nc" },
    ]);
  });

  test("answers a text that is not there with the nearest lines, and changes nothing", async () => {
    const source = "import a\n\nfunction count(owls) {\n  return owls.length;\n}\n";
    const [, refused, after] = await resultsOf(
      write("a.js", source),
      edit("a.js", "  return owl.length", "  return 7"),
      read("a.js"),
    );
    expect(refused).toContain(
      "The nearest lines are 3 to 5:\nfunction count(owls) {\n  return owls.length;\n}",
    );
    expect(after).toMatchObject({ text: source });
  });

  test("refuses a file that is not UTF-8", async () => {
    const id = await rig.uses(
      [],
      [{ type: "text", text: "Look" }, part("l.txt", Buffer.from("Gr\xfc", "latin1"))],
    );
    expect(await later(id, "Edit it", edit("inputs/l.txt", "G", "g"))).toEqual([
      "The file is not text in UTF-8.",
    ]);
  });
});

describe("grep and glob", () => {
  const files = [
    write("src/a.ts", "const owl = 1;\nconst bee = 2;\n"),
    write("src/deep/b.ts", "// An OWL\n"),
    write("c.md", "no bird"),
  ];

  test("find lines by a pattern, in files by theirs", async () => {
    expect(
      (
        await resultsOf(
          ...files,
          use("grep", { pattern: "owl|bi[r]d" }),
          use("grep", { pattern: "\\bowl\\b", ignore_case: true, files: "src/**" }),
          use("glob", { pattern: "**/*.ts" }),
        )
      ).slice(3),
    ).toEqual([
      { hits: ["c.md:1: no bird", "src/a.ts:1: const owl = 1;"] },
      { hits: ["src/a.ts:1: const owl = 1;", "src/deep/b.ts:1: // An OWL"] },
      {
        files: [
          { path: "src/a.ts", bytes: 30 },
          { path: "src/deep/b.ts", bytes: 10 },
        ],
      },
    ]);
  });

  test("return at most 200 entries, pass over files that are not text, and are not slowed by a hostile pattern", async () => {
    const bytes = Buffer.from([0, 1, 2, 255, 97, 97]);
    const id = await rig.uses(
      [],
      [{ type: "text", text: "Look" }, part("b.bin", bytes), part("a.txt", "a\n".repeat(500))],
    );
    const [many, hostile] = await later(
      id,
      "Search",
      use("grep", { pattern: "a" }),
      use("grep", { pattern: "(a+)+$|(a|a)*b", files: "**/*.txt" }),
    );
    expect(many).toMatchObject({ hits: { length: 200 }, note: "There are more." });
    expect(hostile).toMatchObject({ hits: { length: 200 } });
  });
});

describe("deliver", () => {
  const delivered = async (id: string) =>
    (await rig.events(id)).flatMap(({ assistant_message: message }) => message?.["attachments"] ?? []);

  test("delivers files to the user, once, with unchanged bytes", async () => {
    const id = await rig.uses([
      write("out/sums.csv", "a,b\n1,2\n"),
      write("report.md"),
      use("deliver", { files: [{ path: "out/sums.csv" }, { path: "report.md", name: "Report.md" }] }),
    ]);
    expect(await delivered(id)).toMatchObject([
      { filename: "sums.csv", content_type: "text/csv", url: expect.stringContaining("/") },
      { filename: "Report.md" },
    ]);
    expect((await rig.useOutcomes(id)).at(-1)).toMatchObject({ brief: "Deliver sums.csv, Report.md" });
  });

  test("delivers none when one of them cannot be", async () => {
    const named = (...names: readonly string[]) =>
      use("deliver", { files: names.map((name) => ({ path: "a.txt", name })) });
    const id = await rig.uses([
      write("a.txt"),
      named("ok.txt", "run.sh"),
      named("../a.txt"),
      named("a\u202etxt.exe"),
      use("deliver", { files: [{ path: "a.txt" }, { path: "b.txt" }] }),
      use("deliver", { files: Array.from({ length: 21 }, () => ({ path: "a.txt" })) }),
    ]);
    expect((await rig.useOutcomes(id)).slice(1).map(({ status }) => status)).toEqual(Array(5).fill("error"));
    expect(await delivered(id)).toEqual([]);
  });
});

describe("files that the user sends", () => {
  const content = [
    { type: "text", text: "Look" },
    part("a.txt", "older"),
    part("a.txt", "newer"),
    part("a.txt", "older"),
    part("t.csv", "n;m\n1;2\n", "text/csv"),
    part("v.json", '{"a":[1,2]}', "application/json"),
    part("d.pdf", pdfOf(["A page"]), "application/pdf"),
  ];

  test("are in the workspace, are read by their type, and the model reads their paths", async () => {
    const id = await rig.uses(
      [
        read("inputs/a.txt"),
        read("inputs/a (2).txt"),
        read("inputs/t.csv"),
        read("inputs/v.json", { pointer: "/a/1" }),
        read("inputs/d.pdf"),
        use("glob", { pattern: "inputs/a*" }),
      ],
      content,
    );
    expect(await results(id)).toMatchObject([
      { text: "older" },
      { text: "newer" },
      { columns: ["n", "m"], rows: [["1", "2"]] },
      { value: 2 },
      { pages: 1, texts: ["A page"] },
      { files: [{ path: "inputs/a (2).txt" }, { path: "inputs/a.txt" }] },
    ]);
    const told = rig.server.requests.at(-1)?.messages.find(({ role }) => role === "user")?.text;
    expect(told).toMatch(/New files of the user in your workspace: <data-.*"path":"inputs\/a \(2\).txt"/s);
  });

  test("stay with the task when their uploads are deleted, as they are after 48 hours", async () => {
    const id = await rig.uses([], content);
    const { store } = rig.service;
    const { files } = await store.files.list(rig.ann, {}, { limit: 100 }, Date.now());
    for (const { id: file_id } of files) await rig.ann.v2("file.delete", { file_id });
    expect(files.length).toBeGreaterThan(0);
    expect(await later(id, "Again", read("inputs/a.txt"))).toMatchObject([{ text: "older" }]);
  });
});

test("a model can be without tools, also by their names of earlier releases", async () => {
  await restrictedRig.uses([]);
  expect(restrictedRig.server.requests.at(-1)?.tools).toEqual(["plan", "glob"]);
  expect(restrictedRig.service.logged).toContainEqual(
    expect.objectContaining({
      level: "warn",
      fields: { model: expect.any(String), tool: "read_attachment", now: "read" },
    }),
  );
});

test("every tool has a name by which it can be disabled", async () => {
  await rig.uses([]);
  const there = new Set(rig.server.requests.at(-1)?.tools);
  expect([...toolNames].filter((name) => !there.has(name))).toEqual([
    "browse_task",
    "skill",
    "web_search",
    "run_command",
  ]);
});

/** The members of a request of chat completions that are the same in each. */
interface Body {
  readonly tools: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly unknown[];
}

test("without the browser tools a task has at most 17, with definitions under 6 KB, and a call costs under 9 KB", async () => {
  await rig.uses([]);
  const { body = {} } = rig.server.requests.at(-1) ?? {};
  const { tools, messages } = body as unknown as Body;
  // Every task has the browser tools too, until one tool replaces them.
  const ordinary = tools.map((tool) => tool.function).filter(({ name }) => !name.startsWith("browser_"));
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  expect(ordinary.length).toBeLessThanOrEqual(17);
  expect(bytes(ordinary)).toBeLessThan(6_000);
  expect(bytes(ordinary) + bytes(messages[0])).toBeLessThan(9_000);
});

test("no definition names a tool that the task does not have, and with a browser there are at most 24", async () => {
  await rig.uses([]);
  const { body = {}, tools = [] } = rig.server.requests.at(-1) ?? {};
  const absent = toolNames.filter((name) => name.includes("_") && !tools.includes(name));
  expect(absent).toContain("web_search");
  expect(absent.filter((name) => JSON.stringify(body["tools"]).includes(name))).toEqual([]);
  expect(tools.some((name) => name.startsWith("browser_"))).toBe(true);
  expect(tools.length).toBeLessThanOrEqual(24);
});
