import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unbuiltMethods } from "../../scripts/check/unbuilt.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { handlerTable, unbuilt } from "../../src/pipeline/handlers.ts";
import { idempotencyRecords } from "../../src/pipeline/idempotency.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { performer } from "../../src/pipeline/perform.ts";
import { services } from "../../src/pipeline/services.ts";
import { openStub } from "../http/bodies/stub.ts";
import { cipher } from "../support/cipher.ts";
import { openTestStore, type TestStore } from "../support/database.ts";
import { root } from "../support/server-process.ts";
import { callerOf, refused, servedBy, type Wire, wires } from "../wires/call.ts";

/** No method of any service is implemented. */
const unfinished = services.map((service) => ({
  service,
  handlers: Object.fromEntries(service.methods.map(({ localName }) => [localName, unbuilt])),
}));

/** A request with a text that no field accepts; null for an operation without text fields. */
const broken = ({ method }: Operation): JsonObject | null => {
  const field = method.input.fields.find(
    ({ fieldKind, scalar }) => fieldKind === "scalar" && scalar === ScalarType.STRING,
  );
  return field ? { [field.name]: "\0" } : null;
};

describe("an operation that is not implemented", () => {
  let database: TestStore;
  let stub: Awaited<ReturnType<typeof openStub>>;

  beforeAll(async () => {
    database = await openTestStore("sqlite");
    const audit = { write: async () => undefined, noteRefusal: () => undefined };
    stub = await openStub(
      {},
      performer(
        database.store,
        handlerTable(services, unfinished),
        idempotencyRecords(cipher, Date.now),
        audit,
      ),
    );
  });
  afterAll(async () => {
    await stub[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** The answer of each operation, with the text of the refusal where it is `unimplemented`. */
  async function answers(
    wire: Wire,
    operations: readonly Operation[],
    bodyOf: (operation: Operation) => { json?: JsonObject },
  ) {
    const call = callerOf(stub.url);
    const lines: string[] = [];
    for (const operation of operations) {
      const { outcome, message } = await call(wire, operation, bodyOf(operation));
      lines.push(
        `${operation.rpc}: ${outcome}${outcome === refused("unimplemented", wire) ? `, ${message}` : ""}`,
      );
    }
    return lines;
  }

  test.each(wires)("answers unimplemented to a sound call over %s", async (wire) => {
    const operations = servedBy(wire);
    expect(await answers(wire, operations, () => ({}))).toEqual(
      operations.map(
        ({ rpc, name }) => `${rpc}: ${refused("unimplemented", wire)}, ${name ?? rpc} is not built yet`,
      ),
    );
  });

  test.each(wires)("looks at the fields first over %s", async (wire) => {
    const withFields = servedBy(wire).filter(
      (operation) => operation.method.methodKind !== "bidi_streaming" && broken(operation),
    );
    expect(await answers(wire, withFields, (operation) => ({ json: broken(operation) ?? {} }))).toEqual(
      withFields.map(({ rpc }) => `${rpc}: ${refused("invalid_argument", wire)}`),
    );
  });
});

describe("the handler table", () => {
  test("is refused when a service has no handlers, or lacks one", () => {
    const [create, list] = ["CreateProject", "ListProjects"].map(
      (name) => `project.v2.ProjectService/${name}`,
    );
    expect(() => handlerTable([ProjectService], [])).toThrow(
      `operations without a handler:\n${create}\n${list}`,
    );
    const half = { service: ProjectService, handlers: { createProject: unbuilt } };
    expect(() => handlerTable([ProjectService], [half])).toThrow(`operations without a handler:\n${list}`);
  });
});

describe("the check for unimplemented methods", () => {
  test("finds none here", () => {
    expect(unbuiltMethods(root)).toEqual([]);
  });

  test("lists each with its position", async () => {
    const project = await mkdtemp(join(tmpdir(), "unbuilt-"));
    const rpc = join(project, "src", "rpc");
    await mkdir(rpc, { recursive: true });
    await writeFile(
      join(rpc, "project.ts"),
      'import { unbuilt } from "./handlers.ts";\n\nconst all = {\n  renameProject: unbuilt,\n};\n',
    );
    expect(unbuiltMethods(project)).toEqual(["src/rpc/project.ts:4: renameProject: unbuilt,"]);
    await rm(project, { recursive: true });
  });
});
