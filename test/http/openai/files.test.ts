import { request } from "node:http";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { openService, type Person, type Service } from "../../support/service.ts";
import { untilStatus } from "../../support/until.ts";
import { untilTrue } from "../../tasks/watch-rig.ts";
import { call, prefixes, sdk } from "./facade-rig.ts";

const limit = 256 * 1024;

describe.each(prefixes)("files below %j", (prefix) => {
  let open: { service: Service; ann: Person } | undefined;
  beforeAll(async () => {
    const PORT = `${await freePort()}`;
    const env = {
      PORT,
      BASE_URL: `http://127.0.0.1:${PORT}`,
      BODY_LIMIT: "64KiB",
      FILE_LIMIT: `${limit}`,
      FILE_QUOTA: `${8 * limit}`,
    };
    const service = await openService({ env });
    open = { service, ann: await service.person() };
  });
  afterAll(async () => open?.service[Symbol.asyncDispose]());
  const rig = () => {
    if (!open) throw new Error("the platform is opened before the first test");
    return open;
  };
  const client = (who: Person = rig().ann) => sdk(rig().service.url, who, prefix);
  /** Files in the list, and the used part of the account's quota. */
  async function left(who: Person): Promise<{ readonly files: number; readonly bytes: number }> {
    const { data } = await client(who).files.list();
    return { files: data.length, bytes: await rig().service.store.blobs.usedBytes(who.accountId) };
  }

  /** A form with these parts, encoded for sending. */
  async function send(
    who: Person,
    parts: readonly (readonly [head: string, body: string | Buffer])[],
    end = "--cut--\r\n",
  ) {
    const chunks = parts.flatMap(([head, body]) => [
      `--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n`,
      body,
      "\r\n",
    ]);
    const answer = await fetch(`${rig().service.url}${prefix}/files`, {
      method: "POST",
      headers: { API_KEY: who.key, "Content-Type": "multipart/form-data; boundary=cut" },
      body: Buffer.concat([...chunks, end].map((chunk) => Buffer.from(chunk))),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }

  test("are created from a form in one step by the SDK, found, listed, read and deleted", async () => {
    const who = await rig().service.person();
    const bytes = Buffer.from("name,age\nAnn,7\n");
    const made = await client(who).files.create({
      file: await toFile(bytes, "people.csv"),
      purpose: "user_data",
    });
    expect(made).toMatchObject({
      object: "file",
      filename: "people.csv",
      bytes: bytes.length,
      status: "uploaded",
      purpose: "user_data",
    });
    expect(made.id).toMatch(/^file-/);
    if (prefix === "") expect(Math.abs(made.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(await client(who).files.retrieve(made.id)).toMatchObject({
      id: made.id,
      bytes: bytes.length,
      content_type: "text/csv",
    });
    expect((await Array.fromAsync(client(who).files.list())).map(({ id }) => id)).toEqual([made.id]);
    const content = await client(who).files.content(made.id);
    expect(Buffer.from(await content.arrayBuffer())).toEqual(bytes);
    expect(content.headers.get("content-disposition")).toContain("people.csv");
    expect(content.headers.get("cache-control")).toBe("no-store");
    expect(await client(who).files.delete(made.id)).toEqual({
      id: made.id,
      object: "file.deleted",
      deleted: true,
    });
    await expect(client(who).files.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await expect(client(who).files.content(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("are created as on v1, by name, and uploaded to the address in the answer", async () => {
    const slot: { id: string; upload_url: string } = await client().post("/files", {
      body: { filename: "a.txt" },
    });
    expect(slot).toMatchObject({ object: "file", status: "pending", upload_expires_at: expect.any(Number) });
    expect((await client().files.retrieve(slot.id)).bytes).toBeUndefined();
    await expect(client().files.content(slot.id)).rejects.toMatchObject({ status: 404 });
    expect((await fetch(slot.upload_url, { method: "PUT", body: "Hello" })).status).toBe(200);
    expect(await (await client().files.content(slot.id)).text()).toBe("Hello");
  });

  test("are read in parts, and only by their owner", async () => {
    const { id } = await client().files.create({
      file: await toFile(Buffer.from("0123456789"), "a.txt"),
      purpose: "user_data",
    });
    const url = `${rig().service.url}${prefix}/files/${id}/content`;
    const part = await fetch(url, { headers: { API_KEY: rig().ann.key, Range: "bytes=2-4" } });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    const bo = await rig().service.person();
    expect((await fetch(url, { headers: { API_KEY: bo.key } })).status).toBe(404);
    expect((await fetch(url)).status).toBe(401);
  });

  test.each(["naïve 表.txt", `${"x".repeat(251)}.txt`])("keep the name %s", async (filename) => {
    const { id } = await client().files.create({
      file: await toFile(Buffer.from("x"), filename),
      purpose: "user_data",
    });
    expect((await client().files.retrieve(id)).filename).toBe(filename);
  });

  test.each([
    { why: "no file", parts: [['name="purpose"', "user_data"]] as const, named: "file" },
    {
      why: "a file under another name",
      parts: [['name="other"; filename="a.txt"', "x"]] as const,
      named: "file",
    },
    { why: "a program", parts: [['name="file"; filename="a.exe"', "x"]] as const, named: "filename" },
    {
      why: "a name that is too long",
      parts: [[`name="file"; filename="${"x".repeat(256)}.txt"`, "x"]] as const,
      named: "filename",
    },
  ])("are refused where the form holds $why, and nothing is created", async ({ parts, named }) => {
    const who = await rig().service.person();
    const { status, body } = await send(who, parts);
    expect([status, body.code, body.message.split(":")[0]]).toEqual([400, 3, named]);
    expect(await left(who)).toEqual({ files: 0, bytes: 0 });
  });

  test("never escape their folder through their name", async () => {
    const { status, body } = await send(rig().ann, [['name="file"; filename="../../etc/passwd.txt"', "x"]]);
    expect([status, body.filename ?? ""]).not.toEqual([200, expect.stringContaining("/")]);
    expect(JSON.stringify(body)).not.toContain("..");
  });

  test("that exceed the size limit are refused, and nothing is left", async () => {
    const who = await rig().service.person();
    const { status, body } = await send(who, [['name="file"; filename="a.bin"', Buffer.alloc(limit + 1)]]);
    expect([status, body.code]).toEqual([413, 3]);
    expect(await left(who)).toEqual({ files: 0, bytes: 0 });
    expect((await send(who, [['name="file"; filename="a.bin"', Buffer.alloc(limit)]])).status).toBe(200);
    expect(await left(who)).toEqual({ files: 1, bytes: limit });
  });

  test("whose form is malformed or truncated are refused, and nothing is left", async () => {
    const who = await rig().service.person();
    expect((await send(who, [['name="file"; filename="a.txt"', "Hello"]], "")).status).toBe(400);
    const noBoundary = await fetch(`${rig().service.url}${prefix}/files`, {
      method: "POST",
      headers: { API_KEY: who.key, "Content-Type": "multipart/form-data" },
      body: "x",
    });
    expect(noBoundary.status).toBe(400);
    expect(await left(who)).toEqual({ files: 0, bytes: 0 });
    expect(rig().service.problems).toEqual([]);
  });

  test("whose sender disconnects leave nothing", async () => {
    const who = await rig().service.person();
    const sending = request(`${rig().service.url}${prefix}/files`, {
      method: "POST",
      headers: {
        API_KEY: who.key,
        "Content-Type": "multipart/form-data; boundary=cut",
        "Content-Length": 100_000,
      },
    });
    sending.on("error", () => undefined);
    sending.write('--cut\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n');
    sending.write("x".repeat(50_000));
    await untilTrue(async () => (await left(who)).bytes > 0);
    sending.destroy();
    await untilTrue(async () => (await left(who)).bytes === 0 && (await left(who)).files === 0);
    expect(rig().service.problems).toEqual([]);
  });

  test("need a credential before a byte is read", async () => {
    const { status } = await fetch(`${rig().service.url}${prefix}/files`, {
      method: "POST",
      body: new FormData(),
    });
    expect(status).toBe(401);
  });

  test("are input of a response: by id, in the request, and as a picture; and its output is returned as files", async () => {
    const { id: file_id } = await client().files.create({
      file: await toFile(Buffer.from("a,b\n1,2\n"), "t.csv"),
      purpose: "user_data",
    });
    const pixel = `data:image/png;base64,${Buffer.from("not really").toString("base64")}`;
    const made = await client().responses.create({
      model: "x",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "[[file answer.md | # Yes]]" },
            { type: "input_file", file_id },
            {
              type: "input_file",
              filename: "n.txt",
              file_data: `data:text/plain;base64,${Buffer.from("Note").toString("base64")}`,
            },
            { type: "input_image", image_url: pixel, detail: "auto" },
          ],
        },
      ],
    });
    await untilStatus(rig().service.store, made.id, "stopped");
    const { body } = await call(rig().service.url, rig().ann, "GET", `${prefix}/responses/${made.id}`);
    const [asked, ...answers] = body.output;
    expect(
      asked.content.map(({ type, fileName }: { type: string; fileName?: string }) => fileName ?? type),
    ).toEqual(["input_text", "t.csv", "n.txt", "image.png"]);
    const files = answers.flatMap(({ content }: { content: { type: string }[] }) =>
      content.filter(({ type }) => type === "output_file"),
    );
    expect(files).toMatchObject([{ fileName: "answer.md", mimeType: "text/markdown" }]);
    expect(await (await fetch(files[0].fileUrl)).text()).toContain("# Yes");
    const items = await client().responses.inputItems.list(made.id);
    expect(items.data).toMatchObject([
      { content: [{ type: "input_text" }, { type: "input_file", filename: "t.csv" }, {}, {}] },
    ]);
    const events = await Array.fromAsync(await client().responses.retrieve(made.id, { stream: true }));
    const parts = events.flatMap((event) =>
      event.type === "response.content_part.done" ? [event.part] : [],
    );
    expect(parts).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: "output_file", fileName: "answer.md" })]),
    );
  });

  test("that are not the caller's, or are not files, are refused with their position", async () => {
    const ask = (content: object) =>
      call(rig().service.url, rig().ann, "POST", `${prefix}/responses`, {
        input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }, content] }],
      });
    const cases = [
      [{ type: "input_file", file_id: "file-nobody" }, "file_id"],
      [{ type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,!" }, "file_data"],
      [{ type: "input_file", file_url: "http://127.0.0.1:1/a.txt" }, "file_url"],
      [{ type: "input_image", image_url: "http://127.0.0.1:1/a.png" }, "image_url"],
      [{ type: "input_image", image_url: "data:image/png;base64,!" }, "image_url"],
    ] as const;
    for (const [content, member] of cases) {
      const { status, body } = await ask(content);
      expect([status, body.error?.param]).toEqual([400, `input[0].content[1].${member}`]);
    }
  });
});
