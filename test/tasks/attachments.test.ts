import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import {
  createSlot,
  type FilePlatform,
  openFilePlatform,
  put,
  readBlobTotals,
  until,
  uploadFile,
} from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Person } from "../support/service.ts";
import { invalid } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";

const test = sampledTest(2);

const csv = "name,amount\ntea,1\ncoffee,3\n";
const code = "export const answer: number = 42;\n";
const dataOf = (text: string | Uint8Array, type = "text/csv"): string =>
  `data:${type};base64,${Buffer.from(text).toString("base64")}`;
const file = (more: object) => ({ type: "file", ...more });

/** The files of another server: a table at any address except `/none`. */
async function startFileServer(): Promise<Server> {
  const server = createServer((request, answer) => {
    if (request.url === "/none") answer.writeHead(404).end();
    else if (request.url === "/large")
      answer.writeHead(200, { "content-length": 20 * 1024 * 1024 + 1 }).end("a");
    else if (request.url === "/cut")
      answer.writeHead(200, { "content-length": 100 }).write("a", () => answer.destroy());
    else if (request.url === "/virus.exe") answer.writeHead(200).end(csv);
    else if (request.url === "/app.ts") answer.writeHead(200, { "content-type": "video/mp2t" }).end(code);
    else if (request.url === "/untyped.ts") answer.writeHead(200).end(code);
    else answer.writeHead(200, { "content-type": "text/csv; charset=utf-8" }).end(csv);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describeOnOne("files in messages", (database) => {
  let platform: FilePlatform;
  let ann: Person;
  let fileServer: Server;
  let address: string;

  beforeAll(async () => {
    platform = await openFilePlatform(database, { env: { FETCH_ALLOW: "loopback" }, idle: false });
    ann = await platform.service.person();
    fileServer = await startFileServer();
    address = `http://127.0.0.1:${(fileServer.address() as AddressInfo).port}`; // The server listens on TCP.
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    await new Promise((resolve) => fileServer.close(resolve));
  });

  const create = (content: unknown, who: Pick<Person, "v2"> = ann) =>
    who.v2("task.create", { message: { content } });

  async function createSettledTask(content: unknown): Promise<string> {
    const { body } = await create(content);
    if (!body.ok) throw new Error(JSON.stringify(body));
    await untilStatus(platform.service.store, body["task_id"], "stopped");
    return body["task_id"];
  }

  async function events(id: string) {
    const { body } = await ann.v2("task.listMessages", { task_id: id, order: "asc" });
    return body["messages"];
  }
  const brought = async (id: string) => (await events(id))[0].user_message;

  test("are at most 1,000 parts of a message, on every wire", async () => {
    const parts = (count: number) => [
      { type: "text", text: "[[forever]]" },
      ...Array(count - 1).fill({ type: "text", text: "" }),
    ];
    expect((await create(parts(1000))).status).toBe(200);
    const { status, body } = await create(parts(1001));
    expect([status, body.error]).toMatchObject([
      400,
      { code: "invalid_argument", message: expect.stringMatching(/^message\.content: /) },
    ]);
    const content = Array.from({ length: 1001 }, () => ({ type: ContentPartType.TEXT, text: "" }));
    await expect(ann.client(TaskService).createTask({ message: { content } })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });

  test("are no longer fetched when the caller disconnects, and nothing is stored", async () => {
    const asked: string[] = [];
    const arrived = Promise.withResolvers<void>();
    const slow = createServer((request, answer) => {
      asked.push(request.url ?? "");
      if (asked.length === 1) answer.end(csv);
      else arrived.resolve(); // It sends nothing more.
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const { port } = slow.address() as AddressInfo; // The server listens on TCP.
    const gone = new AbortController();
    const content = Array.from({ length: 5 }, (_, i) => ({
      type: ContentPartType.FILE,
      fileUrl: `http://127.0.0.1:${port}/${i}`,
    }));
    const before = platform.stored().length;
    const call = ann.client(TaskService).createTask({ message: { content } }, { signal: gone.signal });
    await arrived.promise;
    gone.abort();
    await expect(call).rejects.toMatchObject({ code: Code.Canceled });
    await until(
      async () =>
        platform.stored().length === before &&
        (await readBlobTotals(platform.database)).blobs.every(({ state }) => state === "kept"),
    );
    slow.closeAllConnections();
    await new Promise((resolve) => slow.close(resolve));
    expect(asked).toEqual(["/0", "/1"]);
  });
  const download = (url: string) => fetch(platform.reach(url));

  test("a closed port is reported like a forbidden address", async () => {
    const errorFor = async (file_url: string) => (await create([file({ file_url })])).body.error?.message;
    expect(await errorFor("http://127.0.0.1:1/a.csv")).toBe(await errorFor("http://10.0.0.1/a.csv"));
  });

  test("an upload becomes an attachment with a link that needs no key, and the agent has read it", async () => {
    const { id: file_id } = await uploadFile(platform, ann, csv, "q3.csv");
    const id = await createSettledTask([
      { type: "text", text: "Sum this up" },
      file({ file_id, filename: "other.txt" }),
    ]);
    const { content, message_type, attachments } = await brought(id);
    expect({ content, message_type }).toEqual({ content: "Sum this up", message_type: "text" });
    expect(attachments).toEqual([
      {
        type: "file",
        filename: "q3.csv",
        content_type: "text/csv",
        url: expect.stringMatching(/^https:\/\/platform\.test\//),
      },
    ]);
    const reply = await download(attachments[0].url);
    expect({ status: reply.status, text: await reply.text() }).toEqual({ status: 200, text: csv });
    const answer = (await events(id)).find(({ type }: { type: string }) => type === "assistant_message");
    expect(answer.assistant_message.content).toContain("File q3.csv (text/csv, 27 bytes): 3 lines, 3 words");
  });

  test("bytes in the message, and at an address, become files of the caller, with their stated names and types", async () => {
    const content = [
      file({ file_data: dataOf(csv, "text/csv;charset=utf-8"), filename: "a.csv" }),
      file({ file_data: dataOf(csv), filename: "b.txt", mime_type: "Text/Plain; charset=utf-8" }),
      file({ file_data: dataOf(csv, "text/csv") }),
      file({ file_url: `${address}/tables/c.csv?x=1` }),
      file({ file_url: `${address}/` }),
      file({ file_url: `${address}/c.csv`, filename: "d.png", mime_type: "image/png" }),
    ];
    const id = await createSettledTask(content);
    const { content: text, attachments } = await brought(id);
    expect(text).toBe("");
    expect(
      attachments.map(({ type, filename, content_type }: Record<string, string>) => [
        type,
        filename,
        content_type,
      ]),
    ).toEqual([
      ["file", "a.csv", "text/csv"],
      ["file", "b.txt", "text/plain"],
      ["file", "file.csv", "text/csv"],
      ["file", "c.csv", "text/csv"],
      ["file", "file.csv", "text/csv"],
      ["image", "d.png", "image/png"],
    ]);
    for (const { url } of attachments) expect(await (await download(url)).text()).toBe(csv);
  });

  test("TypeScript has its own type from every source, and the agent reads it as text", async () => {
    const { id: file_id } = await uploadFile(platform, ann, code, "app.ts");
    const content = [
      file({ file_id }),
      file({ file_url: `${address}/app.ts` }),
      file({ file_url: `${address}/untyped.ts` }),
      file({ file_data: dataOf(code, "video/mp2t"), filename: "view.tsx" }),
      file({ file_data: dataOf(code, "video/mp2t"), filename: "clip.ts", mime_type: "video/mp2t" }),
    ];
    const id = await createSettledTask([{ type: "text", text: "Look" }, ...content]);
    const types = (await brought(id)).attachments.map(
      ({ content_type }: Record<string, string>) => content_type,
    );
    expect(types).toEqual([...Array(4).fill("text/typescript"), "video/mp2t"]);
    const answer = (await events(id)).find(({ type }: { type: string }) => type === "assistant_message");
    expect(answer.assistant_message.content).toContain("File app.ts (text/typescript, 34 bytes)");
  });

  test("files may come without text: the title is the first file's name; they may also come with a later message", async () => {
    const { body } = await create([file({ file_data: dataOf("hi", "text/plain"), filename: "hello.txt" })]);
    expect(body).toMatchObject({ ok: true, task_title: "hello.txt" });
    await untilStatus(platform.service.store, body["task_id"], "stopped");
    const message = {
      content: [{ type: "voice", file_data: dataOf("RIFF", "audio/wav"), filename: "a.wav" }],
    };
    expect(await ann.v2("task.sendMessage", { task_id: body["task_id"], message })).toMatchObject({
      status: 200,
    });
    const said = (await events(body["task_id"]))
      .filter(({ type }: { type: string }) => type === "user_message")
      .at(-1).user_message;
    expect(said).toMatchObject({
      content: "",
      message_type: "voice",
      attachments: [{ type: "voice", filename: "a.wav", content_type: "audio/wav" }],
    });
  });

  test("an app that may only create tasks adds files as its own, and no other files of its user", async () => {
    const [own, other] = [await tokenOf(platform.service, ann), await tokenOf(platform.service, ann)];
    const { id: file_id } = await uploadFile(platform, own);
    expect(await create([file({ file_id })], own)).toMatchObject({ status: 200 });
    const theirs = [(await uploadFile(platform, other)).id, (await uploadFile(platform, ann)).id];
    for (const id of theirs) {
      expect(await create([file({ file_id: id })], own)).toMatchObject(
        invalid("message.content[0].file_id: is unknown"),
      );
    }
    const made = await create([file({ file_data: dataOf(csv), filename: "a.csv" })], own);
    expect(made.status).toBe(200);
    const { body } = await ann.v2("task.listMessages", { task_id: made.body["task_id"], order: "asc" });
    const [id] = /file-[A-Za-z0-9]+/.exec(body["messages"][0].user_message.attachments[0].url) ?? [];
    expect(
      (await own.v2("file.detail", { file_id: id })).status,
      "what it brought is tagged with the app",
    ).toBe(200);
    expect((await other.v2("file.detail", { file_id: id })).status).toBe(404);
  });

  test("attachments have links on the stream too, on v2 and gRPC", async () => {
    const id = await createSettledTask([file({ file_data: dataOf(csv), filename: "a.csv" })]);
    const url = expect.stringMatching(/^https:\/\/platform\.test\/downloads\/file-/);
    const stream = await fetch(`${platform.service.url}/v2/task.watch?task_id=${id}&until_settled=true`, {
      headers: ann.headers,
    });
    const [, data = ""] =
      /event: user_message\n(?:id: .*\n)?data: (.*)/.exec((await stream.text()).replace(/^id: .*\n/gm, "")) ??
      [];
    expect(JSON.parse(data).user_message.attachments).toMatchObject([{ filename: "a.csv", url }]);
    for await (const { event } of ann
      .client(TaskService, "grpc")
      .watchTask({ taskId: id, untilSettled: true })) {
      if (event?.payload.case !== "userMessage") continue;
      expect(event.payload.value.attachments).toMatchObject([
        { filename: "a.csv", contentType: "text/csv", url },
      ]);
      return;
    }
    expect.unreachable("the stream has the message");
  });

  test("an agent's file has a link, which ends with the task, and no detail; the link of a user's file stays", async () => {
    const { id: file_id } = await uploadFile(platform, ann);
    const id = await createSettledTask([
      { type: "text", text: "[[file sums.csv | a,b]]" },
      file({ file_id }),
    ]);
    const made = (await events(id)).find(
      ({ type }: { type: string }) => type === "assistant_message",
    ).assistant_message;
    expect(made).toMatchObject({
      content: "Here is sums.csv.",
      attachments: [{ type: "file", filename: "sums.csv", content_type: "text/csv" }],
    });
    const { url } = made.attachments[0];
    expect(await (await download(url)).text()).toBe("a,b");
    const [artefact] = /file-[A-Za-z0-9]+/.exec(url) ?? [];
    expect(await ann.v2("file.detail", { file_id: artefact })).toMatchObject({
      status: 404,
      body: { error: { message: "file not found" } },
    });
    const own = (await brought(id)).attachments[0].url;
    expect((await ann.v2("task.delete", { task_id: id })).status).toBe(200);
    expect((await download(url)).status).toBe(404);
    expect((await download(own)).status).toBe(200);
  });

  describe("refuses, without creating anything:", () => {
    const part = "message.content[1]";
    const gone = async () => {
      const { id } = await uploadFile(platform, ann);
      await ann.v2("file.delete", { file_id: id });
      return { file_id: id };
    };
    const foreign = async () => ({
      file_id: (await uploadFile(platform, await platform.service.person())).id,
    });
    const artefact = async () => {
      const made = (await events(await createSettledTask("[[file a.txt | a]]"))).find(
        ({ type }: { type: string }) => type === "assistant_message",
      );
      return { file_id: /file-[A-Za-z0-9]+/.exec(made.assistant_message.attachments[0].url)?.[0] };
    };
    const data = dataOf("hi", "text/plain");
    const name = { file_data: data };

    const failed = `${part}.file_url: could not be fetched: `;
    test.each<[why: string, more: object | (() => Promise<object>), named: string]>([
      ["an unknown file", { file_id: "file-nothing" }, `${part}.file_id: is unknown`],
      ["another account's file", foreign, `${part}.file_id: is unknown`],
      ["an artefact of a task", artefact, `${part}.file_id: is unknown`],
      [
        "a file that is not uploaded",
        async () => ({ file_id: (await createSlot(platform, ann)).id }),
        `${part}.file_id: is not uploaded yet`,
      ],
      ["a file that is deleted", gone, `${part}.file_id: is deleted`],
      ["no source", {}, `${part}: must have exactly one of`],
      [
        "two sources",
        { file_id: "f", file_data: data, filename: "a.txt" },
        `${part}: must have exactly one of`,
      ],
      [
        "data without a name, of a forbidden kind",
        { file_data: dataOf("hi", "application/x-sh") },
        `${part}.mime_type: executables`,
      ],
      ["bare base64", { file_data: "aGk=", filename: "a.txt" }, `${part}.file_data: must be data:`],
      [
        "data without a type",
        { file_data: "data:;base64,aGk=", filename: "a.txt" },
        `${part}.file_data: must be data:`,
      ],
      [
        "data that is not base64",
        { file_data: `${data}!`, filename: "a.txt" },
        `${part}.file_data: must be base64`,
      ],
      [
        "data without its padding",
        { file_data: data.slice(0, -1), filename: "a.txt" },
        `${part}.file_data: must be base64`,
      ],
      ["a forbidden kind", { ...name, filename: "run.sh" }, `${part}.filename: executables`],
      ["a disguised forbidden kind", { ...name, filename: "run.EXE. " }, `${part}.filename: executables`],
      [
        "a path for a name",
        { ...name, filename: "../../etc/passwd" },
        `${part}.filename: must be a name, not a path`,
      ],
      [
        "an invalid media type",
        { ...name, filename: "a.txt", mime_type: "text" },
        `${part}.mime_type: must be a media type`,
      ],
      [
        "a media type of 256 characters",
        { ...name, filename: "a.txt", mime_type: "a/".padEnd(256, "b") },
        `${part}.mime_type`,
      ],
      [
        "an address that answers 404",
        () => Promise.resolve({ file_url: `${address}/none` }),
        `${failed}the server answered with status 404, not with 200`,
      ],
      [
        "an address with too many bytes",
        () => Promise.resolve({ file_url: `${address}/large` }),
        `${failed}the file must be at most 20971520 bytes`,
      ],
      [
        "an address with a truncated answer",
        () => Promise.resolve({ file_url: `${address}/cut` }),
        `${failed}the connection failed before the complete`,
      ],
      [
        "an address of a forbidden kind",
        () => Promise.resolve({ file_url: `${address}/virus.exe` }),
        `${part}.file_url: executables`,
      ],
      [
        "an address of another scheme",
        { file_url: "file:///etc/passwd" },
        `${failed}it must be an http or https URL`,
      ],
      [
        "a link-local address",
        { file_url: "http://169.254.169.254/latest" },
        `${failed}the address must be public`,
      ],
    ])("%s", async (_why, more, named) => {
      const extra = typeof more === "function" ? await more() : more;
      const before = (await ann.v2("task.list")).body["data"].length;
      const good = file({ file_data: data, filename: "good.txt" });
      expect(await create([good, file(extra)])).toMatchObject(invalid(named));
      expect(await create([good, { type: "voice", ...extra }])).toMatchObject(invalid(named));
      expect((await ann.v2("task.list")).body["data"]).toHaveLength(before);
    });

    test("more than 20 MB of data, but accepts exactly 20 MB", async () => {
      const max = 20 * 1024 * 1024;
      const over = await create([file({ file_data: dataOf(Buffer.alloc(max + 1)), filename: "a.bin" })]);
      expect(over).toMatchObject(invalid("message.content[0].file_data: is over 20 MB"));
      expect(await create([file({ file_data: dataOf(Buffer.alloc(max)), filename: "a.bin" })])).toMatchObject(
        { status: 200 },
      );
    });

    test.each([
      "connect-json",
      "connect-binary",
      "grpc",
      "grpc-web",
    ] as const)("on %s what v2 refuses, and accepts what v2 accepts", async (wire) => {
      const client = ann.client(TaskService, wire);
      const withPart = (more: object) =>
        client.createTask({ message: { content: [{ type: ContentPartType.FILE, ...more }] } });
      const refused = {
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining("message.content[0].file_data: must be base64"),
      };
      await expect(withPart({ fileData: "data:a/b;base64,!", filename: "a.txt" })).rejects.toMatchObject(
        refused,
      );
      expect(await withPart({ fileData: data, filename: "a.txt" })).toMatchObject({ taskTitle: "a.txt" });
    });
  });
});

test("a loopback address is refused unless the operator allows it, like one without an answer", async () => {
  await using platform = await openFilePlatform("sqlite");
  const ann = await platform.service.person();
  const fileServer = await startFileServer();
  const { port } = fileServer.address() as AddressInfo; // The server listens on TCP.
  const texts = new Set<string | undefined>();
  for (const file_url of [`http://127.0.0.1:${port}/a.csv`, `http://127.0.0.1:1/a.csv`]) {
    const reply = await ann.v2("task.create", { message: { content: [file({ file_url })] } });
    expect(reply).toMatchObject(
      invalid("message.content[0].file_url: could not be fetched: the address must be public"),
    );
    texts.add(reply.body.error?.message);
  }
  expect(texts.size).toBe(1);
  expect(platform.stored()).toEqual([]);
  await new Promise((resolve) => fileServer.close(resolve));
});

test("a refused message does not store an incomplete upload", async () => {
  await using platform = await openFilePlatform("sqlite");
  const ann = await platform.service.person();
  const slot = await createSlot(platform, ann);
  const message = { content: [file({ file_id: slot.id })] };
  expect(await ann.v2("task.create", { message })).toMatchObject(
    invalid("message.content[0].file_id: is not uploaded yet"),
  );
  await put(slot.url, "hi");
  expect(await ann.v2("task.create", { message })).toMatchObject({ status: 200 });
});
