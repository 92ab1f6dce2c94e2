import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { put } from "../../files/files-rig.ts";
import { openService, type Service } from "../../support/service.ts";
import { untilStatus } from "../../support/until.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

const dataUri = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString("base64")}`;

describe("attachments of v1", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "v1-attachments-"));
  let service: Service;
  let call: CallV1;
  let site: Server;
  let siteUrl: string;
  beforeAll(async () => {
    site = createServer((_, reply) => reply.setHeader("Content-Type", "text/csv").end("a,b\n1,2\n")).listen(
      0,
      "127.0.0.1",
    );
    await new Promise((resolve) => site.once("listening", resolve));
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`; // Of a TCP server.
    service = await openService({ env: { DATA_DIR: dataDir, FETCH_ALLOW: "loopback" } });
    call = v1Of(service, await service.person());
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    site.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const reach = (link: string) => link.replace("https://platform.test", service.url);
  /** The files of the task's first message. */
  async function filesOf(attachments: readonly object[]) {
    const made = await call("POST /v1/tasks", { prompt: "[[forever]]", attachments });
    expect(made).toMatchObject({ status: 200 });
    const { body } = await call(`GET /v1/tasks/${made.body.task_id}`);
    const [text, ...files] = body.output[0].content;
    expect(text).toEqual({ type: "output_text", text: "[[forever]]" });
    return files;
  }
  async function uploaded(filename: string, bytes: string): Promise<string> {
    const { body } = await call("POST /v1/files", { filename });
    expect((await put(reach(body.upload_url), bytes)).status).toBe(200);
    return body.id;
  }

  test.each([
    "file_id",
    "fileId",
  ])("an uploaded file is attached by %s, and is returned as a link that needs no key (spec/clients.md 22)", async (member) => {
    const id = await uploaded("notes.txt", "Hello.");
    const [file, ...others] = await filesOf([{ filename: "notes.txt", [member]: id }]);
    expect(others).toEqual([]);
    expect(file).toEqual({
      type: "output_file",
      fileUrl: expect.stringMatching(/^https:/),
      fileName: "notes.txt",
      mimeType: "text/plain",
    });
    expect(await (await fetch(reach(file.fileUrl))).text()).toBe("Hello.");
  });

  test.each([
    ["fileData", "mimeType"],
    ["file_data", "mime_type"],
  ])("bytes are accepted in %s, with %s next to them", async (data, mime) => {
    const [file] = await filesOf([{ filename: "a.txt", [data]: dataUri("Inline."), [mime]: "text/plain" }]);
    expect(file).toMatchObject({ type: "output_file", fileName: "a.txt", mimeType: "text/plain" });
    expect(await (await fetch(reach(file.fileUrl))).text()).toBe("Inline.");
  });

  test("bytes are accepted in data next to a filename, as some clients send them", async () => {
    const [file] = await filesOf([{ filename: "a.txt", data: dataUri("Inline.") }]);
    expect(file).toMatchObject({ type: "output_file", fileName: "a.txt", mimeType: "text/plain" });
    expect(await (await fetch(reach(file.fileUrl))).text()).toBe("Inline.");
  });

  test.each([
    ["with a name and a type", { filename: "numbers.csv", mimeType: "text/csv" }, "numbers.csv"],
    ["without either", {}, "table.csv"],
  ])("a URL is fetched while the call runs: %s", async (_, named, fileName) => {
    const [file] = await filesOf([{ url: `${siteUrl}/table.csv`, ...named }]);
    expect(file).toMatchObject({ type: "output_file", fileName, mimeType: "text/csv" });
    expect(await (await fetch(reach(file.fileUrl))).text()).toBe("a,b\n1,2\n");
  });

  test("several keep their order, also in a follow-up", async () => {
    const attachments = ["1", "2", "3"].map((name) => ({ filename: `${name}.txt`, fileData: dataUri(name) }));
    expect((await filesOf(attachments)).map(({ fileName }: { fileName: string }) => fileName)).toEqual([
      "1.txt",
      "2.txt",
      "3.txt",
    ]);
    const { task_id } = (await call("POST /v1/tasks", { prompt: "[[forever]]" })).body;
    await call("POST /v1/tasks", { task_id, prompt: "More", attachments });
    const { output } = (await call(`GET /v1/tasks/${task_id}`)).body;
    expect(output[1].content.slice(1)).toMatchObject(
      attachments.map(({ filename }) => ({ fileName: filename })),
    );
  });

  test("a file from the agent is in its message as output_file", async () => {
    const { task_id } = (await call("POST /v1/tasks", { prompt: "[[file report.md | # Done]]" })).body;
    await untilStatus(service.store, task_id, "stopped");
    const { output } = (await call(`GET /v1/tasks/${task_id}`)).body;
    const files = output.flatMap(({ role, content }: { role: string; content: { type: string }[] }) =>
      role === "assistant" ? content.filter(({ type }) => type === "output_file") : [],
    );
    expect(files).toMatchObject([{ fileName: "report.md", mimeType: "text/markdown" }]);
    expect(await (await fetch(reach(files[0].fileUrl))).text()).toBe("# Done");
  });

  test.each([
    ["an unknown file", { filename: "a.txt", file_id: "file-unknown" }, /^attachments\[1\]\.file_id: /],
    [
      "bytes that are not base64",
      { filename: "a.txt", fileData: "data:text/plain;base64,!!!" },
      /^attachments\[1\]\.file_data: /,
    ],
    ["a forbidden kind", { filename: "run.sh", fileData: dataUri("x") }, /^attachments\[1\]\.filename: /],
    ["an address that is not http", { url: "ftp://a.example/b" }, /^attachments\[1\]\.url: /],
    ["an address without a server", { url: "http://127.0.0.1:1/b" }, /^attachments\[1\]\.url: /],
    ["no source", { filename: "a.txt" }, /^attachments\[1\]: /],
    ["data without a name", { data: dataUri("x") }, /^attachments\[1\]: must have exactly one of /],
    [
      "data that is none, by the member that the caller sent",
      { filename: "a.txt", data: "x" },
      /^attachments\[1\]\.data: must be data:/,
    ],
    [
      "data together with a file",
      { filename: "a.txt", data: dataUri("x"), url: "https://a.example/b" },
      /^attachments\[1\]: must have exactly one of /,
    ],
  ])("%s is refused with v1's error, and no task is created", async (_, attachment, named) => {
    const before = (await call("GET /v1/tasks?limit=1")).body.first_id;
    const sound = { filename: "s.txt", fileData: dataUri("x") };
    const { status, body } = await call("POST /v1/tasks", {
      prompt: "[[forever]]",
      attachments: [sound, attachment],
    });
    expect({ status, body }).toEqual({ status: 400, body: refusal(3, named) });
    expect((await call("GET /v1/tasks?limit=1")).body.first_id).toBe(before);
  });

  test("a deleted file cannot be attached", async () => {
    const id = await uploaded("notes.txt", "Hello.");
    await call(`DELETE /v1/files/${id}`);
    const { status, body } = await call("POST /v1/tasks", {
      prompt: "x",
      attachments: [{ filename: "notes.txt", file_id: id }],
    });
    expect({ status, body }).toEqual({ status: 400, body: refusal(3, /^attachments\[0\]\.file_id: /) });
  });
});
