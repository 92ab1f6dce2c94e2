import { create, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cipherFrom } from "../../src/core/cipher.ts";
import type { Failure } from "../../src/core/failure.ts";
import type { IdempotencyKey } from "../../src/core/idempotency/idempotency-record.ts";
import { systemRandom } from "../../src/core/ids.ts";
import {
  type CreateProjectResponse,
  ProjectService,
} from "../../src/gen/proto/project/v2/project_service_pb.ts";
import {
  CreateTaskRequestSchema,
  CreateTaskResponseSchema,
} from "../../src/gen/proto/task/v2/task_service_pb.ts";
import {
  CreateWebhookRequestSchema,
  CreateWebhookResponseSchema,
} from "../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import type { Admission } from "../../src/pipeline/admission.ts";
import { idempotencyRecords } from "../../src/pipeline/idempotency.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { openReceiver } from "../egress/receiver.ts";
import { v1Of } from "../http/v1/caller.ts";
import { describeOnPostgres, nodesOf, openTestStore } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type RpcWire, rpcWires, type V2Reply } from "../support/wires.ts";

const createProject = "project.v2.ProjectService/CreateProject";

/** A v2 call with an `Idempotency-Key`. */
const keyed = (person: Person, key: string, name: string, body: unknown): Promise<V2Reply> =>
  person.v2(name, body, { headers: { "idempotency-key": key } });

const wasReplayed = ({ headers }: V2Reply): boolean => headers.get("idempotent-replayed") === "true";
const reportedText = ({ status, body }: V2Reply): string =>
  body.error ? `${status} ${body.error.code}: ${body.error.message}` : `${status} ok`;

/** A call with the key `k1` that was admitted. */
function admissionOf(name: string): Admission {
  const operation = operationTable().byName(name);
  if (!operation) throw new Error(`${name} is gone`);
  const credential = { kind: "key", keyKind: "general", id: "k", scopes: null } as const;
  const request = {
    requestId: "r",
    address: "127.0.0.1",
    credentials: { keys: [], bearer: null, session: null },
    idempotencyKey: "k1",
    isStrict: false,
  };
  const caller = { accountId: "a", spaceId: "s", credential, role: "owner", locale: "en" } as const;
  return { operation, caller, request, rate: null, checkAgain: async () => caller };
}

async function projectNames(person: Person): Promise<string[]> {
  const { body } = await person.v2("project.list");
  return body["data"].map(({ name }: { name: string }) => name);
}

/** A project created over an RPC wire, and whether an earlier call had created it. */
async function createOver(
  wire: RpcWire,
  person: Person,
  key: string,
  name: string,
): Promise<{ id: string; replayed: boolean }> {
  let replayed = false;
  const note = (headers: Headers) => {
    replayed ||= headers.get("idempotent-replayed") === "true";
  };
  const answer: CreateProjectResponse = await person
    .client(ProjectService, wire)
    .createProject({ name }, { headers: { "idempotency-key": key }, onHeader: note, onTrailer: note });
  return { id: answer.project?.id ?? "", replayed };
}

describeOnPostgres("a change with an Idempotency-Key", (database) => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ database, nodes: nodesOf(database), idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("happens once: a repeat gets the same answer with a new request id", async () => {
    const ann = await service.person();
    const first = await keyed(ann, "k1", "project.create", { name: "Garden", instruction: "Be brief." });
    const second = await keyed(ann, "k1", "project.create", { name: "Garden", instruction: "Be brief." });
    expect([reportedText(first), wasReplayed(first)]).toEqual(["200 ok", false]);
    expect([reportedText(second), wasReplayed(second)]).toEqual(["200 ok", true]);
    expect(second.body["project"]).toEqual(first.body["project"]);
    expect(second.body.request_id).not.toBe(first.body.request_id);
    expect(second.headers.get("x-request-id")).toBe(second.body.request_id);
    expect(await projectNames(ann)).toEqual(["Garden"]);
  });

  test("happens once over all wires; each wire gets the answer in its form", async () => {
    const ann = await service.person();
    const { body } = await keyed(ann, "k1", "project.create", { name: "Garden" });
    for (const wire of rpcWires)
      expect(await createOver(wire, ann, "k1", "Garden")).toEqual({ id: body["project"].id, replayed: true });
    const other = await createOver("grpc", ann, "k2", "Pond");
    expect(other.replayed).toBe(false);
    const again = await keyed(ann, "k2", "project.create", { name: "Pond" });
    expect([again.body["project"].id, wasReplayed(again)]).toEqual([other.id, true]);
    expect(await projectNames(ann)).toHaveLength(2);
  });

  test("is the same in every JSON spelling", async () => {
    const ann = await service.person();
    const { body } = await keyed(ann, "k", "task.create", {
      message: { content: "Hi" },
      hide_in_task_list: true,
      title: "T",
    });
    const spellings = [
      { title: "T", message: { content: [{ text: "Hi", type: "text" }] }, hideInTaskList: true },
      {
        message: { content: "Hi", connectors: null },
        hide_in_task_list: true,
        title: "T",
        locale: null,
        no_such_member: 1,
      },
    ];
    for (const spelling of spellings) {
      const reply = await keyed(ann, "k", "task.create", spelling);
      expect([reportedText(reply), reply.body["task_id"], wasReplayed(reply)]).toEqual([
        "200 ok",
        body["task_id"],
        true,
      ]);
    }
  });

  test("is refused when the key is used for another request, on every wire", async () => {
    const ann = await service.person();
    await keyed(ann, "k1", "project.create", { name: "Garden" });
    const why = "Idempotency-Key: already used with another request";
    expect(reportedText(await keyed(ann, "k1", "project.create", { name: "Pond" }))).toBe(
      `409 already_exists: ${why}`,
    );
    expect(reportedText(await keyed(ann, "k1", "project.create", { name: "Garden", instruction: "" }))).toBe(
      `409 already_exists: ${why}`,
    );
    expect((await keyed(ann, "k1", "project.create", { name: "Pond" })).body["error"]).toMatchObject({
      type: "idempotency_conflict",
      param: "Idempotency-Key",
    });
    for (const wire of rpcWires) {
      const error = ConnectError.from(
        await createOver(wire, ann, "k1", "Pond").catch((thrown: unknown) => thrown),
      );
      expect([error.code, error.rawMessage]).toEqual([Code.AlreadyExists, why]);
    }
    expect(await projectNames(ann)).toEqual(["Garden"]);
  });

  test("is separate for each account, space and operation", async () => {
    const ann = await service.person();
    const colleague = await service.person({ with: ann });
    const elsewhere = await service.person({ as: ann });
    const { body } = await keyed(ann, "k1", "project.create", { name: "Garden" });
    for (const other of [colleague, elsewhere, await service.person()]) {
      const reply = await keyed(other, "k1", "project.create", { name: "Pond" });
      expect([reportedText(reply), wasReplayed(reply)]).toEqual(["200 ok", false]);
      expect(reply.body["project"].id).not.toBe(body["project"].id);
    }
    expect(reportedText(await keyed(ann, "k1", "task.create", { message: { content: "Hi" } }))).toBe(
      "200 ok",
    );
  });

  test("is the same under another key of the same account and space", async () => {
    const ann = await service.person();
    const { body } = await keyed(ann, "k1", "project.create", { name: "Garden" });
    const reply = await keyed(await service.person({ as: ann, with: ann }), "k1", "project.create", {
      name: "Garden",
    });
    expect([reply.body["project"].id, wasReplayed(reply)]).toEqual([body["project"].id, true]);
  });

  test("happens once when fifty arrive at once: the others wait for its answer", async () => {
    const ann = await service.person();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => keyed(ann, "k1", "project.create", { name: "Garden" })),
    );
    expect(new Set(replies.map(reportedText))).toEqual(new Set(["200 ok"]));
    expect(new Set(replies.map(({ body }) => body["project"].id)).size).toBe(1);
    expect(new Set(replies.map(({ body }) => body.request_id)).size).toBe(50);
    expect(replies.filter((reply) => !wasReplayed(reply))).toHaveLength(1);
    expect(await projectNames(ann)).toEqual(["Garden"]);
  });

  test("is one request when fifty of two kinds arrive at once: the other kind is refused", async () => {
    const ann = await service.person();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        keyed(ann, "k1", "project.create", { name: n % 2 ? "Garden" : "Pond" }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(25);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(25);
    expect(await projectNames(ann)).toHaveLength(1);
  });

  test("that was refused does not use its key", async () => {
    const ann = await service.person();
    expect(reportedText(await keyed(ann, "k1", "project.create", { name: "" }))).toContain(
      "400 invalid_argument",
    );
    expect(reportedText(await keyed(ann, "k1", "project.create", { name: "Garden" }))).toBe("200 ok");
    const { body } = await ann.v2("task.create", { message: { content: "Hi" } });
    const task = { task_id: body["task_id"] };
    expect(reportedText(await keyed(ann, "k2", "task.delete", task))).toContain("412 failed_precondition");
    await ann.v2("task.stop", task);
    const deleted = await keyed(ann, "k2", "task.delete", task);
    expect([reportedText(deleted), wasReplayed(deleted)]).toEqual(["200 ok", false]);
    const again = await keyed(ann, "k2", "task.delete", task);
    expect([reportedText(again), wasReplayed(again)]).toEqual(["200 ok", true]);
  });

  test("forgets an answer that contains a task together with the task", async () => {
    const ann = await service.person();
    const { body } = await keyed(ann, "k1", "task.create", { message: { content: "Hi" } });
    const task = { task_id: body["task_id"] };
    await ann.v2("task.stop", task);
    await ann.v2("task.delete", task);
    const again = await keyed(ann, "k1", "task.create", { message: { content: "Hi" } });
    expect(wasReplayed(again)).toBe(false);
    expect(again.body["task_id"]).not.toBe(body["task_id"]);
  });

  test("is stored encrypted: a reader of the database cannot find its answer", async () => {
    const ann = await service.person();
    const { body } = await keyed(ann, "k1", "project.create", { name: "Garden of secrets" });
    const key: IdempotencyKey = {
      accountId: ann.accountId,
      spaceId: ann.spaceId,
      clientId: "",
      operation: createProject,
      key: "k1",
    };
    const record = await service.store.idempotency.find(key);
    const stored = Buffer.from(record?.answer ?? []);
    expect(stored.length).toBeGreaterThan(28);
    for (const text of ["Garden", body["project"].id]) expect(stored.includes(text)).toBe(false);
    const context = JSON.stringify([key.accountId, key.spaceId, key.clientId, key.operation, key.key]);
    const cipher = (fill: number) => cipherFrom(Buffer.alloc(32, fill), systemRandom);
    expect(Buffer.from(cipher(7).open(stored, context)).includes("Garden of secrets")).toBe(true);
    expect(() => cipher(8).open(stored, context)).toThrow();
    expect(() => cipher(7).open(stored, context.replace("k1", "k2"))).toThrow();
  });

  test("is a new call after a day, when the records were purged", async () => {
    const clock = stillClock();
    await using slow = await openService({ database, nodes: nodesOf(database), idle: true, clock });
    const ann = await slow.person();
    await keyed(ann, "k1", "project.create", { name: "Garden" });
    clock.step(23 * 3_600_000);
    expect(wasReplayed(await keyed(ann, "k1", "project.create", { name: "Garden" }))).toBe(true);
    await slow.store.change((tx) => tx.idempotency.purge(clock.now() - 24 * 3_600_000));
    expect(wasReplayed(await keyed(ann, "k1", "project.create", { name: "Garden" }))).toBe(true);
    clock.step(3_600_001);
    await slow.store.change((tx) => tx.idempotency.purge(clock.now() - 24 * 3_600_000));
    expect(wasReplayed(await keyed(ann, "k1", "project.create", { name: "Garden" }))).toBe(false);
  });

  test("counts against the rate limit when it is repeated", async () => {
    await using limited = await openService({
      database,
      nodes: nodesOf(database),
      idle: true,
      clock: stillClock(),
      env: { RATE_LIMITS: "0.1" },
    });
    const ann = await limited.person();
    const answers: string[] = [];
    for (let n = 0; n < 5; n++)
      answers.push(reportedText(await keyed(ann, "k1", "project.create", { name: "Garden" })));
    expect(answers).toEqual([
      ...Array<string>(4).fill("200 ok"),
      "429 rate_limited: rate limit of 4 calls a minute for project.create exceeded",
    ]);
  });

  test("is the same for any order of a plain object's members", async () => {
    await using opened = await openTestStore(database);
    const idempotency = idempotencyRecords(cipherFrom(Buffer.alloc(32, 7), systemRandom), () => 1);
    const begin = (structuredOutputSchema: JsonObject) =>
      opened.store.change(async (tx) => {
        const begun = await idempotency.begin(
          tx,
          admissionOf("task.create"),
          create(CreateTaskRequestSchema, { structuredOutputSchema }),
        );
        if (begun !== null && "complete" in begun)
          await begun.complete(create(CreateTaskResponseSchema, { taskId: "t" }), "t");
        return begun;
      });
    await begin({ a: 1, b: { c: [1, 2], d: null } });
    expect(await begin({ b: { d: null, c: [1, 2] }, a: 1 })).toMatchObject({ answer: { taskId: "t" } });
    for (const other of [
      { a: 1, b: { c: [2, 1], d: null } },
      { a: 1, b: { c: [1, 2] } },
      { a: "1", b: { c: [1, 2], d: null } },
    ]) {
      await expect(begin(other)).rejects.toMatchObject({ reason: "idempotency_conflict" });
    }
  });

  test("whose answer contains a secret is not answered twice: a repeat reports the created object", async () => {
    await using opened = await openTestStore(database);
    const admission = admissionOf("webhook.create");
    const idempotency = idempotencyRecords(cipherFrom(Buffer.alloc(32, 7), systemRandom), () => 1);
    const message = create(CreateWebhookRequestSchema, { url: "https://example.com/hook" });
    await opened.store.change(async (tx) => {
      const claimed = await idempotency.begin(tx, admission, message);
      if (claimed === null || "answer" in claimed) throw new Error("not claimed");
      await claimed.complete(create(CreateWebhookResponseSchema), "webhook-1");
    });
    const key: IdempotencyKey = {
      accountId: "a",
      spaceId: "s",
      clientId: "",
      operation: admission.operation.rpc,
      key: "k1",
    };
    expect(await opened.store.idempotency.find(key)).toMatchObject({ answer: null, subject: "webhook-1" });
    const repeat = opened.store.change((tx) => idempotency.begin(tx, admission, message));
    await expect(repeat).rejects.toMatchObject({
      reason: "idempotency_conflict",
      message: "Idempotency-Key: already used, it made webhook-1",
    } satisfies Partial<Failure>);
  });
});

describe("an Idempotency-Key", () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const bad = ["", "x".repeat(256), "two words", "caf\u00e9", "a, b"];

  const why =
    "Idempotency-Key: must be 1 to 255 visible ASCII characters, for example a UUID; without the header a call is not deduplicated";

  test.each(bad)("is refused when it is none: %j", async (key) => {
    const ann = await service.person();
    expect(reportedText(await keyed(ann, key, "project.create", { name: "Garden" }))).toBe(
      `400 invalid_argument: ${why}`,
    );
    expect(await projectNames(ann)).toEqual([]);
  });

  test.each(
    rpcWires.flatMap((wire) => ["", "two words"].map((key) => [wire, key] as const)),
  )("that is invalid is refused over %s: %j", async (wire, key) => {
    const ann = await service.person();
    const error = ConnectError.from(
      await createOver(wire, ann, key, "Garden").catch((thrown: unknown) => thrown),
    );
    expect([error.code, error.rawMessage]).toEqual([Code.InvalidArgument, why]);
    expect(await projectNames(ann)).toEqual([]);
  });

  test.each([
    ["v1", "POST /v1/projects", { name: "Garden" }, { code: 3, message: why, details: [] }],
    ["Responses", "POST /responses", { input: "x" }, { error: { param: "Idempotency-Key", message: why } }],
    [
      "Responses below /v1",
      "POST /v1/responses",
      { input: "x" },
      { error: { param: "Idempotency-Key", message: why } },
    ],
  ])("that is empty is refused by %s, and nothing is created", async (_form, at, body, refusal) => {
    const ann = await service.person();
    expect(await v1Of(service, ann)(at, body, { "idempotency-key": "" })).toMatchObject({
      status: 400,
      body: refusal,
    });
    expect([await projectNames(ann), (await ann.v2("task.list")).body["data"]]).toEqual([[], []]);
  });

  test("that is empty is refused before another server is called", async () => {
    await using hook = await openReceiver((_request, response) => void response.writeHead(204).end());
    await using open = await openService({ idle: true, env: { WEBHOOK_ALLOW: "loopback" } });
    const reply = await keyed(await open.person(), "", "webhook.create", { url: hook.url });
    expect([reportedText(reply), hook.requests]).toEqual([`400 invalid_argument: ${why}`, []]);
  });

  test.each([
    "x".repeat(255),
    "!",
    "a:b/c~",
    "8e03978e-40d5-43e8-bc93-6894a57f9324",
  ])("may be %s", async (key) => {
    const ann = await service.person();
    expect(reportedText(await keyed(ann, key, "project.create", { name: "Garden" }))).toBe("200 ok");
    expect(wasReplayed(await keyed(ann, key, "project.create", { name: "Garden" }))).toBe(true);
  });

  test("is ignored on reads, valid or not", async () => {
    const ann = await service.person();
    for (const key of ["k1", "two words"]) {
      const before = await keyed(ann, key, "project.list", {});
      await ann.v2("project.create", { name: "Garden" });
      const after = await keyed(ann, key, "project.list", {});
      expect(after.body["data"]).toHaveLength(before.body["data"].length + 1);
      expect([reportedText(after), wasReplayed(after)]).toEqual(["200 ok", false]);
    }
  });
});
