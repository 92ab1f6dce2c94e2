import OpenAI, { toFile } from "openai";
import type { Response } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { taskRig } from "../../support/task-rig.ts";
import { prefixes, sdk } from "./facade-rig.ts";

/** The facade's extensions, which the SDK's types do not know. */
const wordsOf = ({ status, metadata }: Response) => ({ status: String(status), metadata });

describe.each(prefixes)("the unmodified SDK below %j", (prefix) => {
  const rig = taskRig();
  const client = () => sdk(rig.service.url, rig.ann, prefix);

  /** Polls as the specification requires: until the status is not `running`. */
  async function finished(id: string): Promise<Response> {
    await rig.reach(id, "stopped");
    return client().responses.retrieve(id);
  }

  test("sends the key as its apiKey, without a custom header, for responses and files", async () => {
    const plain = new OpenAI({ baseURL: rig.service.url + prefix, apiKey: rig.ann.key, maxRetries: 0 });
    const { id } = await plain.responses.create({ model: "gpt-5", input: "[[say Hello]]" });
    await finished(id);
    expect((await plain.responses.retrieve(id)).output_text).toContain("Hello");
    const { id: fileId } = await plain.files.create({
      file: await toFile(Buffer.from("a,b\n"), "a.csv"),
      purpose: "user_data",
    });
    expect((await plain.files.list()).data.map((file) => file.id)).toContain(fileId);
  });

  test.each([
    "sk-proj-of-another-vendor",
    "placeholder",
  ])("with apiKey %s is refused, and says which header would do", async (apiKey) => {
    const foreign = new OpenAI({ baseURL: rig.service.url + prefix, apiKey, maxRetries: 0 });
    const refused = await foreign.responses
      .create({ model: "gpt-5", input: "x" })
      .catch((thrown: unknown) => thrown);
    if (!(refused instanceof OpenAI.AuthenticationError)) throw refused;
    expect(refused.headers.get("x-accepted-credentials")).toBe("x-service-api-key, authorization");
  });

  test("has its apiKey ignored in favor of the header API_KEY, even when the apiKey is another key of this service", async () => {
    const other = await rig.service.person();
    const mixed = new OpenAI({
      baseURL: rig.service.url + prefix,
      apiKey: other.key,
      defaultHeaders: { API_KEY: rig.ann.key },
      maxRetries: 0,
    });
    const { id } = await mixed.responses.create({ model: "gpt-5", input: "[[say Hello]]" });
    expect((await client().responses.retrieve(id)).id).toBe(id);
  });

  test("lists the profiles as models, and finds one by its name (spec/v1.md 7.7)", async () => {
    const models = await Array.fromAsync(client().models.list());
    expect(models.map(({ id }) => id)).toEqual(["manus-1.6", "manus-1.6-lite", "manus-1.6-max"]);
    expect(await client().models.retrieve("manus-1.6-lite")).toMatchObject({
      id: "manus-1.6-lite",
      object: "model",
      owned_by: "platform",
    });
    await expect(client().models.retrieve("gpt-5")).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(sdk(rig.service.url, { key: "sk-wrong" }, prefix).models.list()).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
  });

  test("holds a create with background: false until the answer is there, also of a follow-up", async () => {
    const { id, output_text } = await client().responses.create({
      model: "x",
      input: "[[sleep 0.2]] [[say Hello]]",
      background: false,
    });
    expect(output_text).toMatch(/^Hello/);
    const more = await client().responses.create({
      model: "x",
      input: "[[say Bye]]",
      background: false,
      previous_response_id: id,
    });
    expect([more.id, wordsOf(more).status]).toEqual([id, "completed"]);
    expect(more.output_text).toContain("Bye");
  });

  test("keeps metadata: a follow-up merges its own, and facts about the task take precedence", async () => {
    const first = await client().responses.create({
      model: "gpt-5",
      input: "Hi",
      metadata: { ticketId: "42", task_title: "mine" },
    });
    expect(first.metadata).toMatchObject({ ticketId: "42", task_title: "Hi" });
    const next = await client().responses.create({
      model: "gpt-5",
      input: "Go on",
      previous_response_id: first.id,
      metadata: { colour: "red" },
    });
    expect(next.metadata).toMatchObject({ ticketId: "42", colour: "red" });
    await expect(
      client().responses.create({ model: "gpt-5", input: "Hi", metadata: { "a b": "x" } }),
    ).rejects.toMatchObject({
      status: 400,
    });
  });

  test("has its own status values on request, with the platform's in the metadata (spec/v1.md 7.3)", async () => {
    const headers = { Prefer: "status=openai" };
    const { data, response } = await client()
      .responses.create({ model: "x", input: "[[forever]]", background: true }, { headers })
      .withResponse();
    expect([data.status, data.metadata?.["status"]]).toEqual(["in_progress", "running"]);
    expect(response.headers.get("preference-applied")).toBe("status=openai");
    const stopped = await client().responses.cancel(data.id, { headers });
    expect([stopped.status, stopped.metadata?.["status"]]).toEqual(["cancelled", "completed"]);
    expect((await client().responses.retrieve(data.id, {}, { headers })).status).toBe("cancelled");
    const ends = ["[[say Hi]]", "[[ask Which?]]", "[[fail timeout | Late]]"].map((input) =>
      client().responses.stream({ model: "x", input }, { headers }).finalResponse(),
    );
    expect((await Promise.all(ends)).map(({ status, metadata }) => [status, metadata?.["status"]])).toEqual([
      ["completed", "completed"],
      ["incomplete", "pending"],
      ["failed", "error"],
    ]);
  });

  describe("with text.format", () => {
    const text = {
      format: {
        type: "json_schema",
        name: "sum",
        strict: true,
        schema: {
          $schema: "http://json-schema.org/draft-07/schema#",
          type: "object",
          properties: { grandTotal: { type: "number" } },
          required: ["grandTotal"],
          additionalProperties: false,
        },
      },
    } as const;
    const input = '[[progress Half way]] [[value {"grandTotal": 48}]]';

    test("parses the value, which is the only output text", async () => {
      const parsed = await client().responses.parse({ model: "x", input, text, background: false });
      expect(parsed.output_parsed).toEqual({ grandTotal: 48 });
      expect(JSON.parse(parsed.output_text)).toEqual({ grandTotal: 48 });
      const types = parsed.output.flatMap((item) =>
        item.type === "message" ? item.content.map(({ type }) => String(type)) : [],
      );
      expect([types[0], types.at(1), types.at(-1)]).toEqual(["input_text", "text", "output_text"]);
    });

    test("streams the value as the last message, and parses it from the final response", async () => {
      const stream = client().responses.stream({ model: "x", input, text });
      const texts: string[] = [];
      stream.on("response.output_text.done", ({ text: done }) => texts.push(done));
      const final = await stream.finalResponse();
      expect(JSON.parse(texts.at(-1) ?? "")).toEqual({ grandTotal: 48 });
      expect(JSON.parse(final.output_text)).toEqual({ grandTotal: 48 });
      expect((await client().responses.retrieve(final.id)).output_text).toBe(final.output_text);
    });

    test("has a refusal instead of a value that could not be extracted, and answers the next turn as before", async () => {
      const failed = await client().responses.parse({
        model: "x",
        input: '[[value {"grandTotal": "x"}]]',
        text,
        background: false,
      });
      expect([failed.output_text, failed.output_parsed]).toEqual(["", null]);
      expect(failed.output.at(-1)).toMatchObject({
        content: [{ type: "refusal", refusal: expect.stringContaining("schema") }],
      });
      const next = await client().responses.create({
        model: "x",
        input: "[[say Bye]]",
        background: false,
        previous_response_id: failed.id,
      });
      expect(next.output_text).toContain("Bye");
      const echoed = await client().responses.create({ model: "x", input: failed.output as never });
      expect(echoed.id).not.toBe(failed.id);
    });

    test("is refused with the place of a fault in the schema", async () => {
      const schema = {
        type: "object",
        properties: { aB: { type: "string", minLength: 1 } },
        required: ["aB"],
        additionalProperties: false,
      };
      const refused = client().responses.create({
        model: "x",
        input,
        text: { format: { type: "json_schema", name: "n", schema } },
      });
      await expect(refused).rejects.toMatchObject({
        status: 400,
        param: "text.format.schema",
        message: expect.stringContaining(".aB: "),
      });
    });
  });

  test("creates a response that runs, and polls it until it is done", async () => {
    const made = await client().responses.create({
      model: "gpt-5",
      input: "[[sleep 0.2]] [[say Hello]] What is 12 * 4?",
    });
    expect(made).toMatchObject({
      object: "response",
      model: "manus-1.6-agent",
      error: null,
      incomplete_details: null,
      tools: [],
    });
    expect(wordsOf(made).status).toBe("running");
    const done = await finished(made.id);
    expect(wordsOf(done)).toEqual({
      status: "completed",
      metadata: { task_title: expect.any(String), task_url: expect.stringMatching(`/app/${made.id}$`) },
    });
    expect(done.output.map((item) => (item.type === "message" ? item.role : item.type))).toEqual([
      "user",
      "assistant",
      "assistant",
    ]);
    expect(done.output_text).toContain("12 * 4 = 48");
    expect(done.output_text).not.toContain("[[sleep");
    expect(Math.abs(done.created_at - Date.now() / 1000)).toBeLessThan(60);
  });

  test("streams one, and its helper adds the events up to the final response", async () => {
    const stream = client().responses.stream({
      model: "manus-1.6-lite",
      input: "[[progress Half way]] [[say Hello]]",
    });
    const numbers: number[] = [];
    const deltas: string[] = [];
    stream.on("event", (event) => "sequence_number" in event && numbers.push(event.sequence_number));
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect(numbers).toEqual(numbers.map((_, i) => i));
    expect(deltas.slice(0, 2)).toEqual(["Half way", "Hello"]);
    expect(wordsOf(final).status).toBe("completed");
    expect(final.model).toBe("manus-1.6-lite-agent");
    const retrieved = await client().responses.retrieve(final.id);
    expect(final.output.map(({ id }) => id)).toEqual(retrieved.output.map(({ id }) => id));
    expect(final.output_text).toBe(retrieved.output_text);
  });

  test("resumes a stream after a number, and reads a complete one by its helper", async () => {
    const all = await Array.fromAsync(
      await client().responses.create({ model: "x", input: "[[say Hello]]", stream: true }),
    );
    const [first] = all;
    const id = first && "response" in first ? first.response.id : "";
    const rest = await Array.fromAsync(
      await client().responses.retrieve(id, { stream: true, starting_after: 4 }),
    );
    expect(rest).toEqual(all.slice(5));
    const helped = client().responses.stream({ response_id: id, starting_after: 4 });
    const received: unknown[] = [];
    helped.on("event", (event) => received.push("sequence_number" in event && event.sequence_number));
    expect((await helped.finalResponse()).id).toBe(id);
    expect(received).toEqual(all.slice(5).map((_, i) => i + 5));
  });

  test("continues a response by previous_response_id, the same one", async () => {
    const { id } = await client().responses.create({ model: "x", input: "[[say One]]" });
    await finished(id);
    const stream = client().responses.stream({ model: "x", input: "[[say Two]]", previous_response_id: id });
    const final = await stream.finalResponse();
    expect(final.id).toBe(id);
    expect(final.output_text).toContain("Two");
    const { data } = await client().responses.inputItems.list(id, { order: "asc" });
    expect(data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "[[say One]]" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "[[say Two]]" }] },
    ]);
  });

  test("pages through the input items, newest first", async () => {
    const { id } = await client().responses.create({ model: "x", input: "[[forever]] 1" });
    for (const text of ["2", "3"])
      await client().responses.create({ model: "x", input: text, previous_response_id: id });
    const items = await Array.fromAsync(client().responses.inputItems.list(id, { limit: 2 }));
    expect(items.map((item) => (item.type === "message" ? item.content : []))).toMatchObject([
      [{ text: "3" }],
      [{ text: "2" }],
      [{ text: "[[forever]] 1" }],
    ]);
  });

  test("cancels one that runs, and deletes one that runs", async () => {
    const { id } = await client().responses.create({ model: "x", input: "[[forever]]", background: true });
    expect(wordsOf(await client().responses.cancel(id)).status).toBe("completed");
    await client().responses.create({ model: "x", input: "[[forever]]", previous_response_id: id });
    await client().responses.delete(id);
    await expect(client().responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test("throws its own classes of errors, with code, type and param", async () => {
    const withWrongKey = sdk(rig.service.url, { key: "sk-wrong" }, prefix);
    await expect(withWrongKey.responses.retrieve("x")).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(client().responses.retrieve("nobody")).rejects.toMatchObject({
      status: 404,
      type: "not_found_error",
      code: "not_found",
    });
    const refused = client().responses.create({
      model: "x",
      input: [{ role: "user", content: [{ type: "input_file", file_id: "a", file_url: "b" }] }],
    });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(refused).rejects.toMatchObject({
      param: "input[0].content[0]",
      code: "invalid_argument",
      requestID: expect.any(String),
    });
  });

  test.each([
    { end: "a question", input: "[[ask Which one? | A | B]]", status: "pending", reason: "question" },
    { end: "an approval", input: "[[confirm terminalExecute]]", status: "pending", reason: "confirmation" },
  ])("reports that a response waits for $end, in streams and in polls", async ({ input, status, reason }) => {
    const final = await client().responses.stream({ model: "x", input }).finalResponse();
    const polled = await client().responses.retrieve(final.id);
    for (const response of [final, polled]) {
      expect([wordsOf(response).status, response.incomplete_details]).toEqual([status, { reason }]);
    }
  });

  test("reports why a response failed, in streams and in polls", async () => {
    const final = await client()
      .responses.stream({ model: "x", input: "[[fail quota_limit | No more]]" })
      .finalResponse();
    const polled = await client().responses.retrieve(final.id);
    for (const response of [final, polled]) {
      expect([wordsOf(response).status, response.error]).toEqual([
        "error",
        { code: "quota_limit", message: "No more" },
      ]);
    }
  });
});

describe("the unmodified SDK below /v1", () => {
  const rig = taskRig();

  test.each([
    [
      "chat.completions.create",
      (client: OpenAI) => client.chat.completions.create({ model: "x", messages: [] }),
    ],
    ["embeddings.create", (client: OpenAI) => client.embeddings.create({ model: "x", input: "a" })],
  ])("prints the error for an unknown address: %s", async (_name, call) => {
    const refused = await call(sdk(rig.service.url, rig.ann, "/v1")).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(OpenAI.NotFoundError);
    expect(refused).toMatchObject({
      message: "404 unknown address",
      type: "not_found_error",
      code: "not_found",
      param: null,
    });
  });
});
