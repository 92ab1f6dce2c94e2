import type { Attack } from "../attack.ts";
import { items, list, names, nest } from "../material/json.ts";
import { calls } from "./calls.ts";

const createTask = "task.v2.TaskService/CreateTask";
const million = 1_000_000;
const megabyte = 1_000_000;

const content = (inner: string) => `{"message":{"content":${inner}}}`;
const tooLarge = "413 invalid_argument";
const tooLargeForConnect = "429 resource_exhausted";
const invalid = "400 invalid_argument";

/** JSON whose objects cost far more than their bytes, and JSON whose mistake is far away. */
export const jsons: readonly Attack[] = calls([
  ["11 million empty objects in message.content", "member", "connect-json", createTask, "identity", () => content(list(11 * million, "{}")), tooLargeForConnect],
  ["11 million empty objects in message.content", "member", "connect-json", createTask, "gzip", () => content(list(11 * million, "{}")), tooLargeForConnect],
  ["11 million empty objects in message.content", "guest", "grpc-json", createTask, "gzip", () => content(list(11 * million, "{}")), "200 8"],
  ["11 million empty objects in message.content", "guest", "v2", "task.create", "identity", () => content(list(11 * million, "{}")), tooLarge],
  ["11 million empty objects in message.content", "member", "v2 over HTTP/2", "task.create", "identity", () => content(list(11 * million, "{}")), tooLarge],
  ["1.4 million parts", "member", "connect-json", createTask, "identity", () => content(list(1.4 * million, '{"text":"a"}')), tooLargeForConnect],
  ["1.1 million parts", "guest", "v2", "task.create", "identity", () => content(list(1.1 * million, '{"type":"text","text":"a"}')), tooLarge],
  ["7 million connectors", "member", "v2", "task.create", "identity", () => `{"message":{"content":"a","connectors":${list(7 * million, '"a"')}}}`, tooLarge],
  ["2,000 parts", "member", "v2", "task.create", "identity", () => content(list(2_000, '{"type":"text","text":"a"}')), invalid],
  ["2 million different names", "member", "v2", "task.create", "identity", () => names(2 * million), tooLarge],
  ["2 million different names", "guest", "v2", "usage.list", "identity", () => names(2 * million), tooLarge],
  ["200,000 different names", "guest", "v2", "usage.list", "identity", () => names(200_000, 4), tooLarge],
  ["15,000 different names", "guest", "v2", "usage.list", "identity", () => names(15_000), "200"],
  ["30,000 different names", "member", "v2", "task.sendMessage", "identity", () => names(30_000, 100), "400 invalid_argument"],
  ["2 million different names", "member", "connect-json", createTask, "gzip", () => names(2 * million), tooLargeForConnect],
  ["an unterminated string of escaped quotes, 30 MB", "member", "v2", "task.list", "identity", () => `{"message":"${'\\"'.repeat(15 * megabyte)}`, tooLarge],
  ["an unterminated string of escaped quotes, 30 MB", "member", "v2", "task.create", "identity", () => `{"message":"${'\\"'.repeat(15 * megabyte)}`, invalid],
  ["a string of 16 million backslashes", "member", "v2", "task.create", "identity", () => `{"title":"${"\\".repeat(16 * million)}`, invalid],
  ["a string of backslashes and quotes in turn", "guest", "connect-json", createTask, "identity", () => `{"title":"${'\\\\"'.repeat(5 * million)}`, "400 invalid_argument", tooLargeForConnect],
  ["an unterminated string of 31 MB", "guest", "v2", "task.create", "identity", () => `{"title":"${"a".repeat(31 * megabyte)}`, invalid],
  ["numbers, and a mistake at the end, 30 MB", "member", "v2", "task.list", "identity", () => `[${items(15 * million, "1")}x`, tooLarge],
  ["numbers, and a mistake at the end, 30 MB", "member", "v2", "task.create", "identity", () => `[${items(15 * million, "1")}x`, tooLarge],
  ["120,000 numbers", "member", "v2", "task.list", "identity", () => list(120_000, "1"), tooLarge],
  ["50,000 strings, and a mistake at the end", "member", "v2", "task.create", "identity", () => `{"a":[${items(50_000, '"a"')}x`, invalid],
  ["30 MB of white space, and a mistake at the end", "member", "v2", "task.create", "identity", () => `${" ".repeat(30 * megabyte)}x`, invalid],
  ["30 MB of line breaks", "guest", "v2", "task.create", "identity", () => "\n".repeat(30 * megabyte), invalid],
  ["lists, 100,000 in one another", "member", "v2", "task.create", "identity", () => nest(100_000, "[", "]"), invalid],
  ["objects, 15 million in one another", "member", "v2", "task.create", "identity", () => '{"a":'.repeat(5 * million), invalid, tooLarge],
  ["lists, 20,000 in one another", "member", "connect-json", createTask, "identity", () => `{"structuredOutputSchema":{"a":${nest(20_000, "[", "]")}}}`, "400 invalid_argument"],
  ["lists, a million in one another", "guest", "connect-json", createTask, "gzip", () => nest(million, "[", "]"), "400 invalid_argument", tooLargeForConnect],
  ["a Struct of 2 million names", "member", "connect-json", createTask, "gzip", () => `{"structuredOutputSchema":${names(2 * million)}}`, tooLargeForConnect],
  ["a Struct of 2 million names", "member", "v2", "task.create", "identity", () => `{"structured_output_schema":${names(2 * million)}}`, tooLarge],
  ["a Struct of 5 million nulls", "member", "v2", "task.create", "identity", () => `{"structured_output_schema":{"a":${list(5 * million, "null")}}}`, tooLarge],
  ["a number of 200,000 digits", "member", "v2", "task.list", "identity", () => `{"limit":${"9".repeat(200_000)}}`, invalid],
  ["a number of 30 million digits", "member", "v2", "task.create", "identity", () => `{"title":${"9".repeat(30 * million)}}`, invalid],
  ["a number of 20 million digits", "member", "connect-json", createTask, "gzip", () => `{"shareVisibility":${"9".repeat(20 * million)}}`, "400 invalid_argument"],
  ["a member name of 30 MB", "member", "v2", "task.create", "identity", () => `{"${"a".repeat(30 * megabyte)}":1}`, invalid],
  ["a member name of 200,000 characters", "guest", "v2", "task.list", "identity", () => `{"${"a".repeat(200_000)}":1}`, "200"],
  ["a title of 31 MB of escapes", "member", "v2", "task.create", "identity", () => `{"message":{"content":"a"},"title":"${"\\u0041".repeat(5 * million)}"}`, invalid],
  ["an exponent of 100,000 digits", "member", "v2", "task.list", "identity", () => `{"limit":1e${"9".repeat(100_000)}}`, invalid],
  ["__proto__ 5,000 times", "member", "v2", "task.list", "identity", () => `{${items(5_000, '"__proto__":{}')}}`, "200", invalid],
  ["bytes that are not UTF-8, 31 MB", "member", "v2", "task.create", "identity", () => Buffer.alloc(31 * megabyte, 0xc3), invalid],
  ["11 million empty objects", "member", "path", "/v1/tasks", "identity", () => list(11 * million, "{}"), "413 3"],
  ["2 million different names", "guest", "path", "/v1/tasks", "identity", () => names(2 * million), "413 3"],
  ["2 million attachments", "member", "path", "/v1/tasks", "identity", () => `{"prompt":"a","attachments":${list(2 * million, "{}")}}`, "413 3"],
  ["500,000 different names", "member", "path", "/v1/projects", "identity", () => names(500_000), "413 3"],
  ["11 million empty objects as input", "member", "path", "/responses", "identity", () => `{"model":"a","input":${list(11 * million, "{}")}}`, "413"],
  ["2 million different names", "guest", "path", "/v1/responses", "identity", () => names(2 * million), "413"],
  ["300,000 different names", "ediscovery", "path", "/dataexport.v1.EnterpriseDataExportService/ListTasks", "identity", () => names(300_000), "413 INVALID_ARGUMENT"],
  ["4 million numbers", "ediscovery", "path", "/dataexport.v1.EnterpriseDataExportService/CreateExport", "identity", () => `{"sessionIds":${list(4 * million, '"a"')}}`, "413 INVALID_ARGUMENT"],
  ["100,000 lists in one another", "ediscovery", "path", "/dataexport.v1.EnterpriseDataExportService/ListTasks", "identity", () => nest(100_000, "[", "]"), "400 INVALID_ARGUMENT"],
]);
