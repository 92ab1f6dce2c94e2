import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { create, createFileRegistry, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Health } from "../../src/gen/proto/grpc/health/v1/health_pb.ts";
import {
  ServerReflection,
  type ServerReflectionRequestSchema,
} from "../../src/gen/proto/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as ServerReflectionAlpha } from "../../src/gen/proto/grpc/reflection/v1alpha/reflection_pb.ts";
import { A2AService } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import { services } from "../../src/pipeline/services.ts";
import { openService, type Person, type Service } from "../support/service.ts";

const run = promisify(execFile);
const served = [...services, A2AService, Health].map(({ typeName }) => typeName);

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService({ idle: true });
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

type Question = MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"];

/** The files in an order in which each follows its imports. All imports must be present. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const sorted = new Set<FileDescriptorProto>();
  const visit = (name: string): void => {
    const file = files.find((other) => other.name === name);
    if (!file) throw new Error(`${name} is missing`);
    if (sorted.has(file)) return;
    file.dependency.forEach(visit);
    sorted.add(file);
  };
  for (const { name } of files) visit(name);
  return [...sorted];
}

describe.each([
  ["v1", ServerReflection],
  ["v1alpha", ServerReflectionAlpha],
])("server reflection %s", (version, desc) => {
  /** Sends all questions at once on one stream, without a credential. */
  async function ask(...questions: Question[]) {
    async function* requests() {
      for (const messageRequest of questions)
        yield { host: "h", ...(messageRequest ? { messageRequest } : {}) };
    }
    // The two versions differ only in the package's name.
    const client = createClient(
      desc as typeof ServerReflection,
      createGrpcTransport({ baseUrl: service.url }),
    );
    const answers = await Array.fromAsync(client.serverReflectionInfo(requests()));
    return answers.map(({ messageResponse }) => messageResponse);
  }

  /** The types in a file's answer. The answer is complete when they can be linked. */
  async function typesOf(question: Question) {
    const [answer] = await ask(question);
    if (answer?.case !== "fileDescriptorResponse") throw new Error(`no file: ${JSON.stringify(answer)}`);
    const descriptors = answer.value.fileDescriptorProto.map((bytes) =>
      fromBinary(FileDescriptorProtoSchema, bytes),
    );
    return createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(descriptors) }));
  }

  test("lists every service that is served", async () => {
    const [answer] = await ask({ case: "listServices", value: "" });
    expect(answer).toMatchObject({ case: "listServicesResponse" });
    const names = answer?.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : [];
    expect(names.toSorted()).toEqual(served.toSorted());
  });

  test.each(served)("gives the whole file of %s", async (name) => {
    const types = await typesOf({ case: "fileContainingSymbol", value: name });
    expect(types.getService(name)?.methods.length).toBeGreaterThan(0);
  });

  test.each([
    "project.v2.Project",
    "project.v2.ProjectService.CreateProject",
    "project.v2.Project.name",
    "task.v2.TaskStatus",
  ])("finds the file of a member: %s", async (symbol) => {
    const [answer] = await ask({ case: "fileContainingSymbol", value: symbol });
    expect(answer?.case).toBe("fileDescriptorResponse");
  });

  test("finds files by name and by extension, and lists extensions", async () => {
    const byName = await typesOf({ case: "fileByFilename", value: "project/v2/project.proto" });
    expect(byName.getMessage("project.v2.Project")).toBeDefined();
    const extension = { containingType: "google.protobuf.MethodOptions", extensionNumber: 50101 };
    const byExtension = await typesOf({ case: "fileContainingExtension", value: extension });
    expect(byExtension.getExtension("taskplatform.options.v1.operation")).toBeDefined();
    const [numbers] = await ask({
      case: "allExtensionNumbersOfType",
      value: "google.protobuf.MethodOptions",
    });
    expect(numbers).toMatchObject({
      case: "allExtensionNumbersResponse",
      value: { extensionNumber: [50101] },
    });
  });

  test("answers many questions on one stream, and reports each that it does not find", async () => {
    const notFound = { case: "errorResponse", value: { errorCode: 5 } };
    const answers = await ask(
      { case: "fileByFilename", value: "no/such.proto" },
      { case: "fileContainingSymbol", value: "no.such.Symbol" },
      {
        case: "fileContainingExtension",
        value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 1 },
      },
      { case: undefined },
    );
    expect(answers).toMatchObject([
      notFound,
      notFound,
      notFound,
      { case: "errorResponse", value: { errorCode: 3 } },
    ]);
  });

  test("is enough for buf curl to call an operation without its schema", async () => {
    const curl = async (...args: string[]) => {
      const common = [
        "curl",
        "--http2-prior-knowledge",
        "--protocol",
        "grpc",
        "--reflect",
        "--reflect-protocol",
        `grpc-${version}`,
      ];
      const { stdout } = await run("node_modules/.bin/buf", [...common, ...args]);
      return stdout;
    };
    expect((await curl("--list-services", service.url)).trim().split("\n").toSorted()).toEqual(
      served.toSorted(),
    );
    const header = ["--header", `x-service-api-key: ${ann.key}`];
    const answer = await curl(
      ...header,
      "--data",
      '{"name":"Garden"}',
      `${service.url}/project.v2.ProjectService/CreateProject`,
    );
    expect(JSON.parse(answer)).toMatchObject({ project: { name: "Garden" } });
  });
});
