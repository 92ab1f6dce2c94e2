import { create, createFileRegistry, type DescMessage } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
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
    expect(await errorOf("task.create", { message: { content: "Hello" }, title: long, locale: long })).toEqual({
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
    expect(await errorOf("task.create", { message: { content: "Hello" }, project_id: "none" })).toMatchObject({
      type: "not_found",
      param: "project_id",
      details: [{ param: "project_id", message: "project not found" }],
    });
  });

  test("of a number outside its range says from where to where", async () => {
    const { body } = await ann.v2("task.list", { limit: "1000" }, { method: "GET" });
    expect(body.error?.message).toBe("limit: must be from 1 to 100");
  });

  test("lists values of the wrong type and broken rules of other members together, the wrong types first", async () => {
    const content = [{ type: "nope" }, { type: "text", text: "fine" }, { type: "text", text: 7 }];
    const error = await errorOf("task.create", { title: long, interactive_mode: "yes", message: { content } });
    expect(error).toMatchObject({ param: "interactive_mode", message: "interactive_mode: must be true or false" });
    expect(error?.details).toEqual([
      { param: "interactive_mode", message: "must be true or false" },
      { param: "message.content[0].type", message: expect.stringContaining("must be one of") },
      { param: "message.content[2].text", message: "must be a string" },
      { param: "title", message: "must be at most 255 characters" },
    ]);
  });

  test("does not call a member missing whose value has the wrong type", async () => {
    expect((await errorOf("task.create", { message: 7 }))?.details).toEqual([{ param: "message", message: "must be an object" }]);
    expect((await errorOf("task.create", { message: { content: 7 } }))?.details).toEqual([
      { param: "message.content", message: "must be a string or an array of parts" },
    ]);
  });

  test("lists at most 20 mistakes, and at most 3 KiB of them", async () => {
    const numbers = { message: { content: Array.from({ length: 50 }, () => ({ type: "text", text: 7 })) } };
    const many = (await errorOf("task.create", numbers))?.details;
    expect(many).toHaveLength(20);
    const metadata = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}${"k".repeat(60)}${"é".repeat(300)}`, n]));
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

/** `google.rpc.BadRequest`, as clients have it from their own libraries. */
function badRequestType(): DescMessage {
  const { TYPE_STRING: text, TYPE_MESSAGE: message } = {
    TYPE_STRING: FieldDescriptorProto_Type.STRING,
    TYPE_MESSAGE: FieldDescriptorProto_Type.MESSAGE,
  };
  const [one, many] = [FieldDescriptorProto_Label.OPTIONAL, FieldDescriptorProto_Label.REPEATED];
  const set = create(FileDescriptorSetSchema, {
    file: [
      {
        name: "google/rpc/error_details.proto",
        package: "google.rpc",
        syntax: "proto3",
        messageType: [
          {
            name: "BadRequest",
            field: [
              {
                name: "field_violations",
                number: 1,
                type: message,
                label: many,
                typeName: ".google.rpc.BadRequest.FieldViolation",
                jsonName: "fieldViolations",
              },
            ],
            nestedType: [
              {
                name: "FieldViolation",
                field: [
                  { name: "field", number: 1, type: text, label: one, jsonName: "field" },
                  { name: "description", number: 2, type: text, label: one, jsonName: "description" },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
  const type = createFileRegistry(set).getMessage("google.rpc.BadRequest");
  if (!type) throw new Error("the type is missing");
  return type;
}

describe.each(rpcWires)("over %s", (wire) => {
  test("an error has its mistakes as google.rpc.BadRequest", async () => {
    const refused = await ann
      .client(TaskService, wire)
      .createTask({ message: { content: [{ text: "Hello" }] }, title: long, locale: long })
      .catch((thrown: unknown) => ConnectError.from(thrown));
    if (!(refused instanceof ConnectError)) throw new Error("the call was accepted");
    expect(refused.rawMessage).toBe("locale: must be at most 64 characters");
    expect(refused.findDetails(badRequestType())).toMatchObject([
      {
        fieldViolations: [
          { field: "locale", description: "must be at most 64 characters" },
          { field: "message.content[0].type", description: expect.stringMatching(/^is required/) },
          { field: "title", description: "must be at most 255 characters" },
        ],
      },
    ]);
  });

  test("an error without a member has no details", async () => {
    const refused = await ann.client(TaskService, wire).getTask({ taskId: "none" }).catch(ConnectError.from);
    expect(refused).toMatchObject({ rawMessage: "task not found", details: [] });
  });
});

test("an error of Connect has the same details in JSON, also when it has a deadline", async () => {
  const body = JSON.stringify({ message: {}, title: long });
  const headers = { ...ann.headers, "content-type": "application/json" };
  const url = `${service.url}/task.v2.TaskService/CreateTask`;
  const plain = await send(url, { headers, body });
  const withDeadline = await send(url, { headers: { ...headers, "connect-timeout-ms": "60000" }, body });
  const details = plain.json()["details"];
  expect(details).toMatchObject([
    { type: "google.rpc.BadRequest", debug: { fieldViolations: [{ field: "message.content" }, { field: "title" }] } },
  ]);
  expect(withDeadline.json()).toEqual(plain.json());
});
