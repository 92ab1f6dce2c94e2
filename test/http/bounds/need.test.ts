import { type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import {
  type FieldRules,
  field as fieldRules,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import { AppendRequestSchema } from "../../../src/gen/proto/worker/v1/worker_service_pb.ts";
import { operationTable } from "../../../src/pipeline/operations.ts";
import { expectGolden } from "../../support/golden.ts";

/** The greatest BODY_LIMIT, in bytes: no operation can accept more. */
const bodyLimitMax = 1024 ** 3;
const kibibyte = 1024;
/** A character outside the Basic Multilingual Plane, escaped as two surrogates. */
const characterMax = 12;
/** A byte, escaped as one code unit. */
const byteMax = 6;
/** No pattern allows more characters. */
const patternMax = 256;

const asJson = (bytes: number): number => bytes * byteMax;
const asBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4 + 2;

/**
 * Largest need of fields that state no rule, with the place where the code bounds them. Content of any length
 * has no bound.
 */
const bounded: Readonly<Record<string, number | (() => number)>> = {
  "task.v2.ContentPart.text": Number.POSITIVE_INFINITY,
  "task.v2.ContentPart.file_data": Number.POSITIVE_INFINITY,
  "task.v2.Message.connectors": Number.POSITIVE_INFINITY,
  "browser.v2.CommandResult.result": Number.POSITIVE_INFINITY,
  "browser.v2.BrowserEvent.params": Number.POSITIVE_INFINITY,
  // 5,000 estimated tokens of text and a schema of 64 kB, both beyond ASCII and escaped: two bytes are six.
  "schedule.v1.ScheduleSettings.task": 5_000 * byteMax + 3 * 64 * kibibyte,
  // 64 kB of JSON (core/structured-output/bounds.ts).
  "task.v2.CreateTaskRequest.structured_output_schema": asJson(64 * kibibyte),
  "task.v2.SendMessageRequest.structured_output_schema": asJson(64 * kibibyte),
  // core/tasks/turn-request.ts.
  "task.v2.TurnRequest.echo": asJson(256 * kibibyte),
  // A few short texts; the schema of each kind of action bounds them.
  "task.v2.ConfirmActionRequest.input": asJson(32 * kibibyte),
  // 8 MB, 1 MiB.
  "settings.v1.CreateSkillRequest.archive": asBase64(8 * kibibyte ** 2),
  "settings.v1.ReplaceSkillContentRequest.archive": asBase64(8 * kibibyte ** 2),
  "worker.v1.UploadRequest.content": asBase64(kibibyte ** 2),
  // rpc/worker-messages.ts.
  "worker.v1.ToolUsed.params": asJson(64 * kibibyte),
  "worker.v1.ToolUsed.result": asJson(64 * kibibyte),
  "worker.v1.Ask.memo": asJson(64 * kibibyte),
  "worker.v1.Wait.memo": asJson(64 * kibibyte),
  "worker.v1.Confirm.params": asJson(64 * kibibyte),
  "worker.v1.Confirm.memo": asJson(64 * kibibyte),
  "worker.v1.Finish.output": asJson(256 * kibibyte),
  // rpc/worker-batch.ts: 100 events together, as one append has; 32 runs with their usage.
  "worker.v1.AppendBatchRequest.appends": () => needOf(AppendRequestSchema) + 31 * 2 * kibibyte,
  // rpc/import-event.ts.
  "dataimport.v1.ImportedToolUsed.params": asJson(kibibyte ** 2),
  "dataimport.v1.ImportedToolUsed.result": asJson(kibibyte ** 2),
  "dataimport.v1.ImportedStructuredOutputResult.value": asJson(kibibyte ** 2),
  "dataimport.v1.ImportedStatusDetail.confirm_input_schema": asJson(64 * kibibyte),
  // modules/model-service.ts.
  "installation.v1.SetModelRequest.entry": asJson(16 * kibibyte),
  "installation.v1.TestModelRequest.entry": asJson(16 * kibibyte),
  // Input of a tool from a model.
  "worker.v1.CallToolRequest.input": asJson(128 * kibibyte),
  // All scopes, and as many connectors as the catalogue has.
  "oauth.v2.ScopeConfig.scopes": 5 * 40,
  "oauth.v2.ScopeConfig.connector_uids": 1000 * 39,
  // Each name once.
  "observability.v2.CreateExportRequest.event_names": 100 * 60,
};

const schemas = "a schema and inputs of 64 kB of JSON each, escaped";
/** What an operation carries that needs more than 256 KiB. */
const reasons: Readonly<Record<string, string>> = {
  "task.v2.TaskService/CreateTask": "files in file_data",
  "task.v2.TaskService/SendMessage": "files in file_data",
  "browser.v2.BrowserService/Attach": "results of a browser: texts and pictures",
  "website.v2.WebsiteService/AddWebsiteViewers": "long lists of addresses",
  "task.v2.TaskService/UpdateTask": "100 rules for uses of tools",
  "project.v2.ProjectService/UpdateProject": "100 rules for uses of tools",
  "agent.v2.AgentProfileService/UpdateAgentProfile": "100 rules for uses of tools",
  "website.v2.WebsiteService/RemoveWebsiteViewers": "long lists of addresses",
  "settings.v1.SkillService/CreateSkill": "an archive of 8 MB",
  "settings.v1.SkillService/ReplaceSkillContent": "an archive of 8 MB",
  "oauth.v2.OAuth2AppService/CreateOAuth2App": "long lists of addresses",
  "oauth.v2.OAuth2AppService/UpdateOAuth2App": "long lists of addresses",
  "dataexport.v1.EnterpriseDataExportService/CreateExport": "long lists of ids",
  "dataexport.v2.EnterpriseDataExportV2Service/CreateExport": "long lists of ids",
  "dataimport.v1.ImportService/ImportTaskEvents": "histories with long texts",
  "worker.v1.WorkerService/Append": "events with long texts",
  "worker.v1.WorkerService/AppendBatch": "events with long texts",
  "worker.v1.WorkerService/WriteText": "long texts",
  "worker.v1.WorkerService/Finish": schemas,
  "worker.v1.WorkerService/Upload": "a file of 1 MiB",
  "worker.v1.WorkerService/CallTool": "an input of 128 kB of JSON, escaped",
};

const unstated: string[] = [];

/**
 * Bytes of JSON that a request of this type can need within the rules of its fields. Of a oneof, its largest
 * field counts.
 */
function needOf(desc: DescMessage): number {
  if (desc.typeName.startsWith("google.protobuf.")) return 40;
  const plain = desc.fields.filter(({ oneof }) => oneof === undefined).map(memberNeed);
  const choices = desc.oneofs.map(({ fields }) => Math.max(...fields.map(memberNeed)));
  return 2 + [...plain, ...choices].reduce((sum, need) => sum + need, 0);
}

/** With its name, quotes, colon and comma. */
const memberNeed = (field: DescField): number => field.name.length + 4 + valueNeed(field);

function valueNeed(field: DescField): number {
  const known = bounded[`${field.parent.typeName}.${field.name}`];
  if (known !== undefined) return typeof known === "number" ? known : known();
  const rules = getOption(field, fieldRules);
  if (field.fieldKind === "map") return mapNeed(field, rules);
  if (field.fieldKind !== "list") return elementNeed(field, rules);
  const list = rules.type.case === "repeated" ? rules.type.value : undefined;
  if (!list?.maxItems) return missing(field);
  return 2 + Number(list.maxItems) * (1 + elementNeed(field, list.items ?? rules));
}

/** Pairs with their quotes, colon and comma. */
function mapNeed(field: DescField, { type }: FieldRules): number {
  const { maxPairs = 0n, keys, values } = type.case === "map" ? type.value : {};
  const [key, value] = [keys?.type, values?.type].map((each) =>
    each?.case === "string" ? Number(each.value.maxLen) : 0,
  );
  return maxPairs && key && value
    ? 2 + Number(maxPairs) * (6 + (key + value) * characterMax)
    : missing(field);
}

function elementNeed(field: DescField, { type }: FieldRules): number {
  if (field.message)
    return /\.(Struct|Value)$/.test(field.message.typeName) ? missing(field) : needOf(field.message);
  if (field.enum) return 2 + Math.max(...field.enum.values.map(({ name }) => name.length));
  if (field.scalar === ScalarType.BYTES) return missing(field);
  if (field.scalar !== ScalarType.STRING) return 24;
  if (type.case !== "string") return missing(field);
  const { maxLen, maxBytes, pattern, wellKnown } = type.value;
  if (maxBytes > 0n) return 2 + Number(maxBytes) * byteMax;
  if (maxLen > 0n) return 2 + Number(maxLen) * characterMax;
  return pattern === "" && wellKnown.case === undefined ? missing(field) : 2 + patternMax;
}

function missing(field: DescField): number {
  unstated.push(`${field.parent.typeName}.${field.name}`);
  return 0;
}

describe("the limit of an operation", () => {
  test.each(
    operationTable().all.map((operation) => [operation.name ?? operation.rpc, operation] as const),
  )("%s is not below what the rules of its fields can need", (_name, { method, maxRequestBytes }) => {
    unstated.length = 0;
    expect(maxRequestBytes).toBeGreaterThanOrEqual(Math.min(needOf(method.input), bodyLimitMax));
    // A field without a rule needs an entry in the table above.
    expect(unstated).toEqual([]);
  });

  test("is 256 KiB, except for the operations in the golden file, each with its reason", () => {
    const larger = operationTable().all.filter(({ maxRequestBytes }) => maxRequestBytes > 256 * kibibyte);
    expectGolden(
      "large-requests.txt",
      larger.map((each) => `${each.rpc}  ${each.maxRequestBytes}  ${reasons[each.rpc]}\n`).join(""),
    );
    expect(Object.keys(reasons).toSorted()).toEqual(larger.map(({ rpc }) => rpc).toSorted());
  });
});
