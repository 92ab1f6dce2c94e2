import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { taskRig } from "../../support/task-rig.ts";
import { readStream } from "./facade-rig.ts";

const json = {
  type: "object",
  properties: { n: { type: "number" } },
  required: ["n"],
  additionalProperties: false,
};
const format = { type: "json_schema", name: "n", strict: true, schema: json } as const;

describe("OpenAI's form, by the unmodified SDK with its key as Bearer", () => {
  const rig = taskRig();
  const client = () => new OpenAI({ baseURL: `${rig.service.url}/v1`, apiKey: rig.ann.key, maxRetries: 0 });
  const create = (body: object): Promise<OpenAI.Responses.Response> =>
    client().responses.create({ model: "x", input: "", ...body } as never);
  /** The user's messages of a task, and the instruction that its agent got. */
  const asked = async (id: string) => (await client().responses.inputItems.list(id, { order: "asc" })).data;

  test("a create is answered when the turn is over, with the items of this turn only, and all members", async () => {
    const first = await create({ input: "[[progress Half]] [[say One]]" });
    expect([first.status, first.output_text]).toEqual(["completed", "HalfOne"]);
    const { id, created_at, metadata, output, completed_at, ...rest } = await create({
      input: "[[say Two]]",
      previous_response_id: first.id,
    });
    expect(id).toBe(first.id);
    expect(output).toEqual([
      {
        id: expect.stringMatching(new RegExp(`^msg_${id}_\\d+_0$`)),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Two", annotations: [] }],
      },
    ]);
    expect(metadata).toMatchObject({ status: "completed" });
    expect(Math.abs((completed_at ?? 0) - created_at)).toBeLessThan(60);
    const { output_text: _, createdAt, ...members } = rest as typeof rest & { createdAt: string };
    expect(createdAt).toBe(`${created_at}`);
    expect(members).toEqual({
      ...{
        object: "response",
        status: "completed",
        error: null,
        incomplete_details: null,
        model: "manus-1.6-agent",
      },
      ...{
        max_output_tokens: null,
        previous_response_id: id,
        instructions: null,
        text: { format: { type: "text" } },
      },
      ...{
        tools: [],
        tool_choice: "auto",
        background: false,
        truncation: "disabled",
        top_p: 1,
        temperature: 1,
      },
      ...{
        presence_penalty: 0,
        frequency_penalty: 0,
        top_logprobs: 0,
        reasoning: null,
        max_tool_calls: null,
      },
      ...{
        parallel_tool_calls: true,
        store: true,
        service_tier: "default",
        safety_identifier: null,
        prompt_cache_key: null,
      },
      usage: {
        ...{ input_tokens: 0, output_tokens: 0, total_tokens: 0 },
        ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
      },
    });
    expect((await asked(id)).map((item) => (item.type === "message" ? item.content : []))).toMatchObject([
      [{ text: "[[progress Half]] [[say One]]" }],
      [{ text: "[[say Two]]" }],
    ]);
  });

  test("instructions and messages of system and developer reach the agent, are not in the user's message, and end with the turn", async () => {
    const input = [
      { role: "system", content: "Speak like a pirate" },
      { role: "user", content: "Hello" },
      { role: "developer", content: [{ type: "input_text", text: "Be kind" }] },
    ];
    const first = await create({ instructions: "Be brief", input });
    expect(first.instructions).toBe("Be brief");
    expect(first.output_text).toContain(
      "The instruction for this task: Be brief\n\nSpeak like a pirate\n\nBe kind",
    );
    expect(await asked(first.id)).toMatchObject([{ content: [{ type: "input_text", text: "Hello" }] }]);
    expect((await client().responses.retrieve(first.id)).instructions).toBe("Be brief");
    const next = await create({ input: "And now?", previous_response_id: first.id });
    expect(next.instructions).toBeNull();
    expect(next.output_text).not.toContain("The instruction for this task");
    await client().responses.delete(first.id);
    expect(await rig.service.store.tasks.turnInput(first.id)).toMatchObject({ turnRequest: null });
    const long = create({ instructions: "x".repeat(20_001), input: "Hello" });
    await expect(long).rejects.toMatchObject({ status: 400, param: "instructions" });
  });

  test("with a structured output other texts are commentary without a text that SDKs read, also in a stream", async () => {
    const body = {
      input: '[[progress Half way]] [[file a.txt | Some text]] [[value {"n": 48}]]',
      text: { format },
    };
    const made = await client().responses.parse({ model: "x", ...body });
    expect([made.output_parsed, made.output_text]).toEqual([{ n: 48 }, '{"n":48}']);
    expect(made.text).toEqual({ format });
    const shown = made.output.map((item) =>
      item.type === "message" ? [item.phase, item.content.map(({ type }) => type)] : item.type,
    );
    expect(shown[0]).toEqual(["commentary", []]);
    expect(shown.at(-1)).toEqual(["final_answer", ["output_text"]]);
    expect(made.output[0]).toMatchObject({ summary: [{ type: "summary_text", text: "Half way" }] });
    expect(made.output.at(-1)).toMatchObject({
      content: [{ annotations: [{ type: "url_citation", title: "a.txt" }] }],
    });
    const stream = client().responses.stream({ model: "x", ...body });
    const deltas: string[] = [];
    stream.on("response.output_text.delta", ({ delta }) => deltas.push(delta));
    const final = await stream.finalResponse();
    expect([deltas.join(""), final.output_parsed]).toEqual(['{"n":48}', { n: 48 }]);
  });

  test("a schema whose turn asks shows the question as text", async () => {
    const final = await client()
      .responses.stream({ model: "x", input: "[[ask Which one?]]", text: { format } })
      .finalResponse();
    expect([final.status, final.incomplete_details, final.output_text]).toEqual([
      "incomplete",
      { reason: "question" },
      "Which one?",
    ]);
    const read = await client().responses.retrieve(final.id);
    expect([read.status, read.output_text]).toEqual(["incomplete", "Which one?"]);
  });

  /** A link to a file has the second in which it expires: two reads may differ. */
  const withoutSignatures = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value).replaceAll(/(https?:\/\/[^"?\s]+)\?[^"\s)\\]*/g, "$1"));

  test.each([
    ["a text", { input: "[[progress Half]] [[say Hello]]" }],
    ["a file", { input: "[[file a.txt | Some text]]" }],
    ["a value", { input: '[[progress Half way]] [[value {"n": 48}]]', text: { format } }],
    ["no value", { input: '[[value {"n": "x"}]]', text: { format } }],
    [
      "instructions and tools",
      {
        instructions: "Be brief",
        input: "Hello",
        tools: [{ type: "function", name: "f", parameters: { aB: null } }],
        tool_choice: "auto",
      },
    ],
  ])("a stream with %s ends with the response that a later GET returns", async (_what, body) => {
    const events = (await Array.fromAsync(
      (await client().responses.create({ model: "x", stream: true, ...body } as never)) as never,
    )) as OpenAI.Responses.ResponseStreamEvent[];
    const end = events.at(-1);
    if (end?.type !== "response.completed") throw new Error(`ended with ${end?.type}`);
    const read = await fetch(`${rig.service.url}/v1/responses/${end.response.id}`, {
      headers: { Authorization: `Bearer ${rig.ann.key}` },
    });
    expect(withoutSignatures(end.response)).toEqual(withoutSignatures(await read.json()));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    const items = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    expect(items).toEqual(end.response.output);
    const again = await Array.fromAsync(
      await client().responses.retrieve(end.response.id, { stream: true, starting_after: 2 }),
    );
    expect(withoutSignatures(again)).toEqual(withoutSignatures(events.slice(3)));
  });

  test("a failed turn has an error with type and param, also in a stream, and a cancelled one is cancelled", async () => {
    const error = { type: "server_error", code: "timeout", message: "Late", param: null };
    const failed = await create({ input: "[[fail timeout | Late]]" });
    expect([failed.status, failed.error, failed.output]).toEqual(["failed", error, []]);
    const streamed = await client()
      .responses.stream({ model: "x", input: "[[fail timeout | Late]]" })
      .finalResponse();
    expect([streamed.status, streamed.error]).toEqual(["failed", error]);
    const { id, status, background } = await create({ input: "[[forever]]", background: true });
    expect([status, background]).toEqual(["in_progress", true]);
    const cancelled = await client().responses.cancel(id);
    expect([cancelled.status, cancelled.completed_at, cancelled.usage?.total_tokens]).toEqual([
      "cancelled",
      null,
      0,
    ]);
  });

  test.each([
    "required",
    { type: "function", name: "f" },
  ])("tool_choice %j is refused with the way out", async (tool_choice) => {
    const refused = create({ input: "Hi", tools: [{ type: "function", name: "f" }], tool_choice });
    await expect(refused).rejects.toMatchObject({
      status: 400,
      param: "tool_choice",
      message: expect.stringContaining("connector"),
    });
    const hosted = await fetch(`${rig.service.url}/v1/responses`, {
      ...{
        method: "POST",
        headers: { API_KEY: rig.ann.key },
        body: JSON.stringify({ input: "Hi", tool_choice }),
      },
    });
    expect(hosted.status).toBe(200);
  });

  test("tools alone are accepted, repeated as sent, and named in metadata.warnings", async () => {
    const tools = [
      { type: "function", name: "f", parameters: { type: "object", properties: { aB: { default: null } } } },
    ];
    const made = await create({ input: "Hi", tools });
    expect([made.tools, made.metadata?.["warnings"]]).toEqual([tools, expect.stringContaining("tools: ")]);
    const large = create({ input: "Hi", tools: [{ type: "function", name: "x".repeat(300_000) }] });
    await expect(large).rejects.toMatchObject({ status: 400, param: "tools" });
  });

  test("refuses what it does not have: another response, compaction, a WebSocket", async () => {
    const unknown = create({ input: "Hi", previous_response_id: "nobody" });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      param: "previous_response_id",
      message: expect.stringContaining("response not found"),
    });
    for (const prefix of ["", "/v1"]) {
      const compact = await fetch(`${rig.service.url}${prefix}/responses/compact`, {
        method: "POST",
        body: "{}",
      });
      expect(compact.status).toBe(404);
    }
  });

  test("items of earlier responses are resolved by their ids, which a client sends instead of texts", async () => {
    const first = await create({ input: "[[say Forty-two]]" });
    const user = (content: string) => ({ type: "message", role: "user", content });
    const reference = { type: "item_reference", id: first.output[0]?.id };
    const input = [user("What?"), { type: "reasoning", id: "r", summary: [] }, reference, user("Hello")];
    const next = await create({ input });
    expect(next.id).not.toBe(first.id);
    expect(await asked(next.id)).toMatchObject([
      { content: [{ text: "What?\nAssistant: Forty-two\nHello" }] },
    ]);
    const same = await create({ input: [reference, user("More")], previous_response_id: first.id });
    expect((await asked(same.id)).at(-1)).toMatchObject({ content: [{ text: "More" }] });
    const other = await rig.service.person();
    const foreign = new OpenAI({
      baseURL: rig.service.url,
      apiKey: other.key,
      maxRetries: 0,
    }).responses.create({
      model: "x",
      input: input as never,
    });
    await expect(foreign).rejects.toMatchObject({ status: 404, param: "input[2].id" });
    const hosted = await fetch(`${rig.service.url}/responses`, {
      ...{ method: "POST", headers: { API_KEY: rig.ann.key }, body: JSON.stringify({ input: [reference] }) },
    });
    expect([hosted.status, Object(await hosted.json()).message]).toEqual([
      400,
      "input[0].type: must be message",
    ]);
  });

  test("the hosted form of the same task has every message, and instructions as the user's first words", async () => {
    const read = (who: { key: string }, path: string, body?: object) =>
      readStream(rig.service.url, who, path, body);
    const events = await read(rig.ann, "/responses", {
      instructions: "Be brief",
      input: "Hello",
      stream: true,
    }).end;
    const response = events.at(-1)?.["response"];
    expect(response.output[0]).toMatchObject({
      role: "user",
      content: [{ type: "input_text", text: "Be brief\nHello" }],
    });
    expect(Object.keys(response)).toEqual(
      "id object created_at createdAt status error incomplete_details model metadata output max_output_tokens usage instructions parallel_tool_calls temperature tool_choice tools top_p".split(
        " ",
      ),
    );
  });
});
