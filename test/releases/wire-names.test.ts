import { execFileSync } from "node:child_process";
import { createFileRegistry, type FileRegistry, fromBinary, getOption, hasOption } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { readReleases, schemaOf } from "../../scripts/releases.ts";
import { operation, wire, word } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";

/** Every name of a schema that client code may contain, one per line. */
function wireNames(schema: FileDescriptorSet): ReadonlySet<string> {
  const registry: FileRegistry = createFileRegistry(schema);
  const names: string[] = [];
  for (const type of registry) {
    if (type.kind === "service") {
      names.push(`service ${type.typeName}`);
      for (const method of type.methods) {
        names.push(`method ${type.typeName}/${method.name} (${method.methodKind})`);
        if (hasOption(method, operation)) names.push(`v2 name "${getOption(method, operation).name}"`);
      }
    }
    if (type.kind === "enum")
      for (const value of type.values)
        names.push(`word "${getOption(value, word)}" of ${type.typeName}.${value.name} = ${value.number}`);
    if (type.kind === "message")
      for (const field of type.fields) {
        names.push(`member "${field.name}" of ${type.typeName}`);
        for (const alias of getOption(field, wire).aliases)
          names.push(`member "${alias}" of ${type.typeName}`);
      }
  }
  return new Set(names);
}

const missingNames = (before: FileDescriptorSet, now: FileDescriptorSet): readonly string[] => [
  ...wireNames(before).difference(wireNames(now)),
];

const built = execFileSync("node_modules/.bin/buf", ["build", "--exclude-source-info", "-o", "-"], {
  maxBuffer: 2 ** 26,
});
const now = (): FileDescriptorSet => fromBinary(FileDescriptorSetSchema, built);

test.each(
  readReleases().all,
)("no service, method, v2 name, member or value of $version is removed", (release) => {
  expect(missingNames(schemaOf(release), now())).toEqual([]);
});

test("a removed service, method, member or value is reported", () => {
  const changed = now();
  const file = (name: string) => changed.file.find((each) => each.name === name);
  const user = file("user/v2/user_service.proto");
  const task = file("task/v2/task_service.proto");
  const [taskService] = task?.service ?? [];
  const gone = taskService?.method.shift()?.name;
  user?.service.splice(0);
  file("task/v2/task.proto")?.enumType[0]?.value.pop();
  file("task/v2/task.proto")?.messageType[0]?.field.pop();
  const named = missingNames(now(), changed);
  expect(named).toContain("service user.v2.UserService");
  expect(named).toContain('v2 name "user.me"');
  expect(named).toContain(`method task.v2.TaskService/${gone} (unary)`);
  expect(named.filter((line) => line.startsWith("word "))).toHaveLength(1);
  expect(named.filter((line) => line.startsWith("member "))).toHaveLength(1);
});
