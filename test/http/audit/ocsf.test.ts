import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type AuditEvent, AuditEventSchema, AuditOutcome } from "../../../src/gen/proto/audit/v2/audit_pb.ts";
import { ocsfEvent, ocsfVersion } from "../../../src/http/audit/ocsf.ts";
import { operationTable } from "../../../src/pipeline/operations.ts";

/**
 * OCSF 1.3.0 requirements (github.com/ocsf/ocsf-schema, events/ and objects/) for every event and for each
 * class. Nested objects are included, for instance the privileges and user of user access and the service of
 * an authentication.
 */
const ofAll = ["activity_id", "category_uid", "class_uid", "metadata", "severity_id", "time", "type_uid"];
const ofClass: Readonly<
  Record<
    number,
    { name: string; category: number; required: readonly string[]; activities: readonly number[] }
  >
> = {
  3001: {
    name: "Account Change",
    category: 3,
    required: ["user"],
    activities: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99],
  },
  3002: {
    name: "Authentication",
    category: 3,
    required: ["user", "service"],
    activities: [0, 1, 2, 3, 4, 5, 6, 99],
  },
  3005: {
    name: "User Access Management",
    category: 3,
    required: ["user", "privileges"],
    activities: [0, 1, 2, 99],
  },
  6003: {
    name: "API Activity",
    category: 6,
    required: ["actor", "api", "src_endpoint"],
    activities: [0, 1, 2, 3, 4, 99],
  },
};

/** Violations of the schema by an event, as texts. */
function faultsOf(event: JsonObject): string[] {
  const of = ofClass[Number(event["class_uid"])];
  if (!of) return [`class ${event["class_uid"]}`];
  const missing = [...ofAll, ...of.required].filter(
    (name) => event[name] === undefined || event[name] === null || event[name] === "",
  );
  const has = (path: string) =>
    path.split(".").reduce<unknown>((at, name) => (at as JsonObject | undefined)?.[name], event);
  const objects = [
    ...["metadata.version", "metadata.product.vendor_name", "metadata.product.name"],
    ...(of.required.includes("api") ? ["api.operation"] : []),
    ...(of.required.includes("user") ? ["user.uid"] : []),
    ...(of.required.includes("service") ? ["service.name"] : []),
    ...(of.required.includes("privileges") ? ["privileges.0"] : []),
  ].filter((path) => !has(path));
  const endpoint = has("src_endpoint.ip") ?? has("src_endpoint.name");
  return [
    ...missing,
    ...objects,
    ...(endpoint ? [] : ["src_endpoint has neither ip nor name"]),
    ...(of.activities.includes(Number(event["activity_id"])) ? [] : [`activity ${event["activity_id"]}`]),
    ...(event["activity_id"] === 99 && !event["activity_name"] ? ["another activity without a name"] : []),
    ...(event["type_uid"] === Number(event["class_uid"]) * 100 + Number(event["activity_id"])
      ? []
      : ["type_uid"]),
    ...(event["category_uid"] === of.category && event["class_name"] === of.name
      ? []
      : ["category or class name"]),
    ...([0, 1, 2, 3, 4, 5, 6, 99].includes(Number(event["severity_id"])) ? [] : ["severity"]),
  ];
}

const line = (members: Partial<AuditEvent> = {}): AuditEvent =>
  Object.assign(
    create(AuditEventSchema, {
      ...{
        id: "a",
        at: 1_790_000_000_000n,
        spaceId: "north",
        accountId: "ann",
        credential: "key:k",
        requestId: "req_1",
        address: "10.0.0.7",
      },
      ...{ operation: "task.v2.TaskService/DeleteTask", outcome: AuditOutcome.DONE, count: 1 },
    }),
    members,
  );

const pages = [
  "Invite",
  "SignIn",
  "SignOut",
  "ChangePassword",
  "Reauthenticate",
  "AuthorizeApp",
  "ApproveDevice",
  "ChooseConnectors",
  "RevokeApp",
];
const operations = [
  ...operationTable().all.map(({ rpc }) => rpc),
  ...pages.map((name) => `console/${name}`),
].concat([
  ...[
    "oauth/token",
    "oauth/revoke",
    "command/ReplaceWebhookKey",
    "command/GrantOperator",
    "command/RevokeOperator",
    "of/SomeLaterRelease",
  ],
]);

describe("the audit log in OCSF", () => {
  test.each([
    "done",
    "refused by forbidden",
    "refused by unauthenticated",
  ])("every operation's event has all fields that its class requires: %s", (how) => {
    const [outcome, , reason] = how.split(" ");
    const refused =
      outcome === "refused" ? { outcome: AuditOutcome.REFUSED, reason: reason ?? "", count: 3 } : {};
    const bare = { address: "", accountId: "" };
    const faults = operations.flatMap((operation) =>
      [{}, bare, { subject: "s", before: { status: "active" }, after: { status: "inactive" } }].flatMap(
        (members) =>
          faultsOf(ocsfEvent(line({ operation, ...members, ...refused }))).map(
            (fault) => `${operation}: ${fault}`,
          ),
      ),
    );
    expect(faults).toEqual([]);
  });

  const team = "team.v2.TeamUserManagementApiV2Service";
  test.each([
    { operation: "task.v2.TaskService/CreateTask", is: "API Activity: Create" },
    { operation: "task.v2.TaskService/SendMessage", is: "API Activity: Create" },
    { operation: "task.v2.TaskService/StopTask", is: "API Activity: Update" },
    { operation: "task.v2.TaskService/DeleteTask", is: "API Activity: Delete" },
    { operation: "command/ReplaceWebhookKey", is: "API Activity: Update" },
    { operation: "command/ErasePerson", is: "Account Change: Delete" },
    { operation: "command/EraseSpace", is: "API Activity: Delete" },
    { operation: "of/Whatever", is: "API Activity: Whatever" },
    { operation: `${team}/CreateUser`, is: "Account Change: Create" },
    { operation: `${team}/RemoveMember`, is: "Account Change: Delete" },
    { operation: `${team}/DelegateProfile`, is: "Account Change: Delegate" },
    {
      operation: `${team}/UpdateUser`,
      before: { status: "active" },
      after: { status: "inactive" },
      is: "Account Change: Disable",
    },
    {
      operation: `${team}/UpdateUser`,
      before: { status: "inactive" },
      after: { status: "active" },
      is: "Account Change: Enable",
    },
    {
      operation: `${team}/UpdateUser`,
      before: { status: "active" },
      after: { status: "removed" },
      is: "Account Change: Delete",
    },
    {
      operation: `${team}/UpdateUser`,
      before: { role: "member" },
      after: { role: "admin" },
      is: "User Access Management: Assign Privileges",
    },
    { operation: "console/SignIn", is: "Authentication: Logon" },
    { operation: "console/SignOut", is: "Authentication: Logoff" },
    { operation: "settings.v1.ApiKeyService/CreateApiKey", is: "User Access Management: Assign Privileges" },
    { operation: "settings.v1.ApiKeyService/RevokeApiKey", is: "User Access Management: Revoke Privileges" },
    { operation: "task.v2.TaskService/DeleteTask", reason: "unauthenticated", is: "Authentication: Logon" },
    { operation: "task.v2.TaskService/DeleteTask", reason: "limited", is: "API Activity: Delete" },
  ])("$operation is $is", ({ operation, before, after, reason, is }) => {
    const refused = reason === undefined ? {} : { outcome: AuditOutcome.REFUSED, reason };
    const event = ocsfEvent(
      line({
        operation,
        ...refused,
        ...(before ? { before } : {}),
        ...(after ? { after } : {}),
      } as Partial<AuditEvent>),
    );
    expect(`${event["class_name"]}: ${event["activity_name"]}`).toBe(is);
  });

  test("an event states actor, action, target, source address and refusal, and keeps the remaining fields", () => {
    const refused = {
      outcome: AuditOutcome.REFUSED,
      reason: "forbidden",
      count: 4,
      seq: 9,
      hash: "ff",
      subject: "task-1",
    };
    expect(ocsfEvent(line(refused))).toEqual({
      ...{
        category_uid: 6,
        class_uid: 6003,
        class_name: "API Activity",
        activity_id: 4,
        activity_name: "Delete",
        type_uid: 600_304,
      },
      ...{ time: 1_790_000_000_000, severity_id: 2, status_id: 2, status_detail: "forbidden", count: 4 },
      metadata: {
        version: ocsfVersion,
        product: { name: "Agent Task Platform", vendor_name: "Agent Task Platform" },
        ...{ uid: "a", correlation_uid: "req_1", log_name: "audit" },
      },
      src_endpoint: { ip: "10.0.0.7" },
      actor: { user: { uid: "ann", type_id: 1, org: { uid: "north" } }, session: { uid: "key:k" } },
      api: { operation: "task.v2.TaskService/DeleteTask", request: { uid: "req_1" } },
      resources: [{ uid: "task-1" }],
      unmapped: {
        operation: "task.v2.TaskService/DeleteTask",
        before: null,
        after: null,
        seq: 9,
        hash: "ff",
      },
    });
  });
});
