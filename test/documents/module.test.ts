import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  createFileRegistry,
  type DescField,
  type FileRegistry,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeModule } from "../../scripts/documents/module.ts";
import { readSchema } from "../../scripts/reference/schema.ts";
import { wire } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { services } from "../../src/pipeline/services.ts";
import { root } from "../support/server-process.ts";

const run = promisify(execFile);
const buf = join(root, "node_modules/.bin/buf");

const isShown = (field: DescField): boolean => !getOption(field, wire).hidden;

/**
 * Everything that is on a wire: the fields of messages, the values of enums and the methods of services, by
 * their full names.
 */
const wireOf = (schema: FileRegistry): readonly string[] =>
  [...schema]
    .filter(({ typeName }) => !typeName.startsWith("grpc."))
    .flatMap((type) => {
      // The documents leave out hidden fields; the module has them, because they are on the binary wires.
      if (type.kind === "message")
        return type.fields
          .filter(isShown)
          .map((field) => `${field} ${field.number} ${field.name} ${field.proto.type}`);
      if (type.kind === "enum")
        return type.values.map((value) => `${type.typeName} ${value.name} ${value.number}`);
      return type.kind === "service"
        ? type.methods.map(({ name, input, output }) => `${type.typeName}/${name} ${input} ${output}`)
        : [];
    })
    .toSorted();

describe("the module for a registry of schemas", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "module-"));
    writeModule(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function image(...more: readonly string[]): Promise<FileRegistry> {
    const file = join(folder, "image.binpb");
    await run(buf, ["build", "-o", file, ...more], { cwd: folder });
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, await readFile(file)));
  }

  test("has the same packages, messages and services as the server, in files below atp/", async () => {
    const schema = await image();
    expect(wireOf(schema)).toEqual(wireOf(readSchema()));
    const files = services.map(({ typeName }) => schema.getService(typeName)?.file.proto.name);
    expect(files.filter((name) => name?.startsWith("atp/") !== true)).toEqual([]);
  });

  test("passes its own rules, and does not break clients of the schema", async () => {
    await run(buf, ["lint"], { cwd: folder });
    await run(buf, ["breaking", "--against", join(root, "proto")], { cwd: folder });
  });

  test("gives plugins idiomatic names: options by managed mode", async () => {
    const template = `${await readFile(join(folder, "buf.gen.yaml"), "utf8")}plugins:\n  - local: [node, ${join(folder, "options.mjs")}]\n    out: out\n    opt: [target=ts]\n    strategy: all\n`;
    await writeFile(join(folder, "with-plugin.yaml"), template);
    // A plugin that returns its request: the descriptors as every plugin gets them.
    await writeFile(
      join(folder, "options.mjs"),
      `import { createEcmaScriptPlugin, runNodeJs } from ${JSON.stringify(join(root, "node_modules/@bufbuild/protoplugin/dist/esm/index.js"))};
runNodeJs(createEcmaScriptPlugin({ name: "options", version: "v1", generateTs(schema) {
  const file = schema.generateFile("options.json");
  file.print(JSON.stringify(schema.files.map(({ proto: { name, options } }) => ({ name, go: options?.goPackage, java: options?.javaPackage, many: options?.javaMultipleFiles, csharp: options?.csharpNamespace, ruby: options?.rubyPackage, php: options?.phpNamespace }))));
} }));\n`,
    );
    await run(buf, ["generate", "--template", "with-plugin.yaml"], { cwd: folder });
    const text = await readFile(join(folder, "out/options.json"), "utf8");
    const options: readonly Readonly<Record<string, unknown>>[] = JSON.parse(text.slice(text.indexOf("[")));
    expect(options.find(({ name }) => name === "atp/task/v2/task_service.proto")).toEqual({
      name: "atp/task/v2/task_service.proto",
      go: "agent-task-platform.dev/gen/go/atp/task/v2;taskv2",
      ...{ java: "dev.agenttaskplatform.task.v2", many: true, csharp: "AgentTaskPlatform.Task.V2" },
      ...{ ruby: "AgentTaskPlatform::Task::V2", php: "AgentTaskPlatform\\Task\\V2" },
    });
    // Nothing shadows a name of another package, and the rules of fields are not defined a second time.
    const own = {
      ...{
        name: /^atp\//,
        go: /^agent-task-platform\.dev\/gen\/go\/atp\//,
        java: /^dev\.agenttaskplatform\./,
        csharp: /^AgentTaskPlatform\./,
      },
      ...{ ruby: /^AgentTaskPlatform::/, php: /^AgentTaskPlatform\\/ },
    };
    expect(options.length).toBeGreaterThan(40);
    const shadowing = options.filter((file) =>
      Object.entries(own).some(([option, form]) => !form.test(String(file[option]))),
    );
    expect(shadowing).toEqual([]);
  });
});
