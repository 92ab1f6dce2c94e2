import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { ModelService } from "../../src/gen/proto/installation/v1/model_service_pb.ts";
import { openStore } from "../../src/store/open.ts";
import { sealedColumns } from "../../src/store/rows/sealed-columns.ts";
import {
  describeOnOne,
  openTestStore,
  postgresTemplate,
  rowsIn,
  type TestStore,
} from "../support/database.ts";
import type { ModelRequest } from "../support/model/script.ts";
import { type ModelServer, openModelServer } from "../support/model/server.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { callV2 } from "../support/wires.ts";

const key = "sk-never-shown-7890";

/** Names the colour of the picture, as a model that sees it. */
const seeing = ({ body, tools }: ModelRequest) =>
  tools.includes("report_colour")
    ? JSON.stringify(body).includes("image")
      ? { calls: [{ name: "report_colour", input: { colour: "red" } }] }
      : { text: "none" }
    : { text: "It is 48." };

describeOnOne("model.*", (kind) => {
  let [database, service, operator, server] = [] as unknown as [TestStore, Service, Person, ModelServer];
  beforeAll(async () => {
    server = await openModelServer("openai", seeing);
    database = await openTestStore(kind);
    service = await openService({ over: database });
    operator = await service.person();
    await service.store.change((tx) => tx.accounts.setOperator(operator.accountId, true));
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const models = async (who = operator) => (await who.session()).client(ModelService);
  const entry = (more: object = {}) => ({
    api: "openai",
    base_url: server.baseUrl,
    model: "scripted",
    context_tokens: 32_000,
    ...more,
  });
  const refusalOf = (call: Promise<unknown>) =>
    call.then(
      () => "admitted",
      (error: unknown) => `${Code[ConnectError.from(error).code]}: ${ConnectError.from(error).rawMessage}`,
    );
  async function runToEnd(text: string): Promise<string> {
    const { body } = await operator.v2("task.create", { message: { content: text } });
    await untilStatus(service.store, body["task_id"], "stopped");
    const list = await operator.v2("task.listMessages", { task_id: body["task_id"], order: "asc" });
    return JSON.stringify(list.body);
  }

  test("a model that an operator sets runs the next task, without a restart, and never shows its key", async () => {
    const client = await models();
    const { model } = await client.setModel({ name: "mine", entry: entry(), apiKey: key });
    expect(model).toMatchObject({
      keyEnd: "7890",
      fromFile: false,
      profiles: ["manus-1.6", "manus-1.6-lite", "manus-1.6-max"],
    });
    expect(await runToEnd("What is 12 * 4?")).toContain("It is 48.");
    expect(server.requests.at(-1)?.headers["authorization"]).toBe(`Bearer ${key}`);
    const { data } = await client.listModels({});
    const text = JSON.stringify(data, (_, value) => (typeof value === "bigint" ? Number(value) : value));
    expect(text).not.toContain(key);
    const rows = JSON.stringify([
      await rowsIn(database.url, "SELECT name, entry, key_end, price, profiles FROM model"),
      await rowsIn(database.url, "SELECT * FROM audit_event"),
      await rowsIn(database.url, "SELECT * FROM idempotency_record"),
    ]);
    expect(rows).toContain("7890");
    expect(rows).not.toContain("never-shown");
    expect(sealedColumns.map(({ table, member }) => `${table}.${member}`)).toContain("model.secrets");
  });

  test("an absent key stays, unless the base URL changes", async () => {
    const client = await models();
    await client.setModel({ name: "mine", entry: entry(), apiKey: key });
    expect((await client.setModel({ name: "mine", entry: entry({ temperature: 1 }) })).model?.keyEnd).toBe(
      "7890",
    );
    const moved = entry({ base_url: server.baseUrl.replace("/v1", "/other") });
    expect((await client.setModel({ name: "mine", entry: moved })).model?.keyEnd).toBeUndefined();
    await client.setModel({ name: "mine", entry: entry(), apiKey: key });
    // A test of another address does not get the stored key either.
    await client.testModel({ name: "mine", entry: moved });
    expect(server.requests.at(-1)?.headers["authorization"]).toBeUndefined();
  });

  test("a profile has one model: another one takes it, and a removed one leaves it to the offline agent", async () => {
    const client = await models();
    await client.setModel({ name: "mine", entry: entry(), apiKey: key });
    const { model: none } = await client.setModel({ name: "other", entry: entry() });
    expect(none?.profiles).toEqual([]);
    await client.setModel({
      name: "other",
      entry: entry(),
      profiles: ["manus-1.6"],
      price: { turn: 3, input: 1, cachedInput: 0.1 },
    });
    const { data } = await client.listModels({});
    expect(data.map(({ name, profiles, price }) => [name, profiles, price?.turn])).toEqual([
      ["mine", ["manus-1.6-lite", "manus-1.6-max"], undefined],
      ["other", ["manus-1.6"], 3],
    ]);
    const prices = await operator.v2("agentProfile.list");
    expect(prices.body["data"][0]).toMatchObject({
      id: "manus-1.6",
      prices: { turn: 3, input: 1, cached_input: 0.1 },
      fetch: { mode: "ask" },
    });
    await client.removeModel({ name: "other" });
    await client.removeModel({ name: "mine" });
    expect(await runToEnd("Hello")).not.toContain("It is 48.");
    expect(await refusalOf(client.removeModel({ name: "mine" }))).toMatch(/^NotFound/);
  });

  test("entries that break a rule are refused with their path", async () => {
    const client = await models();
    const set = (more: object, others: object = {}) =>
      refusalOf(client.setModel({ name: "mine", entry: entry(more), ...others }));
    expect(await set({ max_output_tokens: 20_000 })).toContain("entry.max_output_tokens");
    expect(await set({ api_key_file: "/etc/passwd" })).toMatch(/^InvalidArgument/);
    expect(await set({ headers: { "x-a": "b\n" } })).toContain("entry.headers");
    expect(await set({ base_url: "https://10.0.0.1/v1" })).toContain("entry.base_url");
    expect(await set({}, { profiles: ["nothing"] })).toContain("profiles[0]");
    expect(await set({}, { price: { input: 1_000 } })).toContain("price");
    expect(await refusalOf(client.setModel({ name: "mine" }))).toContain("entry");
    expect(await set({ extra_body: { text: "x".repeat(17_000) } })).toContain("at most 16384 bytes");
    expect((await client.listModels({})).data).toEqual([]);
  });

  test("a search service is set like a model, serves no profile, and its key goes to it alone", async () => {
    const client = await models();
    await client.setModel({ name: "mine", entry: entry() });
    const before = (await client.listModels({})).data.map(({ name, profiles }) => [name, profiles]);
    const tavily = { api: "search", provider: "tavily" };
    const { model } = await client.setModel({ name: "web", entry: tavily, apiKey: "tvly-never-shown-1234" });
    expect(model).toMatchObject({ keyEnd: "1234", entry: tavily, profiles: [], fromFile: false });
    expect((await client.listModels({})).data.map(({ name, profiles }) => [name, profiles])).toEqual(
      [...before, ["web", []]].toSorted(),
    );
    await runToEnd("What is 12 * 4?");
    expect(server.requests.at(-1)?.tools).toContain("web_search");
    const exa = { api: "search", provider: "exa" };
    expect((await client.setModel({ name: "web", entry: exa })).model?.keyEnd).toBeUndefined();
    await runToEnd("What is 12 * 4?");
    expect(server.requests.at(-1)?.tools).not.toContain("web_search");
    expect(await refusalOf(client.setModel({ name: "web", entry: { ...tavily, model: "x" } }))).toMatch(
      /^InvalidArgument: .*must have only api and provider/,
    );
    expect(await refusalOf(client.setModel({ name: "web", entry: tavily, profiles: ["manus-1.6"] }))).toMatch(
      /^InvalidArgument: .*profiles/,
    );
    for (const name of ["web", "mine"]) await client.removeModel({ name });
  });

  test("only a session of an operator may call", async () => {
    const other = await service.person();
    expect(await refusalOf((await models(other)).listModels({}))).toMatch(/^PermissionDenied/);
    expect(await refusalOf(operator.client(ModelService).listModels({}))).toMatch(/^PermissionDenied/);
  });

  test("a test says what works, or the class of the failure, and stores nothing", async () => {
    const client = await models();
    const probe = (more: object = {}) => client.testModel({ name: "draft", entry: entry(more), apiKey: key });
    server.play(seeing);
    expect(await probe()).toMatchObject({ text: true, tools: true, images: true, failure: "" });
    server.play(({ body }) => (JSON.stringify(body).includes("image") ? { status: 400 } : { text: "none" }));
    expect(await probe()).toMatchObject({ text: true, tools: false, images: false, failure: "" });
    server.play([{ status: 401 }]);
    expect(await probe()).toMatchObject({ text: false, failure: "key", status: 401 });
    server.play([{ status: 503 }]);
    expect(await probe()).toMatchObject({ failure: "down", status: 503 });
    server.play([{ refuse: true }]);
    expect(await probe()).toMatchObject({ failure: "broken", status: 0 });
    expect(await probe({ base_url: "https://10.0.0.1/v1" })).toMatchObject({ failure: "address" });
    expect((await client.listModels({})).data).toEqual([]);
    expect(await refusalOf(client.testModel({ name: "draft" }))).toMatch(/^NotFound/);
    server.play(seeing);
  });
});

describe.skipIf(postgresTemplate === undefined)("two processes", () => {
  test("each sees a change of the other one within five seconds", async () => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await openModelServer("openai"));
    const database = stack.use(await openTestStore("postgresql"));
    const store = await openStore({ databaseUrl: database.url, clock: systemClock, random: systemRandom });
    stack.defer(() => store.close());
    const one = stack.use(await openService({ over: database }));
    const two = stack.use(await openService({ over: { store, url: database.url } }));
    const operator = await one.person();
    await one.store.change((tx) => tx.accounts.setOperator(operator.accountId, true));
    const entry = { api: "openai", base_url: server.baseUrl, model: "scripted", context_tokens: 32_000 };
    await (await operator.session()).client(ModelService).setModel({ name: "mine", entry });
    const startedAt = performance.now();
    const headers = { "x-service-api-key": operator.key };
    for (;;) {
      const { body } = await callV2(two.url, "agentProfile.list", {}, { headers });
      if (body["data"][0].fetch) break;
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      await two.store.ping();
    }
  });
});
