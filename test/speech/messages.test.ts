import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { type FilePlatform, openFilePlatform, uploadFile } from "../files/files-rig.ts";
import { describeOnOne } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { openSpeechService, type SpeechService, say } from "./service.ts";

const dataOf = (bytes: number): string =>
  `data:audio/wav;base64,${Buffer.alloc(bytes, "a").toString("base64")}`;
const voice = (bytes = 4) => ({ type: "voice", file_data: dataOf(bytes), filename: "a.wav" });
const text = (words: string) => ({ type: "text", text: words });
const offMessage =
  "message.content[0]: the recording was not transcribed: this server does not transcribe speech";

describeOnOne("speech in messages (spec/decisions.md 69)", (database) => {
  let speech: SpeechService;
  let platform: FilePlatform;
  let ann: Person;
  beforeAll(async () => {
    speech = await openSpeechService();
    const env = { TRANSCRIBE_URL: speech.url, TRANSCRIBE_PRICE: "1.5" };
    platform = await openFilePlatform(database, { env });
    ann = await platform.service.person();
  });
  afterAll(async () => {
    await platform[Symbol.asyncDispose]();
    await speech[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    speech.answer = say("Hello");
    speech.heard.length = 0;
  });

  const create = (content: unknown, more = {}, headers = {}) =>
    ann.v2("task.create", { message: { content }, ...more }, { headers });
  const said = async (id: string) => {
    const { body } = await ann.v2("task.listMessages", { task_id: id, order: "asc" });
    return body["messages"].flatMap(({ user_message: said }: { user_message?: object }) => said ?? []);
  };
  const creditsOf = async (id: string) =>
    (await ann.v2("task.detail", { task_id: id })).body["task"].credit_usage;

  test("a transcript is text of the message in the place of its part, and the title; the recording stays an attachment", async () => {
    const answers = ["Buy tea\nand milk", "Thanks"];
    speech.answer = (reply, heard) => say(answers.shift() ?? "")(reply, heard);
    const { id: file_id } = await uploadFile(platform, ann, "RIFF");
    const { body } = await create([{ type: "voice", file_id }, text("today")]);
    expect(body).toMatchObject({ ok: true, task_title: "Buy tea" });
    expect(body).not.toHaveProperty("warnings");
    const message = { content: [text("Dear agent"), voice()] };
    expect((await ann.v2("task.sendMessage", { task_id: body["task_id"], message })).status).toBe(200);
    expect(await said(body["task_id"])).toMatchObject([
      { content: "Buy tea\nand milk\ntoday", message_type: "voice", attachments: [{ type: "voice" }] },
      {
        content: "Dear agent\nThanks",
        message_type: "voice",
        attachments: [{ type: "voice", filename: "a.wav" }],
      },
    ]);
  });

  test("the limit of 5,000 tokens counts written text, not speech", async () => {
    speech.answer = say("w".repeat(19_999));
    expect((await create([voice(), text("w".repeat(20_000))])).status).toBe(200);
    speech.heard.length = 0;
    expect((await create([voice(), text("w".repeat(20_001))])).status).toBe(400);
    expect(speech.heard, "a refused message is not sent").toHaveLength(0);
  });

  test("a failure is a warning on v2 and gRPC, and the recording a file", async () => {
    speech.answer = (reply) => void reply.writeHead(503).end("private");
    const warning = "message.content[0]: the recording was not transcribed: the transcription service failed";
    const { body } = await create([voice()], { unknown_one: 1 });
    expect(body["warnings"]).toEqual(['unknown member "unknown_one"', warning]);
    expect(await said(body["task_id"])).toMatchObject([
      { content: "", message_type: "voice", attachments: [{ type: "voice" }] },
    ]);
    expect(await creditsOf(body["task_id"])).toBeUndefined();
    const message = { content: [{ type: ContentPartType.VOICE, fileData: dataOf(4), filename: "a.wav" }] };
    const client = ann.client(TaskService, "grpc");
    expect((await client.sendMessage({ taskId: body["task_id"], message })).warnings).toEqual([warning]);
    await expect(client.sendMessage({ taskId: "unknown", message })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    expect(speech.heard, "for an unknown task nothing is sent").toHaveLength(2);
  });

  test("a repeat with its Idempotency-Key has the stored answer, and transcribes nothing", async () => {
    speech.answer = (reply) => void reply.writeHead(503).end();
    const repeat = () => create([voice()], {}, { "idempotency-key": `once-${database}` });
    const [first, second] = [await repeat(), await repeat()];
    expect(second.body["task_id"]).toBe(first.body["task_id"]);
    expect(second.body["warnings"]).toEqual(first.body["warnings"]);
    expect([first.body["warnings"], speech.heard.length]).toEqual([[expect.stringContaining("failed")], 1]);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(
      (await create([voice(5)], {}, { "idempotency-key": `once-${database}` })).status,
      "another request",
    ).toBe(409);
    expect(speech.heard).toHaveLength(1);
  });

  test("transcripts cost credits of their task, rounded up once, and count toward budgets", async () => {
    const mebibyte = 1024 * 1024;
    const { body } = await create([voice(mebibyte)]);
    const id = body["task_id"];
    expect(await creditsOf(id)).toBe(2);
    const send = (bytes: number) =>
      ann.v2("task.sendMessage", { task_id: id, message: { content: [voice(bytes)] } });
    await send(mebibyte / 3);
    expect(await creditsOf(id), "half a credit was prepaid").toBe(2);
    await ann.client(BudgetService).setBudget({ kind: BudgetKind.TASK, subject: id, credits: 4n });
    await send(mebibyte);
    expect(await creditsOf(id)).toBe(4);
    const heard = speech.heard.length;
    expect((await send(mebibyte)).body["warnings"]).toEqual([
      "message.content[0]: the recording was not transcribed: a budget has too few credits",
    ]);
    expect([await creditsOf(id), speech.heard.length]).toEqual([4, heard]);
    const usage = await ann.v2("usage.list");
    expect(usage.body["data"]).toContainEqual(expect.objectContaining({ task_id: id, credits: -4 }));
  });

  test("without the setting a recording is a file, and the answer warns", async () => {
    await using plain = await openFilePlatform(database);
    const person = await plain.service.person();
    const { body } = await person.v2("task.create", { message: { content: [voice()] } });
    expect([body["task_title"], body["warnings"]]).toEqual(["a.wav", [offMessage]]);
  });
});
