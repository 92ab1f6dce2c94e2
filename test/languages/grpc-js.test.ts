import { once } from "node:events";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { type ClientDuplexStream, credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Person, type Service } from "../support/service.ts";
import { grpcJsClient, loading } from "./grpc-js-client.ts";
import { operations, operationsIn, protoFiles, protoFolder } from "./proto-files.ts";
import { messageOf, runStory } from "./story.ts";
import { expectStory } from "./transcript.ts";
import { expectSlotReleased, expectTimeLimit } from "./watch-slots.ts";

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService();
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

const fromFiles = () => loadSync(protoFiles, { ...loading, includeDirs: [protoFolder] });

interface Reflection {
  serverReflectionInfo(): ClientDuplexStream<
    object,
    { readonly fileDescriptorResponse: { readonly fileDescriptorProto: Buffer[] } }
  >;
  close(): void;
}

/** The server's own description, requested with only reflection's own file. */
async function fromServer(): Promise<PackageDefinition> {
  const packages = loadPackageDefinition(
    loadSync("grpc/reflection/v1/reflection.proto", { includeDirs: [protoFolder] }),
  );
  // Definitions that are loaded at run time have no types.
  const { v1 } = (
    packages["grpc"] as unknown as {
      reflection: { v1: { ServerReflection: new (...args: unknown[]) => Reflection } };
    }
  ).reflection;
  const client = new v1.ServerReflection(new URL(service.url).host, credentials.createInsecure());
  try {
    const stream = client.serverReflectionInfo();
    stream.end({ fileContainingSymbol: "task.v2.TaskService" });
    const [{ fileDescriptorResponse: files }] = await once(stream, "data");
    const file = files.fileDescriptorProto.map((bytes: Uint8Array) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    const set = toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
    return loadFileDescriptorSetFromBuffer(Buffer.from(set), loading);
  } finally {
    client.close();
  }
}

/** The paths of the services' methods, without the first slash. */
const methodsOf = (definition: PackageDefinition): string[] =>
  Object.values(definition).flatMap((loaded) =>
    "format" in loaded ? [] : Object.values(loaded).map(({ path }) => path.slice(1)),
  );

describe("grpc-js with dynamic loading", () => {
  test("loads every operation from proto/", () => {
    expect(operationsIn(methodsOf(fromFiles()))).toEqual(operations);
  });

  test("creates, watches, answers, confirms and stops a task", async () => {
    using client = grpcJsClient(fromFiles(), service.url);
    expectStory(await runStory(client.clientFor, ann.key));
  });

  test("creates, reads and stops a task with a definition from reflection", async () => {
    using client = grpcJsClient(await fromServer(), service.url);
    const { call } = client.clientFor(ann.key);
    const { taskId } = await call("CreateTask", messageOf("[[forever]]"));
    expect(await call("GetTask", { taskId })).toMatchObject({
      task: { id: taskId, status: "TASK_STATUS_RUNNING" },
    });
    await call("StopTask", { taskId });
    expect(await call("GetTask", { taskId })).toMatchObject({
      task: { status: "TASK_STATUS_STOPPED" },
      lastSeq: 4,
    });
  });

  const connect = (url: string) => grpcJsClient(fromFiles(), url);

  test("releases its slot when it leaves a watch", () => expectSlotReleased(connect));
  test("can limit the time of a watch", () => expectTimeLimit(connect));
});
