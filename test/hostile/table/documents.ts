import type { Attack } from "../attack.ts";
import { list, names, nest } from "../material/json.ts";
import { exchange, headOf, open, pour, readAnswer } from "../send/http1.ts";
import { calls } from "./calls.ts";

const MiB = 1024 ** 2;
const filterOf = (term: string, times: number) => Array.from({ length: times }, () => term).join(" or ");
const repeated = (text: string, times: number) => Buffer.alloc(text.length * times, text);

/** OAuth's forms and JSON, and SCIM. */
const documents: readonly Attack[] = calls([
  [
    "a form of 30 MB",
    "anonymous",
    "form",
    "/oauth/token",
    "identity",
    () => Buffer.alloc(30 * MiB, "a=b&"),
    "413 invalid_request",
  ],
  [
    "20,000 parameters",
    "anonymous",
    "form",
    "/oauth/token",
    "identity",
    () => repeated("a=b&", 15_000),
    "400 invalid_request",
  ],
  [
    "a client_id of 60,000 characters",
    "anonymous",
    "form",
    "/oauth/token",
    "identity",
    () => `grant_type=refresh_token&client_id=${"a".repeat(60_000)}`,
    "401 invalid_client",
    "400 invalid_request",
    "400 invalid_client",
  ],
  [
    "60 KB of percent signs",
    "anonymous",
    "form",
    "/oauth/introspect",
    "identity",
    () => `token=${"%".repeat(60_000)}`,
    "401 invalid_client",
    "400 invalid_request",
  ],
  [
    "60 KB of plus signs",
    "anonymous",
    "form",
    "/oauth/revoke",
    "identity",
    () => `token=${"+".repeat(60_000)}`,
    "401 invalid_client",
    "400 invalid_request",
  ],
  [
    "7,000 members of JSON",
    "anonymous",
    "path",
    "/oauth/token",
    "identity",
    () => names(5_000),
    "400 invalid_request",
    "401 invalid_client",
    "400 invalid_client",
  ],
  [
    "30,000 lists in one another",
    "anonymous",
    "path",
    "/oauth/token",
    "identity",
    () => nest(30_000, "[", "]"),
    "400 invalid_request",
  ],
  [
    "60 KB of backslashes in JSON",
    "anonymous",
    "path",
    "/oauth/token",
    "identity",
    () => `{"client_id":"${"\\\\".repeat(30_000)}"}`,
    "401 invalid_client",
    "400 invalid_request",
    "400 invalid_client",
  ],
  [
    "60 KB of escaped quotes without an end",
    "anonymous",
    "path",
    "/oauth/introspect",
    "identity",
    () => `{"client_id":"${'\\"'.repeat(30_000)}`,
    "400 invalid_request",
  ],
  ["2 MB", "team_user_mgmt", "scim", "/scim/v2/Users", "identity", () => names(100_000, 12), "413"],
  [
    "100,000 lists in one another",
    "team_user_mgmt",
    "scim",
    "/scim/v2/Users",
    "identity",
    () => nest(100_000, "[", "]"),
    "400",
  ],
  [
    "120,000 mails",
    "team_user_mgmt",
    "scim",
    "/scim/v2/Users",
    "identity",
    () => `{"emails":${list(120_000, "1")}}`,
    "413",
    "400",
  ],
  [
    "15,000 different names",
    "team_user_mgmt",
    "scim",
    "/scim/v2/Users",
    "identity",
    () => names(15_000),
    "400",
  ],
]);

const get = (name: string, by: Attack["by"], path: string, ...expected: readonly string[]): Attack => ({
  ...{ name, by, expected },
  send: (target) => exchange(target, "GET", path, {}, new Uint8Array()),
});

/** Queries: v2's GET, exports, the audit log, SCIM's filters. Node takes heads of up to 16 KiB. */
const queries: readonly Attack[] = [
  get(
    "3,000 parameters by GET to v2",
    "member",
    `/v2/task.list?${"a=1&".repeat(3_000)}`,
    "200",
    "400 invalid_argument",
  ),
  get(
    "one parameter 3,000 times by GET to v2",
    "member",
    `/v2/task.list?${"limit=1&".repeat(1_500)}`,
    "400 invalid_argument",
    "200",
  ),
  get(
    "a query of 5,000 percent signs by GET to v2",
    "member",
    `/v2/task.list?${"%".repeat(12_000)}`,
    "400 invalid_argument",
    "200",
  ),
  get(
    "brackets in a query by GET to v2",
    "member",
    `/v2/task.list?a${"[a]".repeat(4_000)}=1`,
    "200",
    "400 invalid_argument",
  ),
  get("a query too long for a head", "member", `/v2/task.list?a=${"a".repeat(100_000)}`, "431", "closed"),
  get(
    "a message of 10,000 brackets by Connect's GET",
    "member",
    `/task.v2.TaskService/ListTasks?encoding=json&connect=v1&message=${"[".repeat(10_000)}`,
    "400 invalid_argument",
  ),
  get(
    "a message of 4,500 groups of an unknown field by Connect's GET",
    "member",
    `/task.v2.TaskService/ListTasks?encoding=proto&base64=1&connect=v1&message=${Buffer.alloc(9_000, Buffer.from([0xfb, 0x7f])).toString("base64url")}`,
    "400 invalid_argument",
  ),
  get(
    "3,000 parameters to audit.download",
    "general",
    `/v2/audit.download?${"a=1&".repeat(3_000)}`,
    "200",
    "400 invalid_argument",
  ),
  get(
    "a filter of 500 terms to SCIM",
    "team_user_mgmt",
    `/scim/v2/Users?filter=${encodeURIComponent(filterOf('userName eq "a"', 300))}`,
    "400",
    "200",
  ),
  get(
    "a filter of 4,000 parentheses to SCIM",
    "team_user_mgmt",
    `/scim/v2/Users?filter=${"(".repeat(4_000)}`,
    "400",
  ),
];

const boundary = "x";
const form = { "content-type": `multipart/form-data; boundary=${boundary}` };
const part = (disposition: string, content = "") =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const formOf = (name: string, body: () => Uint8Array | string, ...expected: readonly string[]): Attack => ({
  ...{ name: `${name}, by multipart to /v1/files`, by: "member", expected },
  send: (target) => exchange(target, "POST", "/v1/files", form, Buffer.from(body() as string)),
});

/** Forms that upload files. */
const uploads: readonly Attack[] = [
  formOf("50,000 fields", () => repeated(part('name="a"'), 50_000), "400 3", "413 3"),
  formOf("5,000 files", () => repeated(part('name="file"; filename="a"'), 5_000), "200", "400 3"),
  formOf("20 MB of one field", () => part('name="a"', "a".repeat(20 * MiB)), "400 3", "413 3"),
  formOf(
    "a part with 20,000 headers",
    () => `--${boundary}\r\n${"A: b\r\n".repeat(20_000)}\r\n`,
    "400 3",
    "413 3",
    "431 3",
  ),
  formOf(
    "a file name of 5 MB",
    () => part(`name="file"; filename="${"a".repeat(5 * MiB)}"`),
    "400 3",
    "413 3",
  ),
  formOf("20 MB without a boundary", () => Buffer.alloc(20 * MiB, "a"), "400 3", "413 3"),
  formOf("20 MB of half boundaries", () => repeated("\r\n--", 5 * MiB), "400 3", "413 3"),
  {
    name: "a boundary of 10,000 characters, by multipart to /v1/files",
    by: "member",
    expected: ["400 3"],
    send: (target) =>
      exchange(
        target,
        "POST",
        "/v1/files",
        { "content-type": `multipart/form-data; boundary=${"b".repeat(10_000)}` },
        Buffer.from("--b"),
      ),
  },
  {
    name: "a file of 100 MB to an upload address that was never given",
    by: "anonymous",
    expected: ["403 permission_denied", "404 not_found", "400 invalid_argument"],
    async send(target) {
      const socket = open(target);
      const answer = readAnswer(socket);
      const piece = Buffer.alloc(MiB);
      const head = headOf("PUT", `/uploads/${"a".repeat(22)}/9999999999/${"a".repeat(43)}`, {
        "Content-Length": 100 * MiB,
      });
      await pour(socket, [head, ...Array<Buffer>(100).fill(piece)]);
      return answer;
    },
  },
];

export { documents, queries, uploads };
