import type { Attack } from "../attack.ts";
import { field, filled, nested, varint } from "../material/proto.ts";
import { calls } from "./calls.ts";

const MiB = 1024 ** 2;
const createTask = "task.v2.TaskService/CreateTask";
const sendMessage = "task.v2.TaskService/SendMessage";
const listConversations = "task.v2.TaskService/ListConversations";
const createWebhook = "webhook.v2.WebhookService/CreateWebhook";
const createSkill = "settings.v1.SkillService/CreateSkill";

/** CreateTaskRequest.message with this many bytes of empty content parts. */
const parts = (size: number) => field(1, filled(size, Buffer.from([0x0a, 0])));
/** Message.connectors, enable_skills and so on: empty texts. */
const texts = (number: number, size: number) => field(1, filled(size, Buffer.from([number * 8 + 2, 0])));
/** Groups (RFC-less wire types 3 and 4) of field 15: begun and ended. */
const groups = (size: number) => filled(size, Buffer.from([0x7b, 0x7c]));
const openGroups = (count: number) => Buffer.alloc(count, 0x7b);
const scalars = (size: number) => filled(size, Buffer.from([0x78, 1]));
/** The entries of a Struct: `fields` with the key "" and a null for a value. */
const struct = (size: number) => field(9, filled(size, Buffer.from([0x0a, 0])));
/** Value > list_value > values > …: field numbers 6 and 1 of google.protobuf.Value and ListValue. */
function lists(depth: number): Buffer {
  let value: Buffer = Buffer.alloc(0);
  for (let level = 0; level < depth; level++) value = field(6, field(1, value));
  return value;
}
const entryWith = (value: Buffer) => field(9, field(1, Buffer.concat([field(1, "a"), field(2, value)])));
/** Numbers of a repeated enum, one byte each, packed into one field. */
const packed = (number: number, count: number) => field(number, Buffer.alloc(count, 1));

const tooLarge = "429 resource_exhausted";
const invalid = "400 invalid_argument";

/**
 * Protobuf whose objects cost far more than their bytes, on the operations that accept the largest bodies and
 * on others.
 */
export const protos: readonly Attack[] = calls([
  [
    "16 million empty content parts",
    "guest",
    "connect-proto",
    createTask,
    "gzip",
    () => parts(31 * MiB),
    tooLarge,
  ],
  [
    "16 million empty content parts",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => parts(31 * MiB),
    tooLarge,
  ],
  [
    "16 million empty content parts",
    "member",
    "connect-proto over HTTP/2",
    createTask,
    "br",
    () => parts(31 * MiB),
    tooLarge,
  ],
  ["16 million empty content parts", "member", "grpc", createTask, "gzip", () => parts(31 * MiB), "200 8"],
  ["16 million empty content parts", "guest", "grpc-web", createTask, "gzip", () => parts(31 * MiB), "200 8"],
  [
    "16 million empty content parts",
    "guest",
    "grpc",
    sendMessage,
    "br",
    () => field(2, filled(31 * MiB, Buffer.from([0x0a, 0]))),
    "200 8",
  ],
  [
    "16 million empty connectors",
    "member",
    "connect-proto",
    createTask,
    "gzip",
    () => texts(2, 31 * MiB),
    tooLarge,
  ],
  ["16 million empty skills", "member", "grpc-web", createTask, "br", () => texts(4, 31 * MiB), "200 8"],
  [
    "16 million unknown fields",
    "guest",
    "connect-proto",
    createTask,
    "gzip",
    () => filled(31 * MiB, Buffer.from([0x7a, 0])),
    tooLarge,
  ],
  [
    "16 million unknown numbers",
    "member",
    "connect-proto",
    createTask,
    "gzip",
    () => scalars(31 * MiB),
    tooLarge,
  ],
  [
    "16 million empty groups",
    "member",
    "connect-proto",
    createTask,
    "gzip",
    () => groups(31 * MiB),
    tooLarge,
    invalid,
  ],
  [
    "a million groups in one another without an end",
    "guest",
    "connect-proto",
    createTask,
    "gzip",
    () => openGroups(MiB),
    tooLarge,
    invalid,
  ],
  [
    "200,000 groups in one another without an end",
    "guest",
    "connect-proto",
    "user.v2.UserService/GetCurrentUser",
    "identity",
    () => openGroups(200_000),
    tooLarge,
    invalid,
  ],
  [
    "16 million entries of a Struct",
    "member",
    "connect-proto",
    createTask,
    "gzip",
    () => struct(31 * MiB),
    tooLarge,
  ],
  ["16 million entries of a Struct", "member", "grpc", createTask, "gzip", () => struct(31 * MiB), "200 8"],
  [
    "a Struct of 20,000 lists in one another",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => entryWith(lists(20_000)),
    invalid,
    tooLarge,
  ],
  [
    "the same field in itself 300,000 times",
    "member",
    "connect-proto",
    createTask,
    "gzip",
    () => nested(300_000, 1),
    invalid,
    tooLarge,
  ],
  [
    "an unknown field in itself 300,000 times",
    "member",
    "grpc",
    createTask,
    "identity",
    () => nested(300_000, 15),
    "200 3",
    "200 8",
  ],
  [
    "100,000 field numbers that are too large",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => filled(500_000, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f])),
    invalid,
    tooLarge,
  ],
  [
    "a varint of a megabyte",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => Buffer.alloc(MiB, 0xff),
    invalid,
    tooLarge,
  ],
  [
    "a length of 2^50",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => Buffer.concat([Buffer.from([0x0a]), varint(2 ** 50)]),
    invalid,
  ],
  [
    "31 million packed numbers",
    "member",
    "connect-proto",
    createWebhook,
    "identity",
    () => packed(2, 31 * MiB),
    tooLarge,
  ],
  [
    "200,000 packed numbers",
    "member",
    "connect-proto",
    createWebhook,
    "identity",
    () => packed(2, 200_000),
    tooLarge,
  ],
  ["200,000 packed numbers", "guest", "grpc", listConversations, "gzip", () => packed(6, 200_000), "200 8"],
  [
    "90,000 packed numbers",
    "guest",
    "connect-proto",
    listConversations,
    "identity",
    () => packed(6, 90_000),
    invalid,
  ],
  [
    "31 MB of a packed unknown field",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => field(15, Buffer.alloc(31 * MiB)),
    invalid,
  ],
  ["99,000 content parts", "member", "connect-proto", createTask, "gzip", () => parts(198_000), invalid],
  [
    "12 MB of unknown fields",
    "member",
    "connect-proto",
    createSkill,
    "gzip",
    () => filled(11 * MiB, Buffer.from([0x7a, 0])),
    tooLarge,
  ],
  [
    "4 MB of unknown fields of one byte",
    "anonymous",
    "connect-proto",
    createTask,
    "identity",
    () => scalars(4 * MiB),
    "401 unauthenticated",
  ],
  [
    "a text of 31 MB that is not UTF-8",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => field(8, Buffer.alloc(31 * MiB, 0xff)),
    invalid,
  ],
  [
    "a title of 31 MB",
    "guest",
    "connect-proto",
    createTask,
    "identity",
    () => field(8, Buffer.alloc(31 * MiB, "a")),
    invalid,
  ],
  [
    "a title of 31 MB",
    "guest",
    "connect-proto",
    createTask,
    "gzip",
    () => field(8, Buffer.alloc(31 * MiB, "a")),
    tooLarge,
  ],
  [
    "a project id of 31 MB of one accent each",
    "member",
    "connect-proto",
    createTask,
    "identity",
    () => field(2, filled(31 * MiB, Buffer.from("é"))),
    invalid,
  ],
]);
