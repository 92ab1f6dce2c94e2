import { create, createFileRegistry, type Message } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { clientOf, rpcWires } from "../support/wires.ts";
import { send } from "./raw.ts";

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService({ idle: true });
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

const errorOf = async (name: string, body: unknown) => (await ann.v2(name, body)).body.error;
const long = "x".repeat(300);

describe("an error of v2", () => {
  test("has its failure, the member at fault, all mistakes and the address of its page", async () => {
    expect(
      await errorOf("task.create", { message: { content: "Hello" }, title: long, locale: long }),
    ).toEqual({
      code: "invalid_argument",
      message: "locale: must be at most 64 characters",
      type: "invalid_argument",
      param: "locale",
      doc_url: "https://platform.test/errors/invalid_argument",
      details: [
        { param: "locale", message: "must be at most 64 characters" },
        { param: "title", message: "must be at most 255 characters" },
      ],
    });
  });

  test("of a credential has no member, and its own type although it shares its code", async () => {
    const { body } = await ann.v2("task.list", {}, { headers: { "x-service-api-key": "sk-wrong" } });
    expect(body.error).toEqual({
      code: "permission_denied",
      message: expect.any(String),
      type: "unauthenticated",
      doc_url: "https://platform.test/errors/unauthenticated",
    });
  });

  test("of an object that a member names has that member", async () => {
    expect(await errorOf("task.detail", { task_id: "none" })).toEqual({
      ...{ code: "not_found", message: "task not found", type: "not_found", param: "task_id" },
      doc_url: "https://platform.test/errors/not_found",
      details: [{ param: "task_id", message: "task not found" }],
    });
    expect(await errorOf("task.create", { message: { content: "Hello" }, project_id: "none" })).toMatchObject(
      {
        type: "not_found",
        param: "project_id",
        details: [{ param: "project_id", message: "project not found" }],
      },
    );
  });

  test("of a number outside its range says from where to where", async () => {
    const { body } = await ann.v2("task.list", { limit: "1000" }, { method: "GET" });
    expect(body.error?.message).toBe("limit: must be from 1 to 100");
  });

  test("lists values of the wrong type and broken rules of other members together, the wrong types first", async () => {
    const content = [{ type: "nope" }, { type: "text", text: "fine" }, { type: "text", text: 7 }];
    const error = await errorOf("task.create", {
      title: long,
      interactive_mode: "yes",
      message: { content },
    });
    expect(error).toMatchObject({
      param: "interactive_mode",
      message: "interactive_mode: must be true or false",
    });
    expect(error?.details).toEqual([
      { param: "interactive_mode", message: "must be true or false" },
      { param: "message.content[0].type", message: expect.stringContaining("must be one of") },
      { param: "message.content[2].text", message: "must be a string" },
      { param: "title", message: "must be at most 255 characters" },
    ]);
  });

  test("does not call a member missing whose value has the wrong type", async () => {
    expect((await errorOf("task.create", { message: 7 }))?.details).toEqual([
      { param: "message", message: "must be an object" },
    ]);
    expect((await errorOf("task.create", { message: { content: 7 } }))?.details).toEqual([
      { param: "message.content", message: "must be a string or an array of parts" },
    ]);
  });

  test("lists at most 20 mistakes, and at most 3 KiB of them", async () => {
    const numbers = { message: { content: Array.from({ length: 50 }, () => ({ type: "text", text: 7 })) } };
    const many = (await errorOf("task.create", numbers))?.details;
    expect(many).toHaveLength(20);
    const metadata = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(60)}${"é".repeat(300)}`, n]),
    );
    const wide = (await errorOf("task.create", { message: { content: "Hello" }, metadata }))?.details ?? [];
    expect(wide.length).toBeGreaterThan(5);
    expect(JSON.stringify(wide).length).toBeLessThan(5000);
  });

  test("stops at a text that is far too long, whose characters are never counted", async () => {
    expect((await errorOf("task.create", { locale: "x".repeat(70_000), title: long }))?.details).toEqual([
      { param: "locale", message: "must be at most 64 characters" },
    ]);
  });

  test("of a query lists its mistakes too", async () => {
    const { body } = await ann.v2("task.list", { limit: "many", order: "up" }, { method: "GET" });
    expect(body.error).toMatchObject({ param: "limit" });
    expect(body.error?.details?.map(({ param }) => param)).toEqual(["limit", "order"]);
  });

  test("keeps the mistakes of a stream in its first answer", async () => {
    expect(await errorOf("task.watch", { task_id: 7, after_seq: "x" })).toMatchObject({
      details: [{ param: "task_id" }, { param: "after_seq" }],
    });
  });
});

const { STRING: text, MESSAGE: message } = FieldDescriptorProto_Type;
const { OPTIONAL: one, REPEATED: many } = FieldDescriptorProto_Label;

const textFields = (...names: readonly string[]) =>
  names.map((name, index) => ({ name, number: index + 1, type: text, label: one, jsonName: name }));

const listField = (name: string, number: number, typeName: string) => ({
  ...{ name, number, type: message, label: many, jsonName: name },
  typeName: `.google.rpc.${typeName}`,
});

/** `google/rpc/error_details.proto`, as clients have it from their own libraries. */
const detailTypes = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      {
        ...{ name: "google/rpc/error_details.proto", package: "google.rpc", syntax: "proto3" },
        messageType: [
          {
            name: "BadRequest",
            field: [listField("fieldViolations", 1, "BadRequest.FieldViolation")],
            nestedType: [{ name: "FieldViolation", field: textFields("field", "description") }],
          },
          { name: "RequestInfo", field: textFields("requestId", "servingData") },
          {
            name: "ErrorInfo",
            field: [...textFields("reason", "domain"), listField("metadata", 3, "ErrorInfo.MetadataEntry")],
            nestedType: [
              { name: "MetadataEntry", field: textFields("key", "value"), options: { mapEntry: true } },
            ],
          },
        ],
      },
    ],
  }),
);

function detailsOf(error: ConnectError, name: string): readonly Message[] {
  const type = detailTypes.getMessage(`google.rpc.${name}`);
  if (!type) throw new Error(`no type ${name}`);
  return error.findDetails(type);
}

describe.each(rpcWires)("over %s", (wire) => {
  test("an error has its mistakes as google.rpc.BadRequest", async () => {
    const refused = await ann
      .client(TaskService, wire)
      .createTask({ message: { content: [{ text: "Hello" }] }, title: long, locale: long })
      .catch((thrown: unknown) => ConnectError.from(thrown));
    if (!(refused instanceof ConnectError)) throw new Error("the call was accepted");
    expect(refused.rawMessage).toBe("locale: must be at most 64 characters");
    expect(detailsOf(refused, "BadRequest")).toMatchObject([
      {
        fieldViolations: [
          { field: "locale", description: "must be at most 64 characters" },
          { field: "message.content[0].type", description: expect.stringMatching(/^is required/) },
          { field: "title", description: "must be at most 255 characters" },
        ],
      },
    ]);
  });

  test("an error has the request id and the reason, and the field at fault where there is one", async () => {
    const tasks = ann.client(TaskService, wire);
    const facts = async (call: Promise<unknown>) => {
      const error = await call.then(() => new ConnectError("accepted"), ConnectError.from);
      return [
        ...detailsOf(error, "RequestInfo"),
        ...detailsOf(error, "ErrorInfo"),
        error.metadata.get("x-request-id"),
      ];
    };
    const [request, info, id] = await facts(tasks.getTask({ taskId: "none" }));
    expect(request).toMatchObject({ requestId: id });
    expect(info).toMatchObject({
      reason: "NOT_FOUND",
      domain: "agent-task-platform",
      metadata: { field: "task_id" },
    });
    const [, created] = await facts(tasks.createTask({ locale: long }));
    expect(created).toMatchObject({ reason: "INVALID_ARGUMENT", metadata: { field: "locale" } });
    const [, stranger] = await facts(clientOf(TaskService, wire, service.url, {}).listTasks({}));
    expect(stranger).toMatchObject({ reason: "UNAUTHENTICATED", metadata: {} });
  });
});

test("an error of Connect has the same details in JSON, also when it has a deadline", async () => {
  const body = JSON.stringify({ message: {}, title: long });
  const headers = { ...ann.headers, "content-type": "application/json" };
  const url = `${service.url}/task.v2.TaskService/CreateTask`;
  const plain = await send(url, { headers, body });
  const withDeadline = await send(url, { headers: { ...headers, "connect-timeout-ms": "60000" }, body });
  const factsOf = ({ headers: sent, ...reply }: typeof plain) =>
    JSON.parse(JSON.stringify(reply.json()).replaceAll(String(sent.get("x-request-id")), "req"));
  const [badRequest, requestInfo, errorInfo] = factsOf(plain).details;
  expect(badRequest).toMatchObject({
    type: "google.rpc.BadRequest",
    debug: { fieldViolations: [{ field: "message.content" }, { field: "title" }] },
  });
  expect(requestInfo).toMatchObject({ type: "google.rpc.RequestInfo", debug: { requestId: "req" } });
  expect(errorInfo).toMatchObject({
    type: "google.rpc.ErrorInfo",
    debug: { reason: "INVALID_ARGUMENT", metadata: { field: "message.content" } },
  });
  const [sameRequest, , sameInfo] = factsOf(withDeadline).details;
  expect([sameRequest, sameInfo]).toEqual([badRequest, errorInfo]);
});
