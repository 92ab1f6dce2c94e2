import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { transcriber } from "../../src/adapters/transcription/endpoint.ts";
import { transcripts } from "../../src/adapters/transcription/transcripts.ts";
import type { Caller } from "../../src/core/accounts/caller.ts";
import type { Recording } from "../../src/core/files/fetch-files.ts";
import { stillClock } from "../support/still-clock.ts";
import { openSpeechService, type SpeechService, say } from "./service.ts";

const caller = (accountId: string): Caller => ({
  ...{ accountId, spaceId: "space", role: null, locale: "en" },
  credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
});
const recording = (index: number, bytes = 4): Recording => ({
  ...{ path: `message.content[${index}]`, filename: 'my "secret" name.WAV', bytes },
  read: async () => Readable.from([Buffer.alloc(bytes, "a")]),
});
const warning = (index: number, reason: string) =>
  `message.content[${index}]: the recording was not transcribed: ${reason}`;
const never = new AbortController().signal;

let service: SpeechService;
beforeAll(async () => {
  service = await openSpeechService();
});
afterAll(() => service[Symbol.asyncDispose]());

let clock = stillClock();
let logged: unknown[] = [];
beforeEach(() => {
  clock = stillClock();
  logged = [];
  service.heard.length = 0;
  service.answer = say("Hello");
});
afterEach(() => expect(JSON.stringify(logged)).not.toMatch(/aaaa|private|key-of-service/));

function transcribing(price = 0) {
  const transcribe = transcriber({ baseUrl: service.url, model: "whisper-1", apiKey: "key-of-service" });
  const store = { budgets: { listFor: async () => [] }, tasks: {} } as unknown as Parameters<
    typeof transcripts
  >[0]["store"];
  const transcribeAll = transcripts({
    transcribe,
    price,
    store,
    clock,
    log: (...line) => void logged.push(line),
  });
  return (recordings: readonly Recording[], { account = "ann", gone = never } = {}) =>
    transcribeAll(caller(account), {}, recordings, gone);
}

test("a request has the audio, the model and the key, and of the name only the extension", async () => {
  const { texts, warnings } = await transcribing()([recording(1, 300_000)]);
  expect([...texts, warnings]).toEqual([["message.content[1]", "Hello"], []]);
  const [{ path, headers, form } = { path: "", headers: {}, form: new FormData() }] = service.heard;
  expect([path, headers.authorization]).toEqual(["/v1/audio/transcriptions", "Bearer key-of-service"]);
  expect(["model", "response_format"].map((name) => form.get(name))).toEqual(["whisper-1", "json"]);
  const file = form.get("file");
  expect(file).toMatchObject({ name: "audio.WAV", size: 300_000 });
});

test.each([
  ["another status", (reply) => void reply.writeHead(500).end('{"error":"private"}')],
  ["a redirect", (reply) => void reply.writeHead(302, { location: "http://127.0.0.1:1/private" }).end()],
  ["another form", (reply) => void reply.writeHead(200).end('{"words":"private"}')],
  ["no JSON", (reply) => void reply.writeHead(200).end("private")],
  [
    "a cut answer",
    (reply) => void reply.writeHead(200, { "content-length": 100 }).write("private", () => reply.destroy()),
  ],
  [
    "a huge answer",
    (reply) => void reply.writeHead(200).end(JSON.stringify({ text: "private ".repeat(100_000) })),
  ],
] satisfies [
  string,
  SpeechService["answer"],
][])("%s of the service is a warning without its text", async (_, answer) => {
  service.answer = answer;
  const { texts, warnings, price } = await transcribing(1_000_000)([recording(0)]);
  expect([texts.size, warnings, price]).toEqual([0, [warning(0, "the transcription service failed")], 0n]);
  expect(service.heard).toHaveLength(1);
  expect(logged).toHaveLength(1);
});

test("a recording of 20 MiB is transcribed; a larger one is not sent", async () => {
  const most = 20 * 1024 * 1024;
  const { texts, warnings } = await transcribing()([recording(0, most + 1), recording(1, most)]);
  expect([[...texts.keys()], warnings]).toEqual([["message.content[1]"], [warning(0, "it is over 20 MiB")]]);
});

test("transcripts have at most 20,000 characters in all, without control characters", async () => {
  const texts = ["a".repeat(19_990), "b".repeat(11), "\0c\u001b\ud800\td\n"];
  service.answer = (reply, heard) => say(texts[service.heard.indexOf(heard)] ?? "")(reply, heard);
  const transcribe = transcribing(1_048_576);
  // One at a time, so that the answers come in order.
  const first = await transcribe([recording(0)]);
  expect(first.texts.get("message.content[0]")).toHaveLength(19_990);
  service.answer = say("x".repeat(10_001));
  const second = await transcribe([recording(0), recording(1)]);
  expect([...second.texts.keys(), ...second.warnings]).toEqual([
    "message.content[0]",
    warning(1, "the transcripts have over 20000 characters"),
  ]);
  expect(second.price, "only what is delivered is charged").toBe(4n);
  service.answer = say(texts[2] ?? "");
  expect((await transcribe([recording(0)])).texts.get("message.content[0]")).toBe("c\ufffd\td");
});

test("two recordings of an account are sent at a time, those of others next to them", async () => {
  const replies: (() => void)[] = [];
  const arrived: (() => void)[] = [];
  service.answer = (reply, heard) => {
    replies.push(() => say("Hello")(reply, heard));
    arrived.shift()?.();
  };
  const untilHeard = async (count: number) => {
    while (service.heard.length < count) await new Promise<void>((resolve) => arrived.push(resolve));
  };
  const sizes = () => service.heard.map(({ form }) => (form.get("file") as File).size).toSorted(); // It is always sent as a file.
  const transcribe = transcribing();
  const ann = transcribe([1, 2, 3].map((bytes, i) => recording(i, bytes)));
  await untilHeard(2);
  const bob = transcribe([recording(0, 9)], { account: "bob" });
  await untilHeard(3);
  expect(sizes(), "the third of ann waits").toEqual([1, 2, 9]);
  for (const reply of replies) reply();
  await untilHeard(4);
  replies[3]?.();
  expect((await ann).texts.size).toBe(3);
  expect((await bob).texts.size).toBe(1);
});

test("after 60 s the transcripts that are there count, and the others have a warning; the queue continues", async () => {
  const slow = Promise.withResolvers<void>();
  service.answer = (reply, heard) => {
    if (service.heard.length === 1) return say("First")(reply, heard);
    if (service.heard.length === 3) slow.resolve();
  };
  const transcribe = transcribing();
  const result = transcribe([0, 1, 2, 3].map((i) => recording(i)));
  await slow.promise;
  await clock.advance(59_000);
  await clock.advance(1_000);
  const { texts, warnings } = await result;
  expect([texts.size, warnings.length, warnings[0]]).toEqual([
    1,
    3,
    expect.stringContaining("more than 60 s"),
  ]);
  service.answer = say("Again");
  expect((await transcribe([recording(0)])).texts.size).toBe(1);
  expect(service.heard, "the one that waited was never sent").toHaveLength(4);
});

test("a caller that leaves ends the requests", async () => {
  const gone = new AbortController();
  const closed = Promise.withResolvers<void>();
  service.answer = (reply) => {
    reply.on("close", closed.resolve);
    gone.abort();
  };
  await expect(transcribing()([recording(0)], { gone: gone.signal })).rejects.toMatchObject({
    reason: "cancelled",
  });
  await closed.promise;
});

test("at most ten warnings name recordings; the last one counts the others", async () => {
  const { warnings } = await transcribing()(Array.from({ length: 30 }, (_, i) => recording(i, 30_000_000)));
  expect([warnings.length, warnings.at(-1)]).toEqual([10, "21 more recordings were not transcribed"]);
});
