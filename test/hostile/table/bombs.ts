import type { Attack } from "../attack.ts";
import { filled } from "../material/proto.ts";
import { calls } from "./calls.ts";

const MiB = 1024 ** 2;

/** A field that no message has (number 15), without content: two bytes each. */
const unknown = (size = 33 * MiB) => filled(size, Buffer.from([0x7a, 0]));
const zeros = (size: number) => Buffer.alloc(size);
const spaces = (size: number) =>
  Buffer.concat([Buffer.from('{"service":""'), Buffer.alloc(size, " "), Buffer.from("}")]);

const health = "grpc.health.v1.Health";
const reflection = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const alpha = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
const tooLarge = "429 resource_exhausted";
const tooLargeInStream = "200 resource_exhausted";
const tooLargeOverGrpc = "200 8";

/**
 * Compressed bodies of some kilobytes that decompress to megabytes: first to services that need no
 * credential.
 */
export const bombs: readonly Attack[] = calls([
  [
    "33 MB of unknown fields",
    "anonymous",
    "connect-stream-proto",
    `${health}/Watch`,
    "gzip",
    unknown,
    tooLargeInStream,
  ],
  [
    "33 MB of unknown fields",
    "anonymous",
    "connect-stream-proto",
    `${health}/Watch`,
    "br",
    unknown,
    tooLargeInStream,
  ],
  ["33 MB of unknown fields", "anonymous", "connect-proto", `${health}/Check`, "gzip", unknown, tooLarge],
  [
    "33 MB of unknown fields",
    "anonymous",
    "connect-proto over HTTP/2",
    `${health}/Check`,
    "br",
    unknown,
    tooLarge,
  ],
  ["33 MB of unknown fields", "anonymous", "grpc", `${health}/Check`, "gzip", unknown, tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "grpc", `${health}/List`, "gzip", unknown, tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "grpc-web", `${health}/Watch`, "gzip", unknown, tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "grpc-web", `${health}/Check`, "br", unknown, tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "connect-proto", `${health}/Check`, "identity", unknown, tooLarge],
  [
    "60 KB of unknown fields",
    "anonymous",
    "connect-proto",
    `${health}/Check`,
    "gzip",
    () => unknown(60_000),
    "200",
  ],
  [
    "64 MB of zeros",
    "anonymous",
    "grpc-web over HTTP/2",
    alpha,
    "gzip",
    () => zeros(64 * MiB),
    tooLargeOverGrpc,
  ],
  ["64 MB of zeros", "anonymous", "grpc", reflection, "br", () => zeros(64 * MiB), tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "grpc", reflection, "gzip", unknown, tooLargeOverGrpc],
  ["33 MB of unknown fields", "anonymous", "connect-stream-proto", alpha, "gzip", unknown, "505"],
  [
    "33 MB of white space in JSON",
    "anonymous",
    "connect-json",
    `${health}/Check`,
    "gzip",
    () => spaces(33 * MiB),
    tooLarge,
  ],
  [
    "33 MB of white space in JSON",
    "anonymous",
    "connect-stream-json",
    `${health}/Watch`,
    "br",
    () => spaces(33 * MiB),
    tooLargeInStream,
  ],
  [
    "33 MB of white space in JSON",
    "anonymous",
    "grpc-json",
    `${health}/Check`,
    "gzip",
    () => spaces(33 * MiB),
    tooLargeOverGrpc,
  ],
  [
    "40 MB of zeros",
    "member",
    "connect-proto",
    "task.v2.TaskService/CreateTask",
    "gzip",
    () => zeros(40 * MiB),
    tooLarge,
  ],
  [
    "40 MB of zeros",
    "member",
    "connect-proto",
    "task.v2.TaskService/CreateTask",
    "br",
    () => zeros(40 * MiB),
    tooLarge,
  ],
  [
    "33 MB of unknown fields",
    "guest",
    "connect-proto",
    "task.v2.TaskService/GetTask",
    "gzip",
    unknown,
    tooLarge,
  ],
  [
    "33 MB of unknown fields",
    "guest",
    "grpc",
    "usage.v2.UsageService/ListUsage",
    "gzip",
    unknown,
    tooLargeOverGrpc,
  ],
  [
    "33 MB of unknown fields",
    "member",
    "grpc-web",
    "project.v2.ProjectService/ListProjects",
    "br",
    unknown,
    tooLargeOverGrpc,
  ],
  [
    "33 MB of unknown fields",
    "member",
    "connect-stream-proto",
    "task.v2.TaskService/WatchTask",
    "gzip",
    unknown,
    tooLargeInStream,
  ],
  [
    "33 MB of white space",
    "member",
    "connect-json",
    "user.v2.UserService/GetCurrentUser",
    "br",
    () => spaces(33 * MiB),
    tooLarge,
  ],
  [
    "33 MB of blanks",
    "guest",
    "connect-json",
    "schedule.v1.ScheduleService/CreateSchedule",
    "br",
    () => " ".repeat(33 * MiB),
    tooLarge,
  ],
  [
    "33 MB of blanks",
    "guest",
    "connect-json",
    "task.v2.TaskService/CreateTask",
    "br",
    () => " ".repeat(33 * MiB),
    tooLarge,
  ],
  ["a gzip bomb", "member", "v2", "task.create", "gzip", () => zeros(33 * MiB), "400 invalid_argument"],
  ["a deflate bomb", "member", "v2", "task.list", "deflate", () => zeros(33 * MiB), "400 invalid_argument"],
  [
    "a deflate bomb",
    "anonymous",
    "connect-proto",
    `${health}/Check`,
    "deflate",
    unknown,
    "501 unimplemented",
  ],
  ["a deflate bomb", "anonymous", "grpc", `${health}/Check`, "deflate", unknown, "200 12"],
  ["a gzip bomb", "member", "path", "/v1/tasks", "gzip", () => zeros(33 * MiB), "400 3"],
  ["a gzip bomb", "member", "path", "/responses", "gzip", () => zeros(33 * MiB), "400 3"],
  ["a gzip bomb", "anonymous", "form", "/oauth/token", "gzip", () => zeros(33 * MiB), "400 invalid_request"],
  ["a gzip bomb", "team_user_mgmt", "scim", "/scim/v2/Users", "gzip", () => zeros(MiB), "400"],
]);
