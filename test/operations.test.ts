import { readdirSync, readFileSync } from "node:fs";
import { create, type DescMethod, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { TaskService } from "../src/gen/proto/task/v2/task_service_pb.ts";
import {
  Access_Credential,
  Access_CredentialSchema,
  Access_Role,
  Access_RoleSchema,
  Operation_RateClass,
  OperationSchema,
  operation,
} from "../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { type Operation, operationTable } from "../src/pipeline/operations.ts";
import { services } from "../src/pipeline/services.ts";
import { expectGolden } from "./support/golden.ts";

const table = operationTable();

/** A method like task.delete, with other facts. */
function withFacts(facts: Parameters<typeof create<typeof OperationSchema>>[1] | null): DescService {
  const options = create(MethodOptionsSchema);
  if (facts !== null) setExtension(options, operation, create(OperationSchema, facts));
  const { deleteTask } = TaskService.method;
  const method = { ...deleteTask, proto: { ...deleteTask.proto, options } } as DescMethod;
  return { ...TaskService, methods: [method] } as unknown as DescService;
}

const access = { credentials: [Access_Credential.API_KEY], anyScope: [], roles: [] };
const anonymous = { case: "anonymous" as const, value: {} };
const sound = {
  ...{ name: "task.delete", rateClass: Operation_RateClass.WRITE, destructive: true },
  who: { case: "access" as const, value: access },
};

describe("the operation table", () => {
  test("equals the golden file: a change of access is one line of a diff", () => {
    expectGolden("operations.txt", `${table.all.map(line).join("\n")}\n`);
  });

  test("holds every service in proto/, except the two standard ones and that of test mode", () => {
    const root = new URL("../proto/", import.meta.url);
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith("_service.proto"),
    );
    const named = files.flatMap((file) => {
      const text = readFileSync(new URL(file, root), "utf8");
      const pack = /^package ([\w.]+);/m.exec(text)?.[1];
      return [...text.matchAll(/^service (\w+) \{/gm)].map(([, name]) => `${pack}.${name}`);
    });
    const ofPlatform = named.filter((name) => name !== "testing.v1.TestService");
    expect(services.map(({ typeName }) => typeName).toSorted()).toEqual(ofPlatform.toSorted());
  });

  test.each([
    { why: "no facts", facts: null, gap: "who may call is not stated" },
    { why: "no access", facts: { ...sound, who: { case: undefined } }, gap: "who may call is not stated" },
    {
      why: "no rate class",
      facts: { ...sound, rateClass: Operation_RateClass.RATE_CLASS_UNSPECIFIED },
      gap: "the rate class is not stated",
    },
    {
      why: "access without credentials",
      facts: { ...sound, who: { case: "access" as const, value: { ...access, credentials: [] } } },
      gap: "no credential",
    },
    {
      why: "operators by key",
      facts: { ...sound, who: { case: "access" as const, value: { ...access, operator: true } } },
      gap: "operators without SESSION alone",
    },
    {
      why: "an unknown scope",
      facts: {
        ...sound,
        who: {
          case: "access" as const,
          value: { ...access, credentials: [Access_Credential.OAUTH], anyScope: ["all"] },
        },
      },
      gap: "unknown scope all",
    },
    {
      why: "scopes without tokens",
      facts: { ...sound, who: { case: "access" as const, value: { ...access, anyScope: ["create_task"] } } },
      gap: "scopes without OAUTH",
    },
    {
      why: "roles without general keys or sessions",
      facts: {
        ...sound,
        who: {
          case: "access" as const,
          value: { ...access, credentials: [Access_Credential.SIEM], roles: [Access_Role.OWNER] },
        },
      },
      gap: "roles without API_KEY or SESSION",
    },
    {
      why: "a change without a credential",
      facts: { ...sound, who: anonymous },
      gap: "an anonymous operation cannot be a change",
    },
    {
      why: "more than 64 KiB without a credential",
      facts: { ...sound, who: anonymous },
      gap: "an anonymous operation reads at most 65536 bytes",
    },
    {
      why: "a change that is marked as an audited read",
      facts: { ...sound, audited: true },
      gap: "only a unary read",
    },
    {
      why: "a change that does not say whether it is destructive",
      facts: { ...sound, destructive: undefined },
      gap: "a change, and only a change, states whether it is destructive",
    },
    { why: "a name that is not dotted", facts: { ...sound, name: "delete" }, gap: "is not a dotted name" },
  ])("stops the start on a method with $why", ({ facts, gap }) => {
    expect(() => operationTable([withFacts(facts)])).toThrow(gap);
  });

  test("stops the start when two methods have one name", () => {
    expect(() => operationTable([withFacts(sound), withFacts(sound)])).toThrow(
      "the name task.delete is taken",
    );
  });
});

function line({
  rpc,
  name,
  access,
  readsSessions,
  rateClass,
  countedAs,
  isChange: change,
  hasSecretAnswer: secretAnswer,
  isAudited: audited,
  maxRequestBytes,
}: Operation): string {
  const counted = countedAs === rpc ? "" : ` as ${countedAs}`;
  const credentials =
    access === null
      ? `anonymous${readsSessions ? ",SESSION" : ""}`
      : [...access.credentials].map((value) => Access_CredentialSchema.value[value]?.name).join(",");
  const scopes = access && access.anyScope.length > 0 ? ` scopes=${access.anyScope.join("|")}` : "";
  const roles =
    access && access.roles.size > 0
      ? ` roles=${[...access.roles].map((value) => Access_RoleSchema.value[value]?.name).join("|")}`
      : "";
  return `${name ?? "-"}  ${change ? "POST" : "GET|POST"}  ${rpc}  ${credentials}${scopes}${roles}  ${rateClass}${counted}${secretAnswer ? "  secret" : ""}${audited ? "  audited" : ""}  max=${maxRequestBytes}`;
}
