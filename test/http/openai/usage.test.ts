import { afterAll, describe, expect, test } from "vitest";
import { systemIds } from "../../../src/core/ids.ts";
import { describeOnOne } from "../../support/database.ts";
import { modelsFile } from "../../support/model/rig.ts";
import { openModelServer } from "../../support/model/server.ts";
import { taskRig } from "../../support/task-rig.ts";
import { sdk } from "./facade-rig.ts";

describeOnOne("the usage of a response", (database) => {
  const rig = taskRig({ database, idle: true });

  test("is the sum of the costs of its task, without refunds and other tasks", async () => {
    const client = sdk(rig.service.url, rig.ann);
    const { id, usage } = await client.responses.create({ model: "x", input: "Hello" });
    expect(usage).toBeNull();
    const other = await rig.create();
    const { accountId, spaceId } = await rig.row(id);
    const entry = {
      ...{ accountId, spaceId, clientId: null, apiKeyId: null, projectId: null, profile: "manus-1.6" },
      ...{ credits: 0, cacheWriteTokens: 0, toolCalls: 0, at: Date.now() },
    };
    const entries = [
      { taskId: id, kind: "cost", inputTokens: 2_000_000_000, cachedInputTokens: 30, outputTokens: 20 },
      { taskId: id, kind: "cost", inputTokens: 5, cachedInputTokens: 4, outputTokens: 1 },
      { taskId: id, kind: "refund", inputTokens: 7, cachedInputTokens: 7, outputTokens: 7 },
      { taskId: other, kind: "cost", inputTokens: 9, cachedInputTokens: 9, outputTokens: 9 },
    ] as const;
    await rig.service.store.change(async (tx) => {
      for (const some of entries) await tx.usage.insert({ ...entry, ...some, id: systemIds.short() });
    });
    expect((await client.responses.retrieve(id)).usage).toEqual({
      input_tokens: 2_000_000_005,
      input_tokens_details: { cached_tokens: 34 },
      output_tokens: 21,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2_000_000_026,
    });
  });
});

const server = await openModelServer("openai");
const file = modelsFile("openai", server);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});

describe("a response of a model", () => {
  const rig = taskRig({ env: file.env });

  test("has the tokens of all turns, and the model's limit, in answers and in the end of a stream, and on v1", async () => {
    const client = sdk(rig.service.url, rig.ann);
    server.play([{ text: "One" }, { text: "Two" }]);
    const first = await client.responses.create({ model: "x", input: "1", background: false });
    expect(first).toMatchObject({
      output_text: "One",
      max_output_tokens: 1000,
      usage: { input_tokens: 100, output_tokens: 10 },
    });
    const final = await client.responses
      .stream({ model: "x", input: "2", previous_response_id: first.id })
      .finalResponse();
    expect(final.usage).toMatchObject({ input_tokens: 200, output_tokens: 20, total_tokens: 220 });
    const answer = await fetch(`${rig.service.url}/v1/tasks/${first.id}`, {
      headers: { API_KEY: rig.ann.key },
    });
    const body = Object(await answer.json());
    expect(body.max_output_tokens).toBe(1000);
    expect(body).not.toHaveProperty("usage");
  });
});
